"""A tiny language of numbers that functors interpret, so that one compiled loop runs any program.

An expression is eight whole numbers: what to begin with, then twice an operation and what it joins.
A condition is five: two operands, and how they compare. An operand is a kind and a constant: kind 0
is the constant, others are what the functor hands over. Values are held within `MOST`, so nothing
ever overflows.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

EXPRESSION, CONDITION = 8, 5
"""How many numbers each of them takes."""
KINDS, OPERATIONS, COMPARISONS = 7, 6, 5
MOST = 200


def picked(kind: Any, constant: Any, one: Any, two: Any, three: Any, four: Any, five: Any,
           six: Any) -> Any:  # fmt: skip
    """Return an operand."""
    if kind == 1:
        return one
    if kind == 2:
        return two
    if kind == 3:
        return three
    if kind == 4:
        return four
    if kind == 5:
        return five
    if kind == 6:
        return six
    return constant


def joined(operation: Any, left: Any, right: Any) -> Any:
    """Return two numbers joined."""
    if operation == 0:
        value = left
    elif operation == 1:
        value = left + right
    elif operation == 2:
        value = left - right
    elif operation == 3:
        value = min(left, right)
    elif operation == 4:
        value = max(left, right)
    else:
        value = right
    return min(max(value, -MOST), MOST)


def number(code: Any, at: Any, one: Any, two: Any, three: Any, four: Any, five: Any,
           six: Any) -> Any:  # fmt: skip
    """Return the value of the expression at a place of the code."""
    first = picked(code[at], code[at + 1], one, two, three, four, five, six)
    second = picked(code[at + 3], code[at + 4], one, two, three, four, five, six)
    third = picked(code[at + 6], code[at + 7], one, two, three, four, five, six)
    return joined(code[at + 5], joined(code[at + 2], first, second), third)


def holds(code: Any, at: Any, one: Any, two: Any, three: Any, four: Any) -> bool:
    """Tell whether the condition at a place of the code is true."""
    left = picked(code[at], code[at + 1], one, two, three, four, one, two)
    right = picked(code[at + 2], code[at + 3], one, two, three, four, one, two)
    comparison = code[at + 4]
    if comparison == 0:
        return True
    if comparison == 1:
        return left < right
    if comparison == 2:
        return left <= right
    if comparison == 3:
        return left == right
    return left != right


CONSTANT = st.integers(-4, 9)
KIND = st.integers(0, KINDS - 1)
OPERATION = st.integers(0, OPERATIONS - 1)
OPERAND = st.tuples(KIND, CONSTANT)


@st.composite
def expressions(draw: st.DrawFn) -> list[int]:
    """Draw the numbers of an expression."""
    code = [*draw(OPERAND)]
    for _ in range(2):
        code += [draw(OPERATION), *draw(OPERAND)]
    return code


@st.composite
def conditions(draw: st.DrawFn) -> list[int]:
    """Draw the numbers of a condition."""
    return [*draw(OPERAND), *draw(OPERAND), draw(st.integers(0, COMPARISONS - 1))]

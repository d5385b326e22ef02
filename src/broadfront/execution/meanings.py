"""What a variable of a functor may stand for, and what becomes of it in arithmetic.

A vertex and an edge have other numbers on each of several devices. A difference of the two ends of
a row is a degree, the same everywhere; two vertices are equal everywhere or nowhere. Anything else
that is computed from such a number differs as the number does, and counts as one.

Within the row of a vertex edges are in the order of the neighbours' numbers. So the place of an
edge in its row, and which of two edges comes first, is as good as the numbers of vertices are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from broadfront.operators.roles import (
    EDGE,
    EDGES,
    EITHER_EDGE,
    ELSEWHERE,
    IN_EDGE,
    NEAR,
    NUMBER,
    OWN,
    STATE,
)

Meaning = tuple[str, Any]
"""A kind, and what of it: ``("at", OWN)`` is the number of the own vertex, ``("edge", IN_EDGE)``
that of an edge, ``("row", EDGE)`` where a row begins or ends, ``("after", EDGE)`` an edge and one,
``("array", name)`` an attribute of the state, ``("tuple", meanings)`` what holds such,
``("value", held)`` a global."""
Meanings = frozenset[Meaning]
NOTHING: Meanings = frozenset()
"""What a variable means before anything is known of it."""
OTHER: Meanings = frozenset({("at", ELSEWHERE)})
"""A number that is the same everywhere, or so much as is known of it."""
ONE: Meanings = frozenset({("one", None)})

NEXT, DERIVED, FAR_EDGE = "own and one", "derived", "derived edge"
"""One after the own vertex, what is computed from the numbers of vertices, and of edges."""
VERTICES = (OWN, NEAR, NEXT, DERIVED)
ELEMENTS: dict[str, Meaning] = {
    "targets": ("at", NEAR), "in_targets": ("at", NEAR),
    "offsets": ("row", EDGE), "in_offsets": ("row", IN_EDGE),
}  # fmt: skip
"""What the rows of the graph hold."""
ADDITIONS = (operator.add, operator.iadd)
SUBTRACTIONS = (operator.sub, operator.isub)
EQUALITIES = (operator.eq, operator.ne, operator.is_, operator.is_not)
COMPARISONS = (*EQUALITIES, operator.lt, operator.le, operator.gt, operator.ge, operator.contains)


def meaning_of(role: str | None) -> Meanings:
    """Return what an argument of a role means."""
    if role is NUMBER:
        return OTHER
    if role in EDGES:
        return frozenset({("edge", role)})
    return frozenset({(STATE, None) if role == STATE else ("at", role)})


def flat(meanings: Iterable[Meaning]) -> set[Meaning]:
    """Return meanings, with those that tuples hold in place of the tuples."""
    found: set[Meaning] = set()
    for kind, what in meanings:
        found |= flat(what) if kind == "tuple" else {(kind, what)}
    return found


def numbers_in(meanings: Iterable[Meaning]) -> set[str]:
    """Return the kinds of numbers that differ from device to device."""
    found = set()
    for kind, what in flat(meanings):
        if kind == "at" and what in (*VERTICES, FAR_EDGE):
            found.add(what)
        elif kind in ("edge", "row", "after"):
            found.add(what if kind == "edge" else FAR_EDGE)
    return found


def derived_from(*given: Meanings) -> Meanings:
    """Return what a number means that is computed of others in some way."""
    numbers = numbers_in(frozenset().union(*given))
    found = {("at", DERIVED)} if numbers & set(VERTICES) else set()
    if numbers - set(VERTICES):
        found.add(("at", FAR_EDGE))
    return frozenset(found) or OTHER


def of_one_row(*given: Meanings, kinds: tuple[str, ...] = ("edge", "row", "after")) -> str | None:
    """Return the side of the row if all numbers are of edges in one row, else None."""
    together = frozenset().union(*given)
    sides = {what for kind, what in together}
    if all(given) and {kind for kind, _ in together} <= set(kinds) and len(sides) == 1:
        side: str = sides.pop()
        return None if side == EITHER_EDGE else side
    return None


def computed(function: Callable[..., Any], left: Meanings, right: Meanings) -> Meanings:
    """Return what the outcome of an operation on two numbers means."""
    if function in ADDITIONS:
        for one, other in ((left, right), (right, left)):
            if other == ONE and one == {("at", OWN)}:
                return frozenset({("at", NEXT)})
            if other == ONE and (side := of_one_row(one, kinds=("edge",))):
                return frozenset({("after", side)})
    if function in SUBTRACTIONS:
        if of_one_row(left, right, kinds=("row",)):
            return OTHER
        if of_one_row(left, right):
            return frozenset({("at", DERIVED)})
    return derived_from(left, right)


def compared_as(function: Callable[..., Any], left: Meanings, right: Meanings) -> set[str]:
    """Return the kinds of numbers on which the outcome of a comparison depends."""
    together = left | right
    if function in EQUALITIES:
        if together <= {("at", OWN), ("at", NEAR)} or of_one_row(left, right, kinds=("edge",)):
            return set()
    if of_one_row(left, right):
        return {DERIVED}
    return numbers_in(together)


def in_range(given: tuple[Meanings, ...]) -> tuple[Meanings, set[str]]:
    """Return what a range holds, and the kinds of numbers on which its length depends."""
    if len(given) == 2 and (side := of_one_row(*given)):
        ordered = set() if of_one_row(*given, kinds=("row",)) else {DERIVED}
        return frozenset({("edge", side)}), ordered
    return derived_from(*given), numbers_in(frozenset().union(*given))


def elements_of(holders: Meanings) -> Meanings:
    """Return what an element of an array or a tuple may be."""
    found: Meanings = NOTHING
    for kind, what in holders:
        if kind == "tuple":
            found |= what
        elif kind == "array" and what in ELEMENTS:
            found |= frozenset({ELEMENTS[what]})
        elif kind == "at":
            found |= derived_from(frozenset({(kind, what)}))
        else:
            found |= OTHER
    return found


def whose(index: Meaning, name: str) -> str:
    """Return whose place in an array of the state an index is."""
    kind, what = index
    if kind == "at" and what == NEXT and name in ("offsets", "in_offsets"):
        return OWN
    known = (kind == "at" and what in (OWN, NEAR)) or (kind == "edge" and what in EDGES)
    return str(what) if known else ELSEWHERE

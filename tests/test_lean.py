"""Compiling quickly: the answers of plain Python and plain Numba, and Numba as it was before."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.runtime import _nrt_python, rtsys

from broadfront.kernel import inner, kernel
from broadfront.quick import _REPLACED, compiling_quickly


def collatz(number, most):
    steps, pair = 0, (number, most)
    while number != 1:
        number = 3 * number + 1 if number % 2 else number // 2
        steps = steps + 1
        if steps > pair[1]:
            break
    return steps + pair[0]


def fibonacci(number, most):
    """Values that two variables exchange in each turn of a loop."""
    this, following = 0, 1
    for _ in range(number % 40):
        this, following = following, this + following
    return this - following + most


def assigned_in_the_last_turn(number, most):
    """A variable that a turn reads before it assigns it."""
    total, before = 0, most
    for each in range(number):
        total = total + before * each
        double = 2 * each
        before = double + 1
    return total + before


def many_ways_out(number, most):
    for row in range(number):
        left = most - row
        if left < 0:
            return -row
        for column in range(left):
            product = row * column
            if product > 50:
                break
            if product % 7 == 3:
                continue
            if product == 48:
                return product
        else:
            return left
    return number


def set_in_one_branch(number, most):
    if number % 3 == 0:
        step = number
    elif number % 3 == 1:
        step = most
    else:
        step = 1
        while step < number:
            step = step * 2
    kept = step
    for turn in range(4):
        if turn % 2:
            kept = kept + step
    return kept


def caught(number, most):
    """A value of which the handler knows, and one that it never sees."""
    reached = 0
    known = number + 1
    try:
        reached = known * 2
        if number % 2:
            raise ValueError
        reached = reached + most
    except Exception:
        return -reached - known
    return reached


def counted_up(number):
    seen = 1
    for each in range(number):
        seen = seen + each
        yield seen


def through_a_generator(number, most):
    total = 0
    for each in up(number):
        if each > most:
            break
        total = total + each
    return total


def with_a_closure(number, most):
    shift = most % 5

    def moved(value):
        return value + shift

    return moved(number) + sum([moved(each) for each in range(3)])


def arrays_that_come_and_go(number, most):
    """Values with reference counts: assigned again, in branches, in loops and in tuples."""
    some = np.zeros(number % 5 + 1)
    pair = (some, number)
    for turn in range(4):
        fresh = np.full(turn + 1, 1.5)
        if turn % 2:
            some = fresh
            pair = (fresh, turn)
        elif turn == 2 and number % 2:
            return some.sum() + most
    return some.sum() + pair[0].sum() + pair[1]


def perhaps_nothing(number, most):
    found = None if number % 4 else most
    if found is None:
        return -number
    return found + 1


def in_pairs(number, most):
    best = (number, most)
    for each in range(1, 6):
        this = (number * each % 7, each)
        if this > best or each == most:
            best = this
        first, second = best
        best = (second, first) if first % 2 else best
    return best[0] * 10 + best[1]


FUNCTIONS = [
    collatz, fibonacci, assigned_in_the_last_turn, many_ways_out, set_in_one_branch, caught,
    through_a_generator, with_a_closure, arrays_that_come_and_go, perhaps_nothing, in_pairs,
]  # fmt: skip
up: Callable[[int], Any] = counted_up


@pytest.fixture
def counting() -> Iterator[None]:
    """Numba counts what it allocates."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


@pytest.mark.usefixtures("counting")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_odd_control_flow_has_the_values_of_python_and_of_numba(
    function: Callable[[int, int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [(number, most) for number in range(1, 40, 3) for most in (0, 7, 30)]
    expected = [function(*pair) for pair in pairs]
    if function is through_a_generator:
        monkeypatch.setitem(globals(), "up", numba.njit(counted_up))  # noqa: TID251
    plain = numba.njit(error_model="numpy")(function)  # noqa: TID251
    assert [plain(*pair) for pair in pairs] == expected
    within = inner(function)
    compiled = kernel(lambda number, most: within(number, most))
    before = rtsys.get_allocation_stats()
    found = [compiled(*pair) for pair in pairs]
    after = rtsys.get_allocation_stats()
    assert found == expected
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free


def test_all_is_undone() -> None:
    def parts_of_numba() -> list[object]:
        return [gc.isenabled(), *(getattr(owner, name) for owner, name, _ in _REPLACED)]

    before = parts_of_numba()
    with compiling_quickly(), compiling_quickly():
        assert not gc.isenabled()
        assert all(new is not old for new, old in zip(parts_of_numba(), before, strict=True))
    assert parts_of_numba() == before

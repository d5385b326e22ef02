"""Compiling quickly: the answers of plain Python, and Numba as it was before."""

from __future__ import annotations

import gc

from numba.core import ir, postproc
from numba.core.types.functions import BaseFunction

from broadfront.kernel import inner, kernel
from broadfront.quick import compiling_quickly


def collatz(number, most):
    steps, pair = 0, (number, most)
    while number != 1:
        number = 3 * number + 1 if number % 2 else number // 2
        steps = steps + 1
        if steps > pair[1]:
            break
    return steps + pair[0]


def test_variables_of_loops_and_branches_have_the_values_of_python() -> None:
    part = inner(collatz)
    compiled = kernel(lambda number, most: part(number, most))
    for number in range(1, 60):
        assert compiled(number, 30) == collatz(number, 30)


def test_all_is_undone() -> None:
    def parts_of_numba() -> list[object]:
        return [
            gc.isenabled(), postproc.PostProcessor, BaseFunction.get_call_type,
            ir.Inst._rec_list_vars,
        ]  # fmt: skip

    before = parts_of_numba()
    with compiling_quickly(), compiling_quickly():
        assert not gc.isenabled()
        assert parts_of_numba() != before
    assert parts_of_numba() == before

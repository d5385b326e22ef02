"""Parameters: numbers that each run sets, without another loop for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Compute, Field, OptionError, Program

GRAPH = bf.generate("path:5")


def scale(vertex, state):  # type: ignore[no-untyped-def]
    state.found[vertex] = state.ids[vertex] * state.by + 0.25


def loops_of(program: Program) -> int:
    loops = [made for made in program._loops.values() if hasattr(made, "overloads")]
    return sum(len(loop.overloads) for loop in loops)


def found(program: Program, by: Any, **where: Any) -> list[float]:
    return bf.run(program, GRAPH, parameters={"by": by}, **where)["found"].tolist()


def test_two_loops_at_most_for_a_name() -> None:
    program = Program({"found": Field(np.float64)}, step=[Compute(scale)], parameters=["by"])
    for by in (3, True, np.int8(3), np.uint64(5), np.bool_(False), -7):
        assert found(program, by) == found(program, by, devices="python")
    assert loops_of(program) == 1
    for by in (3.5, np.float32(0.5), np.float64(2)):
        assert found(program, by)[1] == found(program, by, devices="python")[1] == float(by) + 0.25
    assert loops_of(program) == 2


def test_one_loop_for_a_dtype() -> None:
    program = Program(
        {"found": Field(np.float64)}, step=[Compute(scale)], parameters={"by": np.float64}
    )
    for by in (3, 3.0, True, np.int8(3), np.float32(0.5)):
        wanted = [vertex * float(by) + 0.25 for vertex in range(5)]
        assert found(program, by) == found(program, by, devices="python") == wanted
    assert loops_of(program) == 1


@pytest.mark.parametrize("where", [{}, {"devices": "python"}, {"devices": 2}])
def test_numbers_that_a_dtype_does_not_hold(where: dict[str, Any]) -> None:
    program = Program({"found": Field(np.float64)}, step=[Compute(scale)], parameters={"by": "i1"})
    for by in (3.5, 300, [1, 2], "3"):
        with pytest.raises(OptionError, match="parameter by"):
            found(program, by, **where)


@pytest.mark.parametrize("dtype", [bool, complex, np.float16, "no dtype", None, ">i4"])
def test_dtypes_that_functors_cannot_compute_with(dtype: Any) -> None:
    with pytest.raises(OptionError, match="parameter 'by'"):
        Program({"found": Field(np.float64)}, step=[Compute(scale)], parameters={"by": dtype})

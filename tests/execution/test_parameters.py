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


# ------------------------------------------------------------------ limits, fills, identities


def one_more(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.hops[source] + 1


def offer(neighbor, state):  # type: ignore[no-untyped-def]
    return state.hops[neighbor]


def nearest(vertex, total, state):  # type: ignore[no-untyped-def]
    state.near[vertex] = total


def hops(limit: int, fill: int, identity: int, rounds: int = 1) -> Program:
    """Return a program that differs from others of its kind in numbers alone."""
    search = bf.Phase([bf.Advance(one_more, into="hops")], limit=limit)
    near = bf.Phase([bf.Reduce(offer, nearest, identity=identity, combine="min")])
    fields = {"hops": Field(np.int32, fill=fill, combine="min"), "near": Field(np.int64)}
    return Program(fields, phases=[bf.Repeat([search, near], limit=rounds)])


@pytest.mark.parametrize("where", [{}, {"devices": 2}, {"devices": "python"}])
def test_limits_fills_and_identities_are_not_compiled_in(where: dict[str, Any]) -> None:
    numbers = [(1, 99, 50), (2, 99, 50), (2, 77, 50), (2, 77, 20), (1, 66, 10, 2)]
    for turn, (limit, fill, identity, *rounds) in enumerate(numbers):
        answer = bf.run(
            hops(limit, fill, identity, *rounds), GRAPH, frontier=[0], init={"hops": {0: 0}},
            **where,
        )  # fmt: skip
        far = limit * (rounds or [1])[0]
        wanted = [hop if hop <= far else fill for hop in range(5)]
        assert answer["hops"].tolist() == wanted
        near = [1, *(min(wanted[place - 1], identity, *wanted[place + 1 : place + 2])
                     for place in range(1, 5))]  # fmt: skip
        assert answer["near"].tolist() == near
        assert turn == 0 or answer.record.compile_seconds == 0


def test_fills_of_a_batch_are_not_compiled_in() -> None:
    for fill in (99, 77):
        field = {"hops": Field(np.int32, fill=fill, combine="min")}
        program = Program(field, phases=[bf.Phase([bf.Advance(one_more, into="hops")], limit=2)])
        answer = bf.run_each(program, GRAPH, frontier=[0, 4], init={"hops": {0: 0, 4: 0}})
        assert answer["hops"].tolist() == [[0, 1, 2, fill, fill], [fill, fill, 2, 1, 0]]
    assert answer.record.compile_seconds == 0

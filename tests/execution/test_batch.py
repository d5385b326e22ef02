"""Programs run from each of many vertices, and a time limit that compiling does not use up."""

from __future__ import annotations

import uuid

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Intersect, Once, Phase, Program, run_each

THREADS = [1, 2, 4]


def heavier(source, neighbor, edge, state):
    return state.weight_so_far[source] + state.factor


def count_reached(vertex, state):
    return state.weight_so_far[vertex] < 1e9


def note(state):
    state.note[0] = int(state.reached[0])


PROGRAM = Program(
    {
        "weight_so_far": Field(np.float64, fill=1e9, combine="min"),
        "reached": Field(np.float64, length=1),
        "note": Field(np.int64, length=2, fill=-1),
    },
    phases=[
        Phase([Advance(heavier, into="weight_so_far")]),
        Phase([Compute(count_reached, sums=("reached",)), Once(note)]),
    ],
    parameters=["factor"],
)


@pytest.mark.parametrize("threads", THREADS)
def test_every_row_is_a_run(threads: int) -> None:
    graph = bf.from_edges([0, 1, 2, 5], [1, 2, 3, 6], num_vertices=8)
    places = [2, 0, 5, 7, 2, 1]
    start = {"weight_so_far": dict.fromkeys(places, 0.25)}
    options = {"parameters": {"factor": 1.5}, "threads": threads}
    whole = run_each(PROGRAM, graph, frontier=places, init=start, **options)
    for row, place in enumerate(places):
        begin = {"weight_so_far": {place: 0.25}}
        alone = bf.run(PROGRAM, graph, frontier=[place], init=begin, **options)
        for name in PROGRAM.fields:
            np.testing.assert_array_equal(whole[name][row], alone[name])
    assert whole["note"].tolist() == [[2, -1], [4, -1], [2, -1], [1, -1], [2, -1], [3, -1]]


def test_whole_rows_are_taken_and_left_as_they_were() -> None:
    graph = bf.generate("path:3")
    given = np.array([[0.0, 9.0, 9.0], [9.0, 9.0, 0.0]])
    before = given.copy()
    answer = run_each(
        PROGRAM, graph, frontier=[0, 2], init={"weight_so_far": given}, parameters={"factor": 1}
    )
    assert answer["weight_so_far"].tolist() == [[0, 1, 2], [2, 1, 0]]
    np.testing.assert_array_equal(given, before)


def test_wrong_batches() -> None:
    graph = bf.generate("path:4")
    factor = {"factor": 1}
    with pytest.raises(bf.OptionError, match="the frontier holds 4"):
        run_each(PROGRAM, graph, frontier=[0, 4], parameters=factor)
    with pytest.raises(bf.OptionError, match="init has no field 'deep'"):
        run_each(PROGRAM, graph, frontier=[0], init={"deep": {0: 1}}, parameters=factor)
    flat = {"weight_so_far": np.zeros(4)}
    with pytest.raises(bf.OptionError, match=r"shape \(4,\), not \(1, 4\)"):
        run_each(PROGRAM, graph, frontier=[0], init=flat, parameters=factor)
    for start in ({"weight_so_far": {1: 0}}, {"note": {0: 1}}):
        with pytest.raises(bf.OptionError, match="every vertex of the frontier"):
            run_each(PROGRAM, graph, frontier=[0], init=start, parameters=factor)
    with pytest.raises(bf.OptionError, match="parameters are factor"):
        run_each(PROGRAM, graph, frontier=[0])
    with pytest.raises(bf.OptionError, match="threads=0"):
        run_each(PROGRAM, graph, frontier=[0], parameters=factor, threads=0)
    triangles = Program({"total": Field(np.int64, length=1)}, step=[Intersect(total="total")])
    with pytest.raises(bf.OptionError, match="Intersect"):
        run_each(triangles, graph, frontier=[0])


def test_a_functor_that_does_not_compile_is_named() -> None:
    def misspelt(source, neighbor, edge, state):
        return state.wieght_so_far[source]

    program = Program(
        {"weight_so_far": Field(np.float64, combine="min")},
        step=[Advance(misspelt, into="weight_so_far")],
    )
    for threads in (1, 2):
        with pytest.raises(bf.FunctorError, match=r"test_batch.py, line \d+: functor misspelt"):
            run_each(program, bf.generate("path:3"), frontier=[0, 1], threads=threads)


def test_compiling_does_not_count() -> None:
    fresh = float(uuid.uuid4().int % 2**40)  # nothing on disk has this constant

    def further(source, neighbor, edge, state):
        return state.value[source] + fresh

    fields = {"value": Field(np.float64, fill=np.inf, combine="min")}
    graph = bf.generate("path:3")
    for go in (bf.run, run_each):
        program = Program(fields, step=[Advance(further, into="value")])
        answer = go(program, graph, frontier=[0], init={"value": {0: 0.0}}, time_limit=0.2)
        assert answer.record.compile_seconds > 0.2
        assert answer["value"].reshape(-1).tolist() == [0, fresh, 2 * fresh]


def stop_here(state):
    return state.last


def test_a_goal_needs_a_priority() -> None:
    with pytest.raises(bf.OptionError, match="needs a priority"):
        Program(
            {"value": Field(np.float64, combine="min")},
            step=[Advance(heavier, into="value", goal=stop_here)],
        )

"""Incoming arcs of a directed graph: built when a pull pays, and no sooner."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Phase, Program
from broadfront.algorithms.bfs import BFS, BFS_TO_TARGET
from broadfront.algorithms.pagerank import pagerank
from broadfront.graph import build
from broadfront.report.record import Record

SIZE = 2000
TIMES = ("microseconds", "seconds", "compile_seconds", "load_seconds", "prepare_seconds")


def dense() -> bf.Graph:
    """Return a graph on which a search pulls, with a short path to the side."""
    chance = np.random.default_rng(1)
    source, target = chance.integers(0, SIZE, (2, 16 * SIZE))
    side = np.arange(SIZE, SIZE + 4)
    return bf.from_edges(
        np.concatenate([source, side[:-1]]), np.concatenate([target, side[1:]]),
        num_vertices=SIZE + 4,
    )  # fmt: skip


def told(record: Record) -> dict[str, Any]:
    """Return all that a record tells but times and calls."""
    left_out = (*TIMES, "kernel_calls")
    return {field.name: np.asarray(getattr(record, field.name)).tolist()
            for field in fields(record) if field.name not in (*left_out, "profile")}  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("target", [None, 77])
def test_a_search_that_waits_for_them_is_the_same(threads: int, target: int | None) -> None:
    graph = dense()
    bf.bfs(dense(), 0, target=target, threads=threads)  # so that both find the same memory
    waiting = bf.bfs(graph, 0, target=target, threads=threads)
    assert waiting.report.kernel_calls == 2
    assert waiting.report.pulled.any()
    assert waiting.report.prepare_seconds > 0
    assert graph.has_transpose
    at_once = bf.bfs(graph, 0, target=target, threads=threads)
    assert at_once.report.kernel_calls == 1
    np.testing.assert_array_equal(waiting.depth, at_once.depth)
    if threads == 1:
        np.testing.assert_array_equal(waiting.parent, at_once.parent)
        assert told(waiting.report) == told(at_once.report)
    if target is None:
        waiting.verify()


def test_a_search_that_only_pushes_needs_none() -> None:
    graph = dense()
    found = bf.bfs(graph, SIZE)
    assert found.depth[SIZE:].tolist() == [0, 1, 2, 3]
    assert not graph.has_transpose
    assert found.report.kernel_calls == 1
    assert not found.report.pulled.any()


def test_what_needs_them_from_the_start_has_them() -> None:
    graph = dense()
    report = pagerank(graph).report
    assert graph.has_transpose
    assert report.kernel_calls == 1
    assert report.prepare_seconds > 0
    assert pagerank(graph).report.prepare_seconds < report.prepare_seconds


def test_a_batch_prepares_them() -> None:
    graph = dense()
    found = bf.bfs(graph, [0, SIZE], each=True)
    assert found.report.prepare_seconds > 0
    np.testing.assert_array_equal(found.depth[1], bf.bfs(graph, SIZE).depth)


def test_time_limit_and_ctrl_c_hold_while_they_are_built(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = dense()
    expected = bf.bfs(dense(), 0).depth

    def press(*given: object, **how: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(build, "transposed", press)
        with pytest.raises(KeyboardInterrupt):
            bf.bfs(graph, 0)
    assert not graph.has_transpose

    def spend(stage: str, done: int, total: int) -> None:
        time.sleep(0.3 if stage == "dealing edges" else 0)

    with pytest.raises(bf.TimeLimitError, match=r"time_limit=0\.2 s"):
        bf.bfs(graph, 0, time_limit=0.2, progress=spend)
    assert not graph.has_transpose
    np.testing.assert_array_equal(bf.bfs(graph, 0, time_limit=60).depth, expected)


# ---------------------------------------------------------------------- which programs may wait


def further(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.depth[source] + 1


def unreached(vertex, state):  # type: ignore[no-untyped-def]
    return state.depth[vertex] == 99


def in_degree(vertex, state):  # type: ignore[no-untyped-def]
    state.depth[vertex] = state.in_offsets[vertex + 1] - state.in_offsets[vertex]


def first_incoming(state, vertex):  # type: ignore[no-untyped-def]
    return state.in_targets[state.in_offsets[vertex]]


def by_another_function(vertex, state):  # type: ignore[no-untyped-def]
    state.depth[vertex] = first_incoming(state, vertex)


DEPTH = {"depth": Field(np.int32, fill=99, combine="min")}
EITHER = Advance(further, into="depth", cond=unreached)
LOOK = Compute(in_degree)


def test_which_programs_may_wait() -> None:
    assert BFS.pulls_later(False)
    assert BFS_TO_TARGET.pulls_later(False)
    push = Advance(further, into="depth")
    assert not Program(DEPTH, step=[push]).looks_back(False)
    assert not Program(DEPTH, step=[push, EITHER]).pulls_later(False)
    assert not Program(DEPTH, phases=[Phase([EITHER]), Phase([LOOK])]).pulls_later(False)
    pull = Advance(further, into="depth", cond=unreached, direction="pull")
    assert not Program(DEPTH, step=[pull]).pulls_later(False)


def test_a_functor_may_read_offsets_alone_or_through_another() -> None:
    graph = bf.from_edges([0, 1, 2, 3], [3, 3, 3, 0])
    assert Program(DEPTH, step=[Compute(by_another_function)]).looks_back(False)
    answer = bf.run(Program(DEPTH, step=[LOOK]), graph)
    assert answer["depth"].tolist() == [1, 0, 0, 3]

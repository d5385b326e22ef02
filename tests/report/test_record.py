"""What a run says of itself: strategies, atomics, memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Filter, Phase, Program
from broadfront.devices import workspace
from broadfront.operators.cpu import frontier
from broadfront.report.record import Record, joined

UNREACHED = 2**31 - 1
BYTES_APART_FROM_VERTICES = 32 << 10
"""Lines and lists of two threads, hubs, and the rows of the record."""


def further(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.depth[source] + 1


def unreached(vertex, state):  # type: ignore[no-untyped-def]
    return state.depth[vertex] == UNREACHED


def nearest(vertex, state):  # type: ignore[no-untyped-def]
    return state.depth[vertex]


def touch(vertex, state):  # type: ignore[no-untyped-def]
    state.seen[vertex] += 1


def everyone(vertex, state):  # type: ignore[no-untyped-def]
    return True


DEPTH = {"depth": Field(np.int32, fill=UNREACHED, combine="min")}


def searched(step: list[object], fields: dict[str, Field] | None = None) -> bf.execution.run.Answer:
    graph = bf.generate("kron:9")
    source = int(np.argmax(graph.degrees))
    program = Program(fields or DEPTH, step=step)
    return bf.run(program, graph, frontier=[source], start={"depth": {source: 0}}, threads=2)


@pytest.mark.parametrize("balance", ["by_vertex", "by_degree", "by_edges"])
def test_the_way_to_share_work_is_told(balance: str) -> None:
    record = searched([Advance(further, into="depth", balance=balance)]).record
    frame = record.to_pandas()
    assert frame.columns.tolist() == [
        "frontier", "edges", "direction", "strategy", "atomics", "microseconds",
    ]  # fmt: skip
    assert set(frame["strategy"]) == {balance}
    assert set(frame["direction"]) == {"push"}
    assert len(frame) == record.iterations


def test_every_kind_of_operator_has_a_strategy() -> None:
    pulled = searched([Advance(further, into="depth", while_=unreached, direction="pull")]).record
    assert set(pulled.strategy) == {"pull"}
    assert pulled.totals()["atomics"] == 0
    ordered = searched([Advance(further, into="depth", priority=nearest)]).record
    assert set(ordered.strategy) == {"buckets"}
    assert set(ordered.direction) == {"push"}
    graph = bf.generate("kron:8")
    assert set(bf.pagerank(graph).report.strategy) == {"dense"}
    assert set(bf.triangles(graph).report.strategy) == {"intersect"}
    assert "levels" in bf.betweenness(graph, 1).report.strategy


def test_operators_of_one_iteration_share_a_row() -> None:
    both = {**DEPTH, "seen": Field(np.int64)}
    alone = searched([Advance(further, into="depth")]).record
    record = searched([Advance(further, into="depth"), Compute(touch)], both).record
    assert set(record.strategy) == {"dense+by_degree"}
    assert record.frontier.tolist() == alone.frontier.tolist()
    assert record.edges.tolist() == alone.edges.tolist()


def test_an_iteration_of_which_nothing_is_told_is_an_empty_row() -> None:
    searched([Advance(further, into="depth")])
    program = Program(DEPTH, phases=[Phase([Filter(everyone)], limit=2)])
    answer = bf.run(program, bf.generate("path:9"), frontier=[3, 4])
    assert answer.frontier.tolist() == [3, 4]
    assert answer.record.strategy.tolist() == ["", ""]
    assert answer.record.microseconds.tolist() == [0, 0]


@pytest.mark.parametrize("priority", [None, nearest])
def test_atomics_are_counted(priority: object) -> None:
    """On one thread of a tree nothing is proposed in vain: each vertex settles once."""
    graph = bf.generate("tree:2:8")
    program = Program(DEPTH, step=[Advance(further, into="depth", priority=priority)])
    answer = bf.run(program, graph, frontier=[0], start={"depth": {0: 0}}, threads=1)
    assert answer.record.totals()["atomics"] == graph.num_vertices - 1
    if priority is None:
        assert answer.record.atomics[:3].tolist() == [2, 4, 8]


def test_search_takes_at_most_24_bytes_a_vertex() -> None:
    graph = bf.generate("kron:14")
    source = int(np.argmax(graph.degrees))
    report = bf.bfs(graph, source, threads=2, memory="fixed").report
    assert report.answer_bytes == 8 * graph.num_vertices
    queues, bitmaps = 8, 6 / 8
    expected = (8 + queues + bitmaps) * graph.num_vertices
    assert expected <= report.peak_bytes <= expected + BYTES_APART_FROM_VERTICES
    assert report.peak_bytes <= 24 * graph.num_vertices
    minimal = bf.bfs(graph, source, threads=2).report
    assert minimal.peak_bytes < report.peak_bytes - 4 * graph.num_vertices


def test_memory_is_that_of_the_run_and_not_what_is_kept() -> None:
    small, large = bf.generate("kron:9"), bf.generate("kron:14")
    workspace.release()
    first = bf.bfs(small, 0, threads=2).report.peak_bytes
    bf.bfs(large, 0, threads=2)
    bf.pagerank(large)
    assert bf.bfs(small, 0, threads=2).report.peak_bytes == first


def test_memory_told_is_memory_taken() -> None:
    graph = bf.generate("kron:14")
    source = int(np.argmax(graph.degrees))
    bf.bfs(graph, source)
    workspace.release()
    tracemalloc.start()
    try:
        told = bf.bfs(graph, source).report.peak_bytes
        taken = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    rows_never_touched = frontier.RECORD_ROWS * frontier.RECORD_COLUMNS * 8
    assert abs(taken - rows_never_touched - told) < 2 * graph.num_vertices + (64 << 10)


def test_a_program_without_an_advance_needs_no_frontier() -> None:
    graph = bf.generate("kron:12")
    program = Program({"seen": Field(np.int64)}, step=[Compute(touch)])
    record = bf.run(program, graph, threads=1).record
    assert record.answer_bytes == 8 * graph.num_vertices
    assert record.workspace_bytes < 4096


def test_joined_records_add_up() -> None:
    records = [bf.bfs(bf.generate(spec), 0, threads=1).report for spec in ("path:5", "path:9")]
    both = joined(records)
    assert isinstance(both, Record)
    assert both.iterations == 14
    assert both.kernel_calls == 2
    assert both.peak_bytes == records[1].peak_bytes
    assert len(both.to_pandas()) == 14

"""What a run says of itself: strategies, atomics, memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Filter, Phase, Program
from broadfront.backends.cpu.device import workspace
from broadfront.backends.cpu.device.timeline import COARSE, FINE, ROWS, rows_until
from broadfront.backends.cpu.operators import frontier
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
    return bf.run(program, graph, frontier=[source], init={"depth": {source: 0}}, threads=2)


@pytest.mark.parametrize("balance", ["by_vertex", "by_degree", "by_edges"])
def test_the_way_to_share_work_is_told(balance: str) -> None:
    record = searched([Advance(further, into="depth", balance=balance)]).record
    frame = record.to_pandas()
    assert frame.columns.tolist() == [
        "iteration", "iterations", "frontier", "edges", "direction", "strategy", "atomics",
        "microseconds",
    ]  # fmt: skip
    assert set(frame["strategy"]) == {balance}
    assert set(frame["direction"]) == {"push"}
    assert len(frame) == record.iterations
    assert frame["iteration"].tolist() == list(range(record.iterations))
    assert set(frame["iterations"]) == {1}


def test_every_kind_of_operator_has_a_strategy() -> None:
    pulled = searched([Advance(further, into="depth", cond=unreached, direction="pull")]).record
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
    """One thread needs none; of a tree each vertex settles once, by an atomic where all push."""
    graph = bf.generate("tree:2:13")
    program = Program(DEPTH, step=[Advance(further, into="depth", priority=priority)])
    how: dict[str, Any] = {"frontier": [0], "init": {"depth": {0: 0}}}
    assert bf.run(program, graph, **how, threads=1).record.totals()["atomics"] == 0
    atomics = bf.run(program, graph, **how, threads=2).record.totals()["atomics"]
    assert 0 < atomics < graph.num_vertices


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
    rows_never_touched = ROWS * frontier.COLUMNS * 8
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


# ---------------------------------------------------------------------- long runs

LONG = 70_001


def check_rows(report: Record, iterations: int) -> None:
    """Check that rows cover all iterations, and are as few as they should be."""
    assert report.iterations == iterations == report.spans.sum()
    assert len(report.spans) == rows_until(iterations) < iterations
    assert report.coarse
    assert set(report.spans[:FINE].tolist()) == {1}
    np.testing.assert_array_equal(report.begins, np.cumsum([0, *report.spans])[:-1])


def test_totals_of_a_long_run_are_exact() -> None:
    graph = bf.generate("path:200000")
    for threads in (1, 2):
        report = bf.bfs(graph, 0, threads=threads).report
        check_rows(report, 200_000)
        assert report.edges_visited == report.totals()["edges_visited"] == graph.num_arcs == 399_998
        assert report.frontier.sum() == graph.num_vertices
        assert report.redundancy(report) == 1
        np.testing.assert_array_equal(report.frontier, report.spans)
        assert report.edges[1:-1].tolist() == (2 * report.spans[1:-1]).tolist()
        assert (report.microseconds > 0).all()
        assert report.microseconds.sum() <= report.seconds * 1e6
        assert set(report.direction) == {"push"}


def test_a_long_record_says_that_rows_cover_several_iterations() -> None:
    report = bf.bfs(bf.generate(f"path:{LONG}"), 0, threads=1).report
    assert f"{LONG:,} iterations, {2 * LONG - 2:,} edges traversed" in str(report)
    rows = rows_until(LONG)
    assert f"{rows:,} rows, of which some cover several iterations, up to 128" in str(report)
    frame = report.to_pandas()
    assert len(frame) == rows
    assert frame["iterations"].sum() == LONG
    assert frame["iteration"].iloc[FINE] == FINE
    assert frame["iteration"].iloc[FINE + 1] == FINE + COARSE
    short = bf.bfs(bf.generate("path:5"), 0, threads=1).report
    assert "rows" not in str(short)
    assert short.spans.tolist() == [1] * 5


def test_operators_of_one_iteration_count_its_frontier_once_in_a_shared_row() -> None:
    """An advance and a dense operator: both in the row, the frontier of the advance."""
    graph = bf.generate(f"path:{LONG}")
    found = bf.bfs(graph, 0, target=LONG - 1, threads=1)
    report = found.report
    assert found.depth[-1] == LONG - 1
    assert report.coarse
    assert report.frontier.sum() - report.frontier[0] in (LONG - 2, LONG - 1)
    assert set(report.strategy[FINE:]) == {"dense+by_degree"}


def test_priorities_and_levels_in_long_runs() -> None:
    graph = bf.generate(f"path:{LONG}", weights=(1, 1))
    report = bf.sssp(graph, 0, width=1, threads=1).report
    check_rows(report, report.iterations)
    assert report.edges_visited == graph.num_arcs
    between = bf.betweenness(graph, [0], threads=1).report
    check_rows(between, between.iterations)
    assert between.iterations >= 2 * LONG


def test_a_short_run_after_a_long_one_has_empty_rows_to_write_to() -> None:
    long, short = bf.generate(f"path:{LONG}"), bf.generate("star:9")
    for _ in range(2):
        assert bf.bfs(long, 0, threads=1).report.edges_visited == long.num_arcs
        report = bf.bfs(short, 1, threads=1).report
        assert report.frontier.tolist() == [1, 1, 7]
        assert (report.microseconds < 1e6).all()


def test_joined_long_records_go_on_counting() -> None:
    report = bf.bfs(bf.generate(f"path:{LONG}"), 0, threads=1).report
    both = joined([report, report])
    assert both.edges_visited == 2 * report.edges_visited
    assert both.begins[len(report.spans)] == LONG
    assert both.begins[-1] + both.spans[-1] == both.iterations == 2 * LONG


def test_a_phase_that_does_not_count_is_recorded_with_the_next_iteration() -> None:
    fields = {"seen": Field(np.int64), **DEPTH}
    ready = Phase([Compute(touch)], counts=False)
    program = Program(fields, phases=[ready, Phase([Advance(further, into="depth")])])
    graph = bf.generate("path:4")
    record = bf.run(program, graph, frontier=[0], init={"depth": {0: 0}}, threads=1).record
    assert record.strategy.tolist() == ["dense+by_degree", *["by_degree"] * 3]
    assert record.frontier.tolist() == [1, 1, 1, 1]
    for _ in range(2):  # with nothing after it, it is an iteration
        record = bf.run(program, graph, frontier=[], threads=1).record
        assert (record.iterations, record.strategy.tolist()) == (1, ["dense"])
        assert record.frontier.tolist() == [4]

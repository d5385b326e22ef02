"""Bytes read and written are those that a program asks for, element by element."""

from __future__ import annotations

import numpy as np

import broadfront as bf
from broadfront.execution.program import Phase
from broadfront.traffic import Traffic, counting

PATH = bf.generate("path:100")


def doubled(vertex, state):
    state.twice[vertex] = 2 * state.once[vertex]


DOUBLE = bf.Program(
    {"once": bf.Field(np.int32), "twice": bf.Field(np.int64)},
    phases=[Phase([bf.Compute(doubled)])],
)


def counted(threads: int) -> Traffic:
    with counting() as traffic:
        answer = bf.run(DOUBLE, PATH, init={"once": np.arange(100)}, threads=threads)
    assert (answer["twice"] == 2 * np.arange(100)).all()
    return traffic


def test_every_element_is_counted_by_its_size_on_any_threads() -> None:
    for threads in (1, 2, 1):
        assert counted(threads).by_kind()["fields"] == (100 * 4, 100 * 8)
        assert counted(threads).by_kind()["graph"] == (0, 0)


def test_a_block_counts_what_is_in_it() -> None:
    one = counted(1)
    bf.run(DOUBLE, PATH, threads=1)
    with counting() as nothing:
        bf.run(DOUBLE, PATH, threads=1, checked=True, devices="python")
    assert one.bytes_read >= 400
    assert (nothing.bytes_read, nothing.bytes_written) == (0, 0)


def test_a_search_reads_each_arc_once_or_less_where_it_pulls() -> None:
    graph = bf.generate("path:100")
    with counting() as traffic:
        bf.run(REACH, graph, frontier=[0], init={"depth": {0: 0}}, threads=1)
    arcs = graph.num_arcs * graph.targets.itemsize
    read, written = traffic.by_kind()["graph"]
    assert arcs <= read <= arcs + 6 * graph.offsets.itemsize * graph.num_vertices
    assert written == 0
    assert traffic.by_kind()["fields"][1] == 99 * 4


def further(source, neighbor, edge, state):
    return state.depth[source] + 1


REACH = bf.Program(
    {"depth": bf.Field(np.int32, fill=1 << 30, combine="min")},
    step=[bf.Advance(further, into="depth")],
)

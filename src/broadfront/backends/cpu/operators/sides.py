"""Operators that go the other way along arcs: the rows and the states change places.

An operator is written for outgoing rows, with incoming ones for a pull. Given the rows the other
way round it goes against the arcs, and the state that it is handed has the weights of these.

How many edges leave a frontier depends on the side. An operator that makes a frontier counts them
on the side that it looks at itself; `SIDE` tells which, and they are counted anew before an
`Advance` that looks at the other one, which needs to know how much room to have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE
from broadfront.backends.cpu.operators.frontier import (
    ALL_EDGES,
    EDGES,
    PARITY,
    PULLING,
    SIDE,
    SIZE,
    STATS_WORDS,
    Rows,
    finish,
    prepare,
    share,
)
from broadfront.backends.cpu.operators.queues import queue_at
from broadfront.kernel import inner
from broadfront.pointers import shifted

Section = Callable[..., Any]

SIDES = {"out": 0, "in": 1}


@inner
def _turned_rows(graph):
    return Rows(
        graph.in_offsets, graph.in_targets, graph.offsets, graph.targets, graph.num_vertices,
        graph.most_degree, graph.owned, graph.all_vertices, graph.members, graph.owner,
        graph.device, graph.numbers,
    )  # fmt: skip


def turned(section: Section) -> Section:
    """Return a section that does the same the other way along arcs."""

    @inner
    def other_way(rank, threads, control, graph, state, in_state, work, front, turn):
        return section(
            rank, threads, control, _turned_rows(graph), in_state, state, work, front, turn
        )

    return other_way


def outgoing(section: Section) -> Section:
    """Return a section, which hears what comes along incoming arcs, that hears outgoing ones.

    Functors that are not called for an arc see the state that they always see.
    """

    @inner
    def other_rows(rank, threads, control, graph, state, in_state, work, front, turn):
        return section(rank, threads, control, _turned_rows(graph), state, state, work, front, turn)

    return other_rows


def recounted(side: int, agree: Section | None) -> Section:
    """Return the section that counts the edges of the frontier on a side, unless they are known.

    A bitmap has none counted: they are when it becomes a queue. Devices `agree` on their sum.
    """
    together = agree is not None
    ask = agree or _stay

    @inner
    def edges_of(queue, begin, end, offsets):
        edges = np.int64(0)
        for place in range(begin, end):
            vertex = np.int64(queue[place])
            edges += np.int64(offsets[vertex + 1]) - np.int64(offsets[vertex])
        return edges

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        if front[SIDE] == side:
            return turn
        front[SIDE] = side
        if front[PULLING] == 1:
            return turn
        prepare(control, rank, turn)
        begin, end = share(front[SIZE], rank, threads)
        stats = shifted(work.stats, (turn & 1) * LINE)
        edges = edges_of(queue_at(work, front[PARITY] == 1), begin, end, graph.offsets)
        atomics.store(stats, rank * STATS_WORDS, edges)
        turn = finish(control, rank, threads, turn)
        front[EDGES] = 0
        for thread in range(threads):
            front[EDGES] += atomics.load(stats, thread * STATS_WORDS)
        if together and turn >= 0:
            return ask(rank, threads, control, graph, state, in_state, work, front, turn)
        front[ALL_EDGES] = front[EDGES]
        return turn

    return section


@inner
def _stay(rank, threads, control, graph, state, in_state, work, front, turn):
    return turn

"""A frontier made anew: `Filter` over all vertices.

Threads claim blocks of vertices, gather those for which the functor is true, and append them to the
queue. Whatever was in the frontier before is forgotten, the marks of an `Advance` included.

Invariant: each vertex is in the queue once at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE, claim, nanoseconds
from broadfront.backends.cpu.operators.frontier import (
    ALL_EDGES,
    ALL_SIZE,
    ARCS,
    ATOMICS,
    BEFORE,
    BLOCK,
    EDGES,
    LOCAL,
    LOCAL_WORDS,
    OTHER_QUEUE,
    PARITY,
    PULLING,
    QUEUE,
    SIDE,
    SIZE,
    STATS_WORDS,
    TAIL,
    UNEXPLORED,
    VISITED,
    WORK,
    finish,
    prepare,
    share,
    tell,
)
from broadfront.backends.cpu.operators.queues import has_room, queue_at
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Filter
from broadfront.pointers import shifted
from broadfront.report.ways import DENSE

assert BLOCK <= LOCAL


def chosen(operator: Filter, has_marks: bool) -> Callable[..., Any]:
    """Return the section of a `Filter` over all vertices."""
    keep = compile_functor(operator.functor)

    @inner
    def gather(rank, control, graph, queue, local, state, turn):
        """Append the vertices that are kept of the blocks claimed; return the arcs that leave."""
        edges = np.int64(0)
        while True:
            begin = claim(control, WORK + turn % 3, rank, BLOCK)
            if begin >= graph.owned:
                return edges
            kept = np.int64(0)
            for place in range(begin, min(graph.owned, begin + BLOCK)):
                vertex = np.int64(graph.members[place])
                if keep(vertex, state):
                    local[kept] = vertex
                    kept += 1
                    edges += np.int64(graph.offsets[vertex + 1]) - np.int64(graph.offsets[vertex])
            if kept > 0:
                end = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), kept)
                for place in range(kept):
                    queue[end + place] = local[place]

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        began = nanoseconds()
        prepare(control, rank, turn)
        odd = front[PARITY] == 1
        slot = OTHER_QUEUE if odd else QUEUE
        if not has_room(rank, threads, control, work, front, slot, graph.owned):
            return finish(control, rank, threads, turn)
        if has_marks:
            first, last = share(2 * ((graph.num_vertices + 63) >> 6), rank, threads)
            for word in range(first, last):
                work.marks[word] = np.uint64(0)
        local = shifted(work.local, rank * LOCAL_WORDS)
        edges = gather(rank, control, graph, queue_at(work, odd), local, state, turn)
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, edges)
        after = finish(control, rank, threads, turn)
        front[EDGES] = 0
        for thread in range(threads):
            front[EDGES] += atomics.load(stats, thread * STATS_WORDS)
        front[SIZE] = atomics.load(control, CURSORS + LINE * (TAIL + turn % 3))
        front[ALL_SIZE], front[ALL_EDGES] = front[SIZE], front[EDGES]
        front[PULLING], front[SIDE], front[UNEXPLORED] = 0, 0, front[ARCS]
        front[BEFORE], front[VISITED], front[ATOMICS] = graph.owned, 0, 0
        tell(work, front, rank, DENSE, began)
        return after

    return section

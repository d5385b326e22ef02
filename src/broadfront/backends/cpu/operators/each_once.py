"""Each vertex of a queue once, where functors ask how large the frontier is.

An `Advance` may leave a vertex in the queue twice. Every thread marks the vertices of its share in
the bitmap `spill`; who finds a mark crosses its place out. The marks are taken back, and the queue
is closed up if something was crossed out, which is rare.

Invariant: `spill` is all zero before and after.
"""

from __future__ import annotations

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE
from broadfront.backends.cpu.operators.frontier import (
    ALL_EDGES,
    ALL_SIZE,
    EDGES,
    PARITY,
    PULLING,
    SIZE,
    STATS_WORDS,
    finish,
    prepare,
    share,
)
from broadfront.backends.cpu.operators.queues import queue_at
from broadfront.kernel import inner
from broadfront.pointers import shifted

CROSSED_OUT = -1


@inner
def each_once(rank, threads, control, graph, state, in_state, work, front, turn):
    """Leave each vertex of the frontier in it once; a section after an `Advance`."""
    if front[PULLING] == 1:
        return turn
    queue = queue_at(work, front[PARITY] == 1)
    begin, end = share(front[SIZE], rank, threads)
    prepare(control, rank, turn)
    stats = shifted(work.stats, (turn & 1) * LINE)
    crossed, edges = _cross_out(queue, begin, end, graph, work.spill)
    atomics.store(stats, rank * STATS_WORDS, crossed)
    atomics.store(stats, rank * STATS_WORDS + 1, edges)
    turn = finish(control, rank, threads, turn)
    if turn < 0:
        return turn
    prepare(control, rank, turn)
    for place in range(begin, end):
        vertex = np.int64(queue[place])
        if vertex != CROSSED_OUT:
            atomics.store(work.spill, vertex >> 6, np.uint64(0))
    crossed = np.int64(0)
    for thread in range(threads):
        crossed += atomics.load(stats, thread * STATS_WORDS)
        front[EDGES] -= atomics.load(stats, thread * STATS_WORDS + 1)
    turn = finish(control, rank, threads, turn)
    if turn >= 0 and crossed > 0:
        prepare(control, rank, turn)
        if rank == 0:
            _close_up(queue, front[SIZE])
        turn = finish(control, rank, threads, turn)
    front[SIZE] -= crossed
    front[ALL_SIZE], front[ALL_EDGES] = front[SIZE], front[EDGES]
    return turn


@inner
def _cross_out(queue, begin, end, graph, marks):
    """Cross out what is marked already; return how many, and the arcs that leave them."""
    crossed, edges = np.int64(0), np.int64(0)
    for place in range(begin, end):
        vertex = np.int64(queue[place])
        mark = np.uint64(1) << np.uint64(vertex & 63)
        if atomics.bitwise_or(marks, vertex >> 6, mark) & mark != 0:
            queue[place] = CROSSED_OUT
            crossed += 1
            edges += np.int64(graph.offsets[vertex + 1]) - np.int64(graph.offsets[vertex])
    return crossed, edges


@inner
def _close_up(queue, size):
    """Move what is not crossed out to the front."""
    kept = np.int64(0)
    for place in range(size):
        if np.int64(queue[place]) != CROSSED_OUT:
            queue[kept] = queue[place]
            kept += 1

"""Push, equal edges per turn: the edges of the whole frontier are cut evenly, across vertices.

The degrees of the queue are added up first, on all threads; a thread then claims a run of edges and
finds by bisection whose they are. Even for any degrees, at the price of a pass over the frontier
and two more meetings. (Wu et al. call it per-edge load balancing, PLB.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE, barrier, claim, keep_pace_in
from broadfront.backends.cpu.operators.frontier import STATS_WORDS, WORK, share
from broadfront.backends.cpu.operators.queues import sums_at
from broadfront.backends.cpu.operators.walk import Rules, append, edge_walker
from broadfront.kernel import inner
from broadfront.pointers import shifted

EDGES_PER_TURN = 2048


def push_by_edges(rules: Rules) -> Callable[..., Any]:
    """Return the compiled push of one iteration."""
    walk = edge_walker(rules)

    @inner
    def push(rank, threads, control, graph, state, out, queue, following, local, work, marks, size,
             turn):  # fmt: skip
        kept = np.int64(0)
        edges = np.int64(0)
        visited = np.int64(0)
        settled = np.int64(0)
        page = np.int64(0)
        sums = sums_at(work)
        total = add_up_degrees(rank, threads, control, graph, queue, sums, work.stats, size, turn)
        while True:
            begin = claim(control, WORK + turn % 3, rank, EDGES_PER_TURN)
            if begin >= total:
                break
            end = min(total, begin + EDGES_PER_TURN)
            visited += end - begin
            place = owner(sums, size, begin)
            while begin < end:
                source = np.int64(queue[place])
                first = np.int64(graph.offsets[source]) + begin - sums[place]
                length = min(end, sums[place + 1]) - begin
                kept, more, found = walk(
                    source, first, first + length, graph, state, out, following, local, kept,
                    marks, control, turn,
                )  # fmt: skip
                edges += more
                settled += found
                page = keep_pace_in(control, page, first + length)
                begin += length
                place += 1
        append(local, kept, following, graph.num_vertices, control, turn)
        return edges, visited, settled

    return push


@inner
def add_up_degrees(rank, threads, control, graph, queue, sums, stats, size, turn):
    """Leave in `sums` the edges before each vertex of the queue; return how many there are."""
    first, last = share(size, rank, threads)
    own = np.int64(0)
    for place in range(first, last):
        vertex = np.int64(queue[place])
        own += np.int64(graph.offsets[vertex + 1]) - np.int64(graph.offsets[vertex])
    slots = shifted(stats, 2 * LINE + (turn & 1))
    atomics.store(slots, rank * STATS_WORDS, own)
    barrier(control, rank, threads)
    before, total = np.int64(0), np.int64(0)
    for thread in range(threads):
        part = atomics.load(slots, thread * STATS_WORDS)
        before += part if thread < rank else 0
        total += part
    for place in range(first, last):
        sums[place] = before
        vertex = np.int64(queue[place])
        before += np.int64(graph.offsets[vertex + 1]) - np.int64(graph.offsets[vertex])
    if rank == 0:
        sums[size] = total
    barrier(control, rank, threads)
    return total


@inner
def owner(sums, size, edge):
    """Return the place in the queue of the vertex that has the edge numbered `edge`."""
    low, high = np.int64(0), np.int64(size)
    while high - low > 1:
        middle = (low + high) // 2
        if sums[middle] <= edge:
            low = middle
        else:
            high = middle
    return low

"""Push, one vertex per turn: a thread claims a run of the queue and walks each vertex' edges.

The cheapest way to share work while degrees are even: no thread looks at a degree before it is
there. (Wu et al. call it per-thread mapping, PT.) Neighbour lists and offsets ahead are fetched
early, which hides most of the memory's latency.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.devices.control import CURSORS, LINE, claim
from broadfront.kernel import inner
from broadfront.operators.cpu.combine import Combine
from broadfront.operators.cpu.frontier import LOCAL, TAIL, WORK
from broadfront.pointers import as_element, prefetch

CHUNK = 64
SMALL = 4096
"""Queues below this are cut evenly: a claim costs more than an uneven share."""


def push_by_vertex(
    propose: Callable[..., Any],
    wanted: Callable[..., Any],
    combine: Combine,
    joins: Callable[..., Any],
    note: Callable[..., Any],
) -> Callable[..., Any]:
    """Return the compiled push of one iteration."""
    better, settle = combine.better, combine.settle

    @inner
    def walk(begin, end, offsets, targets, state, out, queue, following, local, kept, marks,
             control, turn):  # fmt: skip
        edges = np.int64(0)
        visited = np.int64(0)
        settled = np.int64(0)
        for place in range(begin, end):
            source = np.int64(queue[place])
            if place + 16 < end:
                prefetch(offsets, queue[place + 16])
            if place + 8 < end:
                prefetch(targets, offsets[queue[place + 8]])
            first, last = np.int64(offsets[source]), np.int64(offsets[source + 1])
            visited += last - first
            for edge in range(first, last):
                neighbor = np.int64(targets[edge])
                if not wanted(neighbor, state):
                    continue
                proposal = as_element(out, propose(source, neighbor, edge, state))
                if better(proposal, out[neighbor]):
                    before = settle(out, neighbor, proposal)
                    settled += 1
                    if not better(proposal, before):
                        continue
                    note(state, neighbor, source)
                    if joins(neighbor, before, proposal, state, marks):
                        edges += np.int64(offsets[neighbor + 1]) - np.int64(offsets[neighbor])
                        local[kept] = neighbor
                        kept += 1
                        if kept == LOCAL:
                            kept = append(local, kept, following, control, turn)
        return kept, edges, visited, settled

    @inner
    def push(rank, threads, control, graph, state, out, queue, following, local, marks, size,
             turn):  # fmt: skip
        kept = np.int64(0)
        edges = np.int64(0)
        visited = np.int64(0)
        settled = np.int64(0)
        chunk = max(CHUNK, (size + threads - 1) // threads) if size < SMALL else CHUNK
        while True:
            begin = claim(control, WORK + turn % 3, rank, chunk)
            if begin >= size:
                break
            kept, more_edges, more_visited, more_settled = walk(
                begin, min(size, begin + chunk), graph.offsets, graph.targets, state, out, queue,
                following, local, kept, marks, control, turn,
            )  # fmt: skip
            edges += more_edges
            visited += more_visited
            settled += more_settled
        append(local, kept, following, control, turn)
        return edges, visited, settled

    return push


@inner
def append(local, kept, following, control, turn):
    """Append what a thread has gathered to the next queue; return that it holds nothing now."""
    if kept > 0:
        end = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), kept)
        for place in range(kept):
            following[end + place] = local[place]
    return np.int64(0)

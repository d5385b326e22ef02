"""Push, one vertex per turn: a thread claims a run of the queue and walks each vertex' edges.

The cheapest way to share work while degrees are even: no thread looks at a degree before it is
there. (Wu et al. call it per-thread mapping, PT.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import NO_MORE, claim, claim_piece, keep_pace_in
from broadfront.backends.cpu.operators.frontier import MINE, WORK
from broadfront.backends.cpu.operators.push_alone import fetching, last_to_fetch
from broadfront.backends.cpu.operators.walk import Rules, append, edge_walker
from broadfront.kernel import inner

CHUNK = 64
SMALL = 4096
"""A queue below this is cut into a piece for each thread, which mostly takes its own."""


def push_by_vertex(rules: Rules) -> Callable[..., Any]:
    """Return the compiled push of one iteration."""
    walk, fetch_ahead = edge_walker(rules), fetching(rules)

    @inner
    def push(rank, threads, control, graph, state, out, queue, following, local, work, marks, size,
             turn):  # fmt: skip
        kept = np.int64(0)
        edges = np.int64(0)
        visited = np.int64(0)
        settled = np.int64(0)
        page = np.int64(0)
        chunk = turn_length(size, threads)
        final = last_to_fetch(graph)
        while True:
            begin = next_turn(control, WORK + turn % 3, rank, size, chunk, local)
            if begin >= size:
                break
            end = min(size, begin + chunk)
            for place in range(begin, end):
                source = np.int64(queue[place])
                fetch_ahead(queue, place, end, graph, state, out, final)
                first = np.int64(graph.offsets[source])
                last = np.int64(graph.offsets[source + 1])
                visited += last - first
                kept, more, found = walk(
                    source, first, last, graph, state, out, following, local, kept, marks, control,
                    turn,
                )  # fmt: skip
                edges += more
                settled += found
                page = keep_pace_in(control, page, last)
        append(local, kept, following, graph.num_vertices, control, turn)
        return edges, visited, settled

    return push


@inner
def turn_length(size, threads):
    """Return how many vertices of the queue to claim at a time."""
    pieces = min(threads, np.int64(64))
    return max(np.int64(CHUNK), (size + pieces - 1) // pieces) if size < SMALL else np.int64(CHUNK)


@inner
def next_turn(control, cursor, rank, size, chunk, local):
    """Return where the next run of the queue to walk begins; beyond its end when none is left.

    Of a short queue a thread takes first what it has itself put there, which its cache still holds.
    """
    if size >= SMALL:
        return claim(control, cursor, rank, chunk)
    mine = np.int64(local[MINE])
    near = mine // chunk if 0 <= mine < size else np.int64(0)
    piece = claim_piece(control, cursor, rank, (size + chunk - 1) // chunk, near)
    return size if piece == NO_MORE else piece * chunk

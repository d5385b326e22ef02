"""Push, grouped by degree: small vertices one per turn, the edges of hubs by all threads together.

A thread that meets a vertex with very many edges sets it aside; when the queue is empty, all
threads claim pieces of the edges of those set aside. (Wu et al. group by degree in three classes,
DWM; a CPU has no warps, so two are enough.) In a graph without such a vertex nothing is set aside,
nobody waits, and it costs what `push_by_vertex` costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE, barrier, claim, keep_pace_in
from broadfront.backends.cpu.operators.frontier import HUB, HUB_WORK, SPARE, WORK
from broadfront.backends.cpu.operators.push_alone import fetching, last_to_fetch
from broadfront.backends.cpu.operators.push_by_vertex import next_turn, turn_length
from broadfront.backends.cpu.operators.walk import Rules, append, edge_walker
from broadfront.kernel import inner

EDGES_PER_TURN = 1024


def push_by_degree(rules: Rules) -> Callable[..., Any]:
    """Return the compiled push of one iteration."""
    walk, fetch_ahead = edge_walker(rules), fetching(rules)

    @inner
    def push_hubs(rank, threads, control, graph, state, out, following, local, kept, work, marks,
                  turn):  # fmt: skip
        """Walk the edges of the vertices set aside, a piece per turn."""
        edges = np.int64(0)
        settled = np.int64(0)
        hubs = min(room_for_hubs(graph), atomics.load(control, CURSORS + LINE * (SPARE + turn % 3)))
        hub = np.int64(0)
        pieces_before = np.int64(0)
        while True:
            piece = claim(control, HUB_WORK + turn % 3, rank, 1)
            while hub < hubs:
                source = np.int64(work.hubs[hub])
                first = np.int64(graph.offsets[source])
                last = np.int64(graph.offsets[source + 1])
                pieces = (last - first + EDGES_PER_TURN - 1) // EDGES_PER_TURN
                if piece < pieces_before + pieces:
                    break
                pieces_before += pieces
                hub += 1
            if hub >= hubs:
                return kept, edges, settled
            begin = first + (piece - pieces_before) * EDGES_PER_TURN
            kept, more, found = walk(
                source, begin, min(last, begin + EDGES_PER_TURN), graph, state, out, following,
                local, kept, marks, control, turn,
            )  # fmt: skip
            edges += more
            settled += found

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
        aside = np.int64(HUB) if threads > 1 else np.int64(1) << 62
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
                if last - first > aside:
                    free = atomics.add(control, CURSORS + LINE * (SPARE + turn % 3), 1)
                    if free < room_for_hubs(graph):  # there is for all, unless some come twice
                        work.hubs[free] = source
                        continue
                kept, more, found = walk(
                    source, first, last, graph, state, out, following, local, kept, marks, control,
                    turn,
                )  # fmt: skip
                edges += more
                settled += found
                page = keep_pace_in(control, page, last)
        if graph.most_degree > aside:
            barrier(control, rank, threads)
            kept, more, found = push_hubs(
                rank, threads, control, graph, state, out, following, local, kept, work, marks,
                turn,
            )  # fmt: skip
            edges += more
            settled += found
        append(local, kept, following, graph.num_vertices, control, turn)
        return edges, visited, settled

    return push


@inner
def room_for_hubs(graph):
    """Return how many hubs can be set aside; there are not more of them."""
    return np.int64(graph.offsets[graph.num_vertices]) // HUB + 1

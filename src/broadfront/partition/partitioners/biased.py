"""`biased`: random, but neighbours tend to meet.

Vertices are assigned one after the other, by increasing id. With probability `factor` a vertex goes
where most of its assigned neighbours are, each part's number weighed by the room that is left in
it; otherwise, or without such neighbours, it goes anywhere by chance, in proportion to the room. So
a factor of 0 is no bias at all and 1 is full bias. A second turn over the biased vertices lets the
early ones follow neighbours that came later.

A part has room for its share of vertices and arcs together, and a tenth more. Neighbours are those
of both directions; who has none comes last and evens out the numbers of vertices. The work is
serial, as each choice depends on those before it: it takes about as long as two looks at every arc,
and its result is the same for any number of threads.

References
----------
Pan, Wang, Wu, Yang, Owens: Multi-GPU graph analytics (IPDPS 2017), for the biased random
partitioner and its factor.
Stanton, Kliot: Streaming graph partitioning for large distributed graphs (KDD 2012), for weighing
by room. Nishimura, Ugander: Restreaming graph partitioning (KDD 2013), for the second turn.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import check_time
from broadfront.graph.csr import Graph
from broadfront.graph.generate.random import key, unit
from broadfront.kernel import kernel
from broadfront.partition.wish import Wish
from broadfront.progress import report

TURNS = 2
MARGIN = 0.1
PIECE = 1 << 21  # of vertices and arcs, between two looks at Ctrl-C and the clock


def biased(graph: Graph, wish: Wish) -> NDArray[Any]:
    """Return owners by chance with a bias."""
    back = graph.transpose
    owner = np.full(graph.num_vertices, wish.count, wish.dtype)
    work = graph.num_vertices + graph.num_arcs
    load = np.zeros(wish.count)
    room = wish.shares * (work * (1 + MARGIN))
    stream = key(wish.seed, "biased")
    cuts = _cuts(graph, work)
    steps = [(turn, *cut) for turn in range(TURNS) for cut in itertools.pairwise(cuts)]
    for step, (turn, begin, end) in enumerate(steps):
        check_time()
        report("partitioning", step, len(steps))
        _assign(
            graph.offsets, graph.targets, back.offsets, back.targets, graph.directed,
            owner, load, room, wish.factor, stream, turn, begin, end,
        )  # fmt: skip
    held = np.bincount(owner, minlength=wish.count)[: wish.count].astype(np.float64)
    _even_out(owner, held, wish.shares * graph.num_vertices, stream)
    return owner


def _cuts(graph: Graph, work: int) -> list[int]:
    goals = np.arange(0, work, PIECE) * (graph.num_arcs / max(1, work))
    cuts = np.searchsorted(graph.offsets, goals).tolist()
    return sorted({0, *(min(cut, graph.num_vertices) for cut in cuts), graph.num_vertices})


@kernel
def _assign(
    offsets, targets, back_offsets, back_targets, directed,
    owner, load, room, factor, stream, turn, begin, end,
):  # fmt: skip
    count = len(load)
    near = np.zeros(count + 1, np.int64)  # the last for neighbours without an owner yet
    for vertex in range(begin, end):
        is_biased = unit(stream, 2 * vertex) < factor
        if turn > 0 and not is_biased:
            continue
        degree = offsets[vertex + 1] - offsets[vertex]
        if degree == 0 and back_offsets[vertex + 1] == back_offsets[vertex]:
            continue
        work = 1.0 + degree
        chosen = -1
        if turn > 0:
            chosen = np.int64(owner[vertex])
            load[chosen] -= work
        if is_biased:
            for arc in range(offsets[vertex], offsets[vertex + 1]):
                near[owner[np.uint64(targets[arc])]] += 1
            if directed:
                for arc in range(back_offsets[vertex], back_offsets[vertex + 1]):
                    near[owner[np.uint64(back_targets[arc])]] += 1
            near[count] = 0
            most = 0.0
            for part in range(count):
                attraction = near[part] * (1.0 - load[part] / room[part])
                near[part] = 0
                if attraction > most:
                    most = attraction
                    chosen = part
        if chosen < 0:
            chosen = _anywhere(load, room, unit(stream, 2 * vertex + 1))
        owner[vertex] = chosen
        load[chosen] += work


@kernel
def _even_out(owner, held, goal, stream):
    for vertex in range(len(owner)):
        if owner[vertex] == len(held):
            part = _anywhere(held, goal, unit(stream, 2 * vertex + 1))
            owner[vertex] = part
            held[part] += 1.0


@kernel
def _anywhere(load, room, chance):
    """Return a part by chance, in proportion to the room that is left."""
    left = 0.0
    for part in range(len(load)):
        left += max(0.0, room[part] - load[part])
    goal = chance * left
    last = 0
    for part in range(len(load)):
        free = room[part] - load[part]
        if free > 0:
            last = part
            if goal < free:
                return part
            goal -= free
    return last

"""Dense sections: something for every vertex, with or without its neighbours, and totals.

Vertices are claimed in blocks of a fixed size. What functors return is added up within a block in
the order of vertices, and over blocks in the order of blocks, so a total has the same bits for any
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import claim, nanoseconds
from broadfront.backends.cpu.operators.frontier import (
    ATOMICS,
    BEFORE,
    BLOCK,
    STATS_WORDS,
    VISITED,
    WORK,
    finish,
    prepare,
    tell,
)
from broadfront.backends.cpu.operators.totals import totals_of
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Compute, Once


def compute(operator: Compute, places: tuple[int, ...]) -> Callable[..., Any]:
    """Return the section of a `Compute`; `places` are those of its sums."""
    functor = compile_functor(operator.functor)
    begin, add, store, publish = totals_of(places)

    @inner
    def block_of_vertices(block, rank, control, graph, state, in_state, work):
        totals = begin(state)
        first = block * BLOCK
        for place in range(first, min(graph.owned, first + BLOCK)):
            totals = add(totals, functor(np.int64(graph.members[place]), state), state)
        return totals, np.int64(0)

    return dense(blocks_of_vertices, block_of_vertices, store, publish)


@inner
def blocks_of_vertices(graph, work):
    """Return how many blocks of vertices there are, and where the totals of each go."""
    return (graph.owned + BLOCK - 1) // BLOCK, work.partials


def dense(
    pieces_of: Callable[..., Any],
    piece: Callable[..., Any],
    store: Callable[..., Any],
    publish: Callable[..., Any],
) -> Callable[..., Any]:
    """Return a section that does all pieces of what concerns every vertex, and adds up totals.

    ``pieces_of(graph, work)`` returns their number and where their totals go; ``piece(number, rank,
    control, graph, state, in_state, work)`` returns the totals and how many arcs it looked at.
    """

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        began = nanoseconds()
        prepare(control, rank, turn)
        pieces, partials = pieces_of(graph, work)
        visited = np.int64(0)
        while True:
            number = claim(control, WORK + turn % 3, rank, 1)
            if number >= pieces:
                break
            totals, looked = piece(number, rank, control, graph, state, in_state, work)
            visited += looked
            store(partials, number, totals)
        atomics.store(work.stats, rank * STATS_WORDS, visited)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            publish(partials, pieces, state)
            front[BEFORE] = graph.owned
            front[VISITED] = 0
            front[ATOMICS] = 0
            for thread in range(threads):
                front[VISITED] += atomics.load(work.stats, thread * STATS_WORDS)
            tell(work, front, rank, 1, began)
        return finish(control, rank, threads, turn)

    return section


def once(operator: Once) -> Callable[..., Any]:
    """Return the section of a `Once`."""
    functor = compile_functor(operator.functor)

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        prepare(control, rank, turn)
        if rank == 0:
            functor(state)
        return finish(control, rank, threads, turn)

    return section

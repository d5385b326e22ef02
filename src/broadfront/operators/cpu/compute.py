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
from broadfront.devices.control import CURSORS, LINE, claim, nanoseconds
from broadfront.kernel import inner
from broadfront.operators.cpu.frontier import (
    ALL_SIZE,
    ATOMICS,
    BEFORE,
    BLOCK,
    PARITY,
    SIZE,
    STATS_WORDS,
    TAIL,
    VISITED,
    WORK,
    finish,
    prepare,
    tell,
)
from broadfront.operators.describe import Compute, Filter, Once, Reduce

# ---------------------------------------------------------------------- totals


def _totals(count: int, places: tuple[int, ...]) -> tuple[Callable[..., Any], ...]:
    """Return compiled functions that keep totals of a functor's answers: add, store, publish."""
    if count == 0:
        return _add_nothing, _store_nothing, _publish_nothing
    if count == 1:
        (first,) = places

        @inner
        def publish_one(partials, blocks, state):
            total = 0.0
            for block in range(blocks):
                total += partials[block]
            state[first][0] = total

        return _add_one, _store_one, publish_one
    first, second = places

    @inner
    def publish_two(partials, blocks, state):
        one, two = 0.0, 0.0
        for block in range(blocks):
            one += partials[2 * block]
            two += partials[2 * block + 1]
        state[first][0] = one
        state[second][0] = two

    return _add_two, _store_two, publish_two


@inner
def _add_nothing(totals, answer):
    return totals


@inner
def _store_nothing(partials, block, totals):
    pass


@inner
def _publish_nothing(partials, blocks, state):
    pass


@inner
def _add_one(totals, answer):
    return totals[0] + answer, 0.0


@inner
def _store_one(partials, block, totals):
    partials[block] = totals[0]


@inner
def _add_two(totals, answer):
    return totals[0] + answer[0], totals[1] + answer[1]


@inner
def _store_two(partials, block, totals):
    partials[2 * block] = totals[0]
    partials[2 * block + 1] = totals[1]


# ---------------------------------------------------------------------- sections


def compute(operator: Compute, places: tuple[int, ...]) -> Callable[..., Any]:
    """Return the section of a `Compute`; `places` are those of its sums."""
    functor = inner(operator.functor)
    add, store, publish = _totals(len(places), places)

    @inner
    def block_of_vertices(first, last, graph, state, in_state):
        totals = (0.0, 0.0)
        for place in range(first, last):
            totals = add(totals, functor(np.int64(graph.members[place]), state))
        return totals, np.int64(0)

    if operator.over == "frontier":
        return _over_frontier(functor)
    return _dense(block_of_vertices, store, publish)


def reduce(operator: Reduce, places: tuple[int, ...]) -> Callable[..., Any]:
    """Return the section of a `Reduce`; `places` are those of its sums."""
    offer = inner(operator.functor)
    apply = inner(operator.apply)
    meeting = {"sum": _plus, "min": _smaller, "max": _larger}[operator.combine]
    start = operator.start
    add, store, publish = _totals(len(places), places)

    @inner
    def block_of_vertices(first, last, graph, state, in_state):
        totals = (0.0, 0.0)
        targets = graph.in_targets
        visited = np.int64(0)
        for place in range(first, last):
            vertex = np.int64(graph.members[place])
            begin, end = np.int64(graph.in_offsets[vertex]), np.int64(graph.in_offsets[vertex + 1])
            visited += end - begin
            total = start
            for edge in range(begin, end):
                total = meeting(total, offer(np.int64(targets[edge]), vertex, edge, in_state))
            totals = add(totals, apply(vertex, total, state))
        return totals, visited

    return _dense(block_of_vertices, store, publish)


@inner
def _plus(left, right):
    return left + right


@inner
def _smaller(left, right):
    return min(left, right)


@inner
def _larger(left, right):
    return max(left, right)


def _dense(
    block_of_vertices: Callable[..., Any],
    store: Callable[..., Any],
    publish: Callable[..., Any],
) -> Callable[..., Any]:
    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        began = nanoseconds()
        prepare(control, rank, turn)
        count = graph.owned
        blocks = (count + BLOCK - 1) // BLOCK
        visited = np.int64(0)
        while True:
            block = claim(control, WORK + turn % 3, rank, 1)
            if block >= blocks:
                break
            first = block * BLOCK
            totals, looked = block_of_vertices(
                first, min(count, first + BLOCK), graph, state, in_state
            )
            visited += looked
            store(work.partials, block, totals)
        atomics.store(work.stats, rank * STATS_WORDS, visited)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            publish(work.partials, blocks, state)
            front[BEFORE] = count
            front[VISITED] = 0
            front[ATOMICS] = 0
            for thread in range(threads):
                front[VISITED] += atomics.load(work.stats, thread * STATS_WORDS)
            tell(work, front, rank, 1, began)
        return finish(control, rank, threads, turn)

    return section


def once(operator: Once) -> Callable[..., Any]:
    """Return the section of a `Once`."""
    functor = inner(operator.functor)

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        prepare(control, rank, turn)
        if rank == 0:
            functor(state)
        return finish(control, rank, threads, turn)

    return section


def _over_frontier(functor: Callable[..., Any]) -> Callable[..., Any]:
    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        prepare(control, rank, turn)
        queue = work.other_queue if front[PARITY] == 1 else work.queue
        size = front[SIZE]
        while True:
            begin = claim(control, WORK + turn % 3, rank, BLOCK)
            if begin >= size:
                break
            for place in range(begin, min(size, begin + BLOCK)):
                functor(np.int64(queue[place]), state)
        return finish(control, rank, threads, turn)

    return section


def filtered(operator: Filter) -> Callable[..., Any]:
    """Return the section of a `Filter`."""
    keep = inner(operator.functor)

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        prepare(control, rank, turn)
        odd = front[PARITY] == 1
        queue = work.other_queue if odd else work.queue
        following = work.queue if odd else work.other_queue
        size = front[SIZE]
        while True:
            begin = claim(control, WORK + turn % 3, rank, BLOCK)
            if begin >= size:
                break
            for place in range(begin, min(size, begin + BLOCK)):
                vertex = queue[place]
                if keep(np.int64(vertex), state):
                    end = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), 1)
                    following[end] = vertex
        after = finish(control, rank, threads, turn)
        front[SIZE] = atomics.load(control, CURSORS + LINE * (TAIL + turn % 3))
        front[ALL_SIZE] = front[SIZE]
        front[PARITY] = 0 if odd else 1
        return after

    return section

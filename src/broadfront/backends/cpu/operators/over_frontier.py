"""Something for every vertex of the frontier, be it a queue or a bitmap: visit, and filter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE, claim, keep_pace, nanoseconds
from broadfront.backends.cpu.operators.frontier import (
    ALL_SIZE,
    ATOMICS,
    BEFORE,
    BLOCK,
    MARKS,
    OTHER_QUEUE,
    PARITY,
    PULLING,
    QUEUE,
    SIZE,
    STATS_WORDS,
    TAIL,
    VISITED,
    WORK,
    finish,
    prepare,
    tell,
)
from broadfront.backends.cpu.operators.queues import has_room, queue_at
from broadfront.backends.cpu.operators.totals import totals_of
from broadfront.bits import count_ones, trailing_zeros
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Compute, Filter
from broadfront.pointers import shifted
from broadfront.report.ways import DENSE

WORDS_PER_TURN = 16


def over_frontier(operator: Compute, places: tuple[int, ...]) -> Callable[..., Any]:
    """Return the section of a `Compute` over the frontier; `places` are those of its sums."""
    functor = compile_functor(operator.functor)

    @inner
    def at_vertex(vertex, graph, state, in_state):
        return functor(vertex, state), np.int64(0)

    return each_of_frontier(at_vertex, places, BLOCK)


def each_of_frontier(
    at_vertex: Callable[..., Any], places: tuple[int, ...], grain: int
) -> Callable[..., Any]:
    """Return a section that visits every vertex of the frontier, `grain` of a queue per turn.

    ``at_vertex(vertex, graph, state, in_state)`` returns what is added up into the fields at
    `places`, and how many arcs it looked at. Where there are sums, `grain` must be `BLOCK`.
    """
    begin_totals, add, store, publish = totals_of(places)
    sums = len(places)

    @inner
    def queued(rank, control, queue, size, graph, state, in_state, partials, turn):
        visited = np.int64(0)
        while True:
            begin = claim(control, WORK + turn % 3, rank, grain)
            if begin >= size:
                return (size + grain - 1) // grain, visited
            totals = begin_totals(state)
            for place in range(begin, min(size, begin + grain)):
                answer, looked = at_vertex(np.int64(queue[place]), graph, state, in_state)
                totals = add(totals, answer, state)
                visited += looked
                keep_pace(control)
            store(partials, begin // grain, totals)

    @inner
    def marked(rank, control, bits, words, graph, state, in_state, partials, turn):
        visited = np.int64(0)
        while True:
            begin = claim(control, WORK + turn % 3, rank, WORDS_PER_TURN)
            if begin >= words:
                return (words + WORDS_PER_TURN - 1) // WORDS_PER_TURN, visited
            totals = begin_totals(state)
            for word in range(begin, min(words, begin + WORDS_PER_TURN)):
                left = bits[word]
                while left != 0:
                    vertex = (word << 6) + np.int64(trailing_zeros(left))
                    answer, looked = at_vertex(vertex, graph, state, in_state)
                    totals = add(totals, answer, state)
                    visited += looked
                    keep_pace(control)
                    left &= left - np.uint64(1)
            store(partials, begin // WORDS_PER_TURN, totals)

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        began = nanoseconds()
        prepare(control, rank, turn)
        odd = front[PARITY] == 1
        if front[PULLING] == 1:
            words = (graph.num_vertices + 63) >> 6
            bits = work.other_bits if odd else work.bits
            pieces, visited = marked(
                rank, control, bits, words, graph, state, in_state, work.partials, turn
            )
        else:
            queue, size = queue_at(work, odd), front[SIZE]
            pieces, visited = queued(
                rank, control, queue, size, graph, state, in_state, work.partials, turn
            )
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, visited)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        front[BEFORE], front[VISITED], front[ATOMICS] = front[SIZE], 0, 0
        for thread in range(threads):
            front[VISITED] += atomics.load(stats, thread * STATS_WORDS)
        if sums:
            prepare(control, rank, turn)
            if rank == 0:
                publish(work.partials, pieces, state)
            turn = finish(control, rank, threads, turn)
        tell(work, front, rank, DENSE, began)
        return turn

    return section


def filtered(operator: Filter, has_marks: bool) -> Callable[..., Any]:
    """Return the section of a `Filter`.

    Who is dropped may join again later, so where an `Advance` has left a mark it is cleared.
    """
    keep = compile_functor(operator.functor)

    @inner
    def from_queue(rank, control, queue, following, size, marks, state, turn):
        while True:
            begin = claim(control, WORK + turn % 3, rank, BLOCK)
            if begin >= size:
                break
            for place in range(begin, min(size, begin + BLOCK)):
                vertex = np.int64(queue[place])
                if keep(vertex, state):
                    end = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), 1)
                    following[end] = vertex
                elif has_marks:
                    atomics.store(marks, vertex >> 6, np.uint64(0))

    @inner
    def from_bits(rank, control, bits, words, state, turn):
        """Clear the bits of those dropped; return how many are kept."""
        kept = np.int64(0)
        while True:
            begin = claim(control, WORK + turn % 3, rank, WORDS_PER_TURN)
            if begin >= words:
                return kept
            for word in range(begin, min(words, begin + WORDS_PER_TURN)):
                left, staying = bits[word], np.uint64(0)
                while left != 0:
                    bit = trailing_zeros(left)
                    left &= left - np.uint64(1)
                    if keep((word << 6) + np.int64(bit), state):
                        staying |= np.uint64(1) << np.uint64(bit)
                bits[word] = staying
                kept += np.int64(count_ones(staying))

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        prepare(control, rank, turn)
        odd = front[PARITY] == 1
        words = (graph.num_vertices + 63) >> 6
        if front[PULLING] == 1:
            bits = work.other_bits if odd else work.bits
            kept = from_bits(rank, control, bits, words, state, turn)
            atomics.store(work.stats, rank * STATS_WORDS, kept)
            after = finish(control, rank, threads, turn)
            front[SIZE] = 0
            for thread in range(threads):
                front[SIZE] += atomics.load(work.stats, thread * STATS_WORDS)
            front[ALL_SIZE] = front[SIZE]
            if after < 0:
                return after
            prepare(control, rank, after)
            return finish(control, rank, threads, after)
        other = QUEUE if odd else OTHER_QUEUE
        if not has_room(rank, threads, control, work, front, other, front[SIZE]):
            return finish(control, rank, threads, turn)
        queue, following = queue_at(work, odd), queue_at(work, not odd)
        marks = shifted(work.marks, words if front[MARKS] == 1 else 0)
        from_queue(rank, control, queue, following, front[SIZE], marks, state, turn)
        after = finish(control, rank, threads, turn)
        front[SIZE] = atomics.load(control, CURSORS + LINE * (TAIL + turn % 3))
        front[ALL_SIZE] = front[SIZE]
        front[PARITY] = 0 if odd else 1
        return after

    return section

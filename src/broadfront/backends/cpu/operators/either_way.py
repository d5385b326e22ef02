"""Push or pull, whichever costs less.

A push costs the edges that leave the frontier; a pull costs a part of the edges that enter the
vertices still wanting, and a look at every word of the bitmap. The choice goes by the edges of the
frontier against those not yet explored, as in Beamer's direction-optimizing search. The queue
becomes a bitmap, or the bitmap a queue, only when the direction turns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import INCOMING_WANTED, LINE, ONE_WAY, nanoseconds, stop
from broadfront.backends.cpu.operators.frontier import (
    ALL_BEFORE,
    ALL_EDGES,
    ALL_SIZE,
    ATOMICS,
    BEFORE,
    EDGES,
    PARITY,
    PULLING,
    SIZE,
    STATS_WORDS,
    UNEXPLORED,
    VISITED,
    finish,
    prepare,
    share,
    tell,
)
from broadfront.backends.cpu.operators.queues import queue_at, to_queue
from broadfront.kernel import inner
from broadfront.pointers import shifted
from broadfront.report.ways import PULL

ALPHA = 15
"""Pull when the frontier has more than this share of the edges not yet explored."""
BETA = 18
"""Push again when the frontier has less than this share of the vertices."""


def either_way(
    pushed: Callable[..., Any],
    pull_step: Callable[..., Any],
    wanted: Callable[..., Any],
    place: int,
    direction: str | None,
    announced: Callable[..., Any],
    wanting_changes: bool = False,
) -> Callable[..., Any]:
    """Return the section that pushes or pulls, and turns the frontier into what that needs.

    With `wanting_changes` who wants proposals is found out before every pull, and not at the turn
    alone.
    """
    always_pull = direction == "pull"
    if wanting_changes:
        announced = _wanting_anew(announced, wanted)

    @inner
    def to_bitmap(rank, threads, control, graph, state, work, front, turn):
        """Make the queue a bitmap, and find who wants proposals."""
        prepare(control, rank, turn)
        size, odd = front[SIZE], front[PARITY] == 1
        queue = queue_at(work, odd)
        count = graph.num_vertices
        words = (count + 63) >> 6
        first, last = share(words, rank, threads)
        offsets = graph.in_offsets
        for word in range(first, last):
            work.bits[word] = np.uint64(0)
            work.marks[word] = np.uint64(0)
            work.marks[words + word] = np.uint64(0)
            wanting = np.uint64(0)
            for vertex in range(word << 6, min(count, (word + 1) << 6)):
                has_row = np.uint64(offsets[vertex + 1] != offsets[vertex])
                wants = has_row & np.uint64(bool(wanted(vertex, state)))
                wanting |= wants << np.uint64(vertex & 63)
            work.wanting[word] = wanting
        if rank == 0:
            work.wanting[words] = np.uint64(0)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        begin, end = share(size, rank, threads)
        word, found = np.int64(0), np.uint64(0)  # many in a row are of one word
        for position in range(begin, end):
            vertex = np.int64(queue[position])
            if vertex >> 6 != word:
                atomics.bitwise_or(work.bits, word, found)
                word, found = vertex >> 6, np.uint64(0)
            found |= np.uint64(1) << np.uint64(vertex & 63)
        atomics.bitwise_or(work.bits, word, found)
        front[PULLING] = 1
        front[PARITY] = 0
        return finish(control, rank, threads, turn)

    @inner
    def pulled(rank, threads, control, graph, in_state, work, front, turn):
        began = nanoseconds()
        prepare(control, rank, turn)
        odd = front[PARITY] == 1
        bits = work.other_bits if odd else work.bits
        following = work.bits if odd else work.other_bits
        words = (graph.num_vertices + 63) >> 6
        size, visited = pull_step(
            rank, control, graph, in_state, in_state[place], bits, work.wanting, following, words,
            turn,
        )  # fmt: skip
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, size)
        atomics.store(stats, rank * STATS_WORDS + 1, visited)
        atomics.store(stats, rank * STATS_WORDS + 2, 0)
        after = finish(control, rank, threads, turn)
        add_up(stats, front, threads)
        front[BEFORE] = front[SIZE]
        front[SIZE] = front[EDGES]
        front[EDGES] = 1
        front[PARITY] = 0 if odd else 1
        count_all(front)
        tell(work, front, rank, PULL, began)
        return after

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        count, size = graph.all_vertices, front[ALL_SIZE]
        if front[PULLING] == 0:
            edges = front[ALL_EDGES]
            worth = edges > front[UNEXPLORED] // ALPHA and edges > count >> 5
            if always_pull or worth:
                if control[ONE_WAY] != 0:  # all threads see the same, and leave without a meeting
                    stop(control, INCOMING_WANTED)
                    return -turn - 1
                turn = to_bitmap(rank, threads, control, graph, state, work, front, turn)
        elif not always_pull and size < count // BETA and size < front[ALL_BEFORE]:
            turn = to_queue(rank, threads, control, graph, work, front, turn)
        if turn < 0:
            return turn
        if front[PULLING] == 1:
            turn = announced(rank, threads, control, graph, state, in_state, work, front, turn)
            if turn < 0:
                return turn
            return pulled(rank, threads, control, graph, in_state, work, front, turn)
        return pushed(rank, threads, control, graph, state, in_state, work, front, turn)

    return section


def _wanting_anew(announced: Callable[..., Any], wanted: Callable[..., Any]) -> Callable[..., Any]:
    """Return what comes before a pull, and finds out who wants proposals."""

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        turn = announced(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        count, offsets = graph.num_vertices, graph.in_offsets
        first, last = share((count + 63) >> 6, rank, threads)
        for word in range(first, last):
            wanting = np.uint64(0)
            for vertex in range(word << 6, min(count, (word + 1) << 6)):
                has_row = np.uint64(offsets[vertex + 1] != offsets[vertex])
                wants = has_row & np.uint64(bool(wanted(vertex, state)))
                wanting |= wants << np.uint64(vertex & 63)
            work.wanting[word] = wanting
        return finish(control, rank, threads, turn)

    return section


@inner
def add_up(stats, front, threads):
    """Add up what the threads of a device have counted."""
    front[EDGES] = 0
    front[VISITED] = 0
    front[ATOMICS] = 0
    for thread in range(threads):
        front[EDGES] += atomics.load(stats, thread * STATS_WORDS)
        front[VISITED] += atomics.load(stats, thread * STATS_WORDS + 1)
        front[ATOMICS] += atomics.load(stats, thread * STATS_WORDS + 2)


@inner
def count_all(front):
    """Count for all devices what has been counted for one, until they agree on more."""
    front[ALL_BEFORE] = front[ALL_SIZE]
    front[ALL_SIZE] = front[SIZE]
    front[ALL_EDGES] = front[EDGES]

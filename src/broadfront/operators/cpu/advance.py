"""Advance on a CPU: one iteration of a traversal, pushed or pulled, whichever costs less.

A push costs the edges that leave the frontier; a pull costs a part of the edges that enter the
vertices still wanting, and a look at every word of the bitmap. The choice goes by the edges of the
frontier against those not yet explored, as in Beamer's direction-optimizing search. The queue
becomes a bitmap, or the bitmap a queue, only when the direction turns.

Two threads that improve a vertex at once may both put it into the next queue, which has a place for
every vertex and few more. A queue that would be longer is made anew from a bitmap of all in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.devices.control import CURSORS, LINE, nanoseconds
from broadfront.kernel import inner
from broadfront.operators.cpu.combine import combining
from broadfront.operators.cpu.frontier import (
    ALL_BEFORE,
    ALL_EDGES,
    ALL_SIZE,
    ATOMICS,
    BEFORE,
    BY_DEGREE,
    BY_EDGES,
    BY_VERTEX,
    EDGES,
    LOCAL_WORDS,
    MARKS,
    OTHER_QUEUE,
    PARITY,
    PULL,
    PULLING,
    QUEUE,
    SIZE,
    SLACK,
    STATS_WORDS,
    SUMS,
    TAIL,
    UNEXPLORED,
    VISITED,
    finish,
    prepare,
    share,
    tell,
)
from broadfront.operators.cpu.pull import pull
from broadfront.operators.cpu.push_by_degree import push_by_degree
from broadfront.operators.cpu.push_by_edges import push_by_edges
from broadfront.operators.cpu.push_by_vertex import push_by_vertex
from broadfront.operators.cpu.queues import (
    condense,
    has_room,
    places_for_push,
    queue_at,
    to_queue,
)
from broadfront.operators.cpu.walk import Following, Rules
from broadfront.operators.describe import Advance, Field
from broadfront.pointers import shifted

ALPHA = 15
"""Pull when the frontier has more than this share of the edges not yet explored."""
BETA = 18
"""Push again when the frontier has less than this share of the vertices."""


PUSHES = {
    "by_vertex": (push_by_vertex, BY_VERTEX),
    "by_degree": (push_by_degree, BY_DEGREE),
    "by_edges": (push_by_edges, BY_EDGES),
}
"""The ways to share a push, and their bits in the record."""


@inner
def _anyone(vertex, state):
    return True


class Crossing(NamedTuple):
    """What an `Advance` needs beyond one device."""

    is_ghost: Callable[..., Any]
    """`is_ghost(vertex, graph)` tells whether another device owns a vertex."""
    announce: Callable[..., Any]
    """The section before a pull, which tells ghosts who is in the frontier."""
    collect: Callable[..., Any]
    """``collect(combine, joins)`` is the section after a push, which tells owners."""


def advance(
    operator: Advance,
    fields: dict[str, Field],
    names: tuple[str, ...],
    crossing: Crossing | None = None,
) -> Callable[..., Any]:
    """Return the section that runs one iteration of `operator`; `names` are those of the state."""
    place = names.index(operator.into)
    note = _no_note if operator.trail is None else _noting(names.index(operator.trail))
    field = fields[operator.into]
    fill = np.dtype(field.dtype).type(field.fill)
    combine = combining(field.combine or "min", fill)
    propose = inner(operator.functor)
    wanted = _anyone if operator.while_ is None else inner(operator.while_)
    joins = _joining(operator, field, fill, crossing)
    rules = Rules(propose, wanted, combine, joins, note)
    push, way = PUSHES[operator.balance or "by_degree"]
    joins_again = operator.enters is None and field.combine != "any"
    pushed = _pushed(push(rules), _unmark if joins_again else _leave, place, way)
    announce = _stay
    if crossing is not None:
        pushed = _in_order(pushed, crossing.collect(combine, joins))
        announce = crossing.announce
    if not operator.may_pull:
        return pushed
    pull_step = pull(propose, wanted, combine, note)
    return _either(pushed, pull_step, wanted, place, operator.direction, announce)


@inner
def _stay(rank, threads, control, graph, state, in_state, work, front, turn):
    return turn


def _in_order(first: Callable[..., Any], second: Callable[..., Any]) -> Callable[..., Any]:
    @inner
    def both(rank, threads, control, graph, state, in_state, work, front, turn):
        turn = first(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        return second(rank, threads, control, graph, state, in_state, work, front, turn)

    return both


@inner
def _no_note(state, vertex, source):
    pass


def _noting(place: int) -> Callable[..., Any]:
    @inner
    def note(state, vertex, source):
        state[place][vertex] = state.ids[source]

    return note


def _joining(
    operator: Advance, field: Field, fill: Any, crossing: Crossing | None
) -> Callable[..., Any]:
    """Return the test whether an improved vertex joins the next frontier.

    A vertex improved for the first time ever joins at once; one that was improved before must be
    the first to set its mark, since it may have joined in this iteration already. That lets it join
    twice, which a sum would feel, and several devices too: there only the mark counts. A copy of
    another device's vertex joins to be sent to its owner, who is then asked.
    """
    if operator.enters is not None:
        enters = inner(operator.enters)
        if crossing is None:

            @inner
            def as_told(vertex, before, after, state, marks, graph):
                return enters(vertex, before, after, state)

            return as_told
        is_ghost = crossing.is_ghost

        @inner
        def as_told_by_owner(vertex, before, after, state, marks, graph):
            if is_ghost(vertex, graph):
                return _marks_first(vertex, marks)
            return enters(vertex, before, after, state)

        return as_told_by_owner
    only_marks = field.combine == "sum" or crossing is not None

    @inner
    def once(vertex, before, after, state, marks, graph):
        if not only_marks and before == fill:
            return True
        return _marks_first(vertex, marks)

    return once


@inner
def _marks_first(vertex, marks):
    mark = np.uint64(1) << np.uint64(vertex & 63)
    return atomics.bitwise_or(marks, vertex >> 6, mark) & mark == 0


@inner
def _leave(queue, begin, end, marks):
    pass


@inner
def _unmark(queue, begin, end, marks):
    for place in range(begin, end):
        vertex = np.int64(queue[place])
        if marks[vertex >> 6] != 0:
            atomics.store(marks, vertex >> 6, np.uint64(0))


def _pushed(
    push_step: Callable[..., Any], unmark: Callable[..., Any], place: int, way: int
) -> Callable[..., Any]:
    adds_up = way == BY_EDGES

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        began = nanoseconds()
        prepare(control, rank, turn)
        odd, marked = front[PARITY] == 1, front[MARKS] == 1
        needed = places_for_push(graph, front)
        other = QUEUE if odd else OTHER_QUEUE
        if not has_room(rank, threads, control, work, front, other, needed):
            return finish(control, rank, threads, turn)
        if adds_up and not has_room(rank, threads, control, work, front, SUMS, front[SIZE] + 1):
            return finish(control, rank, threads, turn)
        queue, following = queue_at(work, odd), queue_at(work, not odd)
        words = (graph.num_vertices + 63) >> 6
        ahead = shifted(work.marks, 0 if marked else words)
        behind = shifted(work.marks, words if marked else 0)
        size = front[SIZE]
        begin, end = share(size, rank, threads)
        unmark(queue, begin, end, behind)
        edges, visited, settled = push_step(
            rank, threads, control, graph, state, state[place], queue,
            Following(following, work.spill), shifted(work.local, rank * LOCAL_WORDS), work, ahead,
            size, turn,
        )  # fmt: skip
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, edges)
        atomics.store(stats, rank * STATS_WORDS + 1, visited)
        atomics.store(stats, rank * STATS_WORDS + 2, settled)
        after = finish(control, rank, threads, turn)
        front[UNEXPLORED] -= front[ALL_EDGES]
        _add_up(stats, front, threads)
        front[BEFORE] = size
        front[SIZE] = atomics.load(control, CURSORS + LINE * (TAIL + turn % 3))
        front[PARITY] = 0 if odd else 1
        front[MARKS] = 0 if marked else 1
        if after >= 0 and front[SIZE] > graph.num_vertices + SLACK:
            after = condense(rank, threads, control, graph, following, work, front, after)
        _count_all(front)
        tell(work, front, rank, way, began)
        return after

    return section


@inner
def _add_up(stats, front, threads):
    front[EDGES] = 0
    front[VISITED] = 0
    front[ATOMICS] = 0
    for thread in range(threads):
        front[EDGES] += atomics.load(stats, thread * STATS_WORDS)
        front[VISITED] += atomics.load(stats, thread * STATS_WORDS + 1)
        front[ATOMICS] += atomics.load(stats, thread * STATS_WORDS + 2)


@inner
def _count_all(front):
    """Count for all devices what has been counted for one, until they agree on more."""
    front[ALL_BEFORE] = front[ALL_SIZE]
    front[ALL_SIZE] = front[SIZE]
    front[ALL_EDGES] = front[EDGES]


def _either(
    pushed: Callable[..., Any],
    pull_step: Callable[..., Any],
    wanted: Callable[..., Any],
    place: int,
    direction: str | None,
    announced: Callable[..., Any],
) -> Callable[..., Any]:
    always_pull = direction == "pull"

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
        for position in range(begin, end):
            vertex = np.int64(queue[position])
            atomics.bitwise_or(work.bits, vertex >> 6, np.uint64(1) << np.uint64(vertex & 63))
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
        _add_up(stats, front, threads)
        front[BEFORE] = front[SIZE]
        front[SIZE] = front[EDGES]
        front[EDGES] = 1
        front[PARITY] = 0 if odd else 1
        _count_all(front)
        tell(work, front, rank, PULL, began)
        return after

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        count, size = graph.all_vertices, front[ALL_SIZE]
        if front[PULLING] == 0:
            edges = front[ALL_EDGES]
            worth = edges > front[UNEXPLORED] // ALPHA and edges > count >> 5
            if always_pull or worth:
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

"""Advance on a CPU: one iteration of a traversal, pushed or pulled, by all threads or by one.

Two threads that improve a vertex at once may both put it into the next queue, which has a place for
every vertex and few more. A queue that would be longer is made anew from a bitmap of all in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import (
    CURSORS,
    LINE,
    nanoseconds,
    poll_at,
    stopped,
)
from broadfront.backends.cpu.operators.combine import combining
from broadfront.backends.cpu.operators.either_way import add_up, count_all, either_way
from broadfront.backends.cpu.operators.frontier import (
    ALL_EDGES,
    ALL_SIZE,
    ATOMICS,
    BEFORE,
    CLOCK,
    EDGES,
    ITERATION,
    LOCAL_WORDS,
    MARKS,
    OTHER_QUEUE,
    PARITY,
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
from broadfront.backends.cpu.operators.joins import joining
from broadfront.backends.cpu.operators.pull import pull
from broadfront.backends.cpu.operators.push_alone import push_alone
from broadfront.backends.cpu.operators.push_by_degree import push_by_degree
from broadfront.backends.cpu.operators.push_by_edges import push_by_edges
from broadfront.backends.cpu.operators.push_by_vertex import push_by_vertex
from broadfront.backends.cpu.operators.queues import (
    condense,
    has_room,
    places_for_push,
    queue_at,
)
from broadfront.backends.cpu.operators.solo import FEW
from broadfront.backends.cpu.operators.walk import Following, Rules
from broadfront.functors import compile_functor
from broadfront.kernel import inlined, inner
from broadfront.operators.describe import Advance, Field
from broadfront.pointers import prefetch, shifted
from broadfront.report.ways import BY_DEGREE, BY_EDGES, BY_VERTEX

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
    runs_on: bool
    """Whether a device may go on by itself: the phase is this operator alone, without an end."""


def advance(
    operator: Advance,
    fields: dict[str, Field],
    names: tuple[str, ...],
    crossing: Crossing | None = None,
    exact: bool = False,
    wanting_changes: bool = False,
) -> Callable[..., Any]:
    """Return the section that runs one iteration of `operator`; `names` are those of the state.

    `exact` has every vertex in the next frontier once; `wanting_changes` tells that `cond` may come
    to say something else by more than the proposals of this operator.
    """
    place = names.index(operator.into)
    note, note_ahead = _noting(operator.record_source, names)
    field = fields[operator.into]
    combine = combining(field)
    propose = compile_functor(operator.functor)
    wanted = _anyone if operator.cond is None else compile_functor(operator.cond)
    joins = joining(operator, field, place, None if crossing is None else crossing.is_ghost, exact)
    rules = Rules(propose, wanted, combine, joins, note, note_ahead)
    push, way = PUSHES[operator.balance or "by_degree"]
    marks = operator.activate is None and (field.combine != "any" or exact or crossing is not None)
    unmark = _unmark if marks else _leave
    pushed = _pushed(push(rules), _pushed_alone(rules, unmark, place, way), unmark, place, way)
    announce = _stay
    if crossing is not None:
        if crossing.runs_on:
            pushed = _running_on(pushed, crossing.is_ghost)
        pushed = _in_order(pushed, crossing.collect(combine, joins))
        announce = crossing.announce
    if not operator.may_pull:
        return pushed
    pull_step = pull(propose, wanted, combine, note)
    return either_way(
        pushed, pull_step, wanted, place, operator.direction, announce, wanting_changes
    )


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


def _running_on(push: Callable[..., Any], is_ghost: Callable[..., Any]) -> Callable[..., Any]:
    """Return a push that goes on while the whole frontier is this device's, and small.

    The others wait for its next message meanwhile, and learn from it how far it has come.
    """

    @inner
    def crosses(queue, size, graph):
        for place in range(size):
            if is_ghost(np.int64(queue[place]), graph):
                return True
        return False

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        only = front[SIZE] == front[ALL_SIZE]
        while True:
            turn = push(rank, threads, control, graph, state, in_state, work, front, turn)
            if turn < 0 or not only or front[SIZE] == 0 or front[EDGES] >= 2 * FEW:
                return turn
            if crosses(queue_at(work, front[PARITY] == 1), front[SIZE], graph):
                return turn
            front[ITERATION] += 1

    return section


def _noting(name: str | None, names: tuple[str, ...]) -> tuple[Callable[..., Any], ...]:
    """Return what notes the source of a proposal that counts, and what asks for that memory."""
    if name is None:
        return _no_note, _nothing_ahead
    place = names.index(name)

    @inner
    def note(state, vertex, source):
        state[place][vertex] = state.ids[source]

    @inlined
    def ahead(state, vertex):
        prefetch(state[place], vertex)

    return note, ahead


@inner
def _no_note(state, vertex, source):
    pass


@inlined
def _nothing_ahead(state, vertex):
    pass


@inner
def _leave(queue, begin, end, marks):
    pass


@inner
def _unmark(queue, begin, end, marks):
    for place in range(begin, end):
        vertex = np.int64(queue[place])
        if marks[vertex >> 6] != 0:
            atomics.store(marks, vertex >> 6, np.uint64(0))


def _pushed_alone(
    rules: Rules, unmark: Callable[..., Any], place: int, way: int
) -> Callable[..., Any]:
    """Return the push by one thread, which meets nobody."""
    push_step = push_alone(rules)

    @inner
    def section(control, graph, state, work, front, turn):
        began = front[CLOCK]
        odd, marked = front[PARITY] == 1, front[MARKS] == 1
        needed = places_for_push(graph, front)
        if not has_room(0, 1, control, work, front, QUEUE if odd else OTHER_QUEUE, needed):
            return -turn - 1
        queue, following = queue_at(work, odd), queue_at(work, not odd)
        words = (graph.num_vertices + 63) >> 6
        size = front[SIZE]
        unmark(queue, 0, size, shifted(work.marks, words if marked else 0))
        front[UNEXPLORED] -= front[ALL_EDGES]
        front[SIZE], front[EDGES], front[VISITED] = push_step(
            control, graph, state, state[place], queue, following, work.spill,
            shifted(work.marks, 0 if marked else words), size,
        )  # fmt: skip
        front[ATOMICS] = 0
        front[BEFORE] = size
        front[PARITY] = 0 if odd else 1
        front[MARKS] = 0 if marked else 1
        if front[SIZE] > graph.num_vertices + SLACK:
            turn = condense(0, 1, control, graph, following, work, front, turn)
        count_all(front)
        tell(work, front, 0, way, began)
        poll_at(control, front[CLOCK])
        return -turn - 1 if stopped(control) else turn

    return section


def _pushed(
    push_step: Callable[..., Any],
    alone: Callable[..., Any],
    unmark: Callable[..., Any],
    place: int,
    way: int,
) -> Callable[..., Any]:
    adds_up = way == BY_EDGES

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        if threads == 1:
            return alone(control, graph, state, work, front, turn)
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
        add_up(stats, front, threads)
        front[BEFORE] = size
        front[SIZE] = atomics.load(control, CURSORS + LINE * (TAIL + turn % 3))
        front[PARITY] = 0 if odd else 1
        front[MARKS] = 0 if marked else 1
        if after >= 0 and front[SIZE] > graph.num_vertices + SLACK:
            after = condense(rank, threads, control, graph, following, work, front, after)
        count_all(front)
        tell(work, front, rank, way, began)
        return after

    return section

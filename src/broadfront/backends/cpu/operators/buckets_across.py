"""Buckets on many devices: copies that have improved go to their owners, and into buckets there.

While a bucket is walked, each copy of another device's vertex that improves is gathered once; then
all of them are sent, and what has come from others is put into buckets like anything else. One
device has nothing to send, and its loop is as if there were no others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE, stopped
from broadfront.backends.cpu.operators.buckets import AWAY, put_into
from broadfront.backends.cpu.operators.frontier import (
    BASE,
    LOCAL,
    OTHER_QUEUE,
    PARITY,
    QUEUE,
    SIZE,
    TAIL,
    finish,
    prepare,
    share,
)
from broadfront.backends.cpu.operators.queues import has_room, queue_at
from broadfront.kernel import inlined, inner


class BucketCrossing(NamedTuple):
    """What a prioritised `Advance` needs beyond one device."""

    is_ghost: Callable[..., Any]
    """`is_ghost(vertex, graph)` tells whether another device owns a vertex."""
    collect: Callable[..., Any]
    """``collect(combine, joins)`` is the section that brings copies to their owners."""
    agree: Callable[..., Any]
    """Has all devices agree on the next bucket, the goal's, the edges traversed and those of
    vertices served before, the last two on average; a meeting."""
    position: Callable[..., Any]
    """`position(id, graph, state)` is the place of a vertex of the graph, negative if elsewhere."""


@inlined
def _never(vertex, graph):
    return False


@inner
def _as_here(rank, threads, control, work, front, turn, following, goal, edges, again):
    return turn, following, goal, edges, again


@inner
def _as_it_is(vertex, graph, state):
    return vertex


ALONE = BucketCrossing(_never, lambda combine, joins: None, _as_here, _as_it_is)


@inner
def marks_first(vertex, before, after, state, marks, graph):
    """Tell whether a vertex that has come from another device is the first of its kind."""
    mark = np.uint64(1) << np.uint64(vertex & 63)
    return atomics.bitwise_or(marks, vertex >> 6, mark) & mark == 0


@inner
def flush(away):
    """Append the copies that a thread has gathered to the queue of those to be sent."""
    local, queue, _, tops, control, turn = away
    begin = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), tops[AWAY])
    for entry in range(tops[AWAY]):
        queue[begin + entry] = local[entry]
    tops[AWAY] = 0


@inner
def gather(vertex, away):
    """Gather a copy that has improved, once, to be sent to its owner."""
    local, _, marks, tops, _, _ = away
    mark = np.uint64(1) << np.uint64(vertex & 63)
    if atomics.bitwise_or(marks, vertex >> 6, mark) & mark == 0:
        local[tops[AWAY]] = vertex
        tops[AWAY] += 1
        if tops[AWAY] == LOCAL:
            flush(away)


def crossed(
    collect: Callable[..., Any] | None, bucket_of: Callable[..., Any]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions that have queues hold all copies, and that send these to their owners.

    Without `collect` there is one device, and they do nothing.
    """
    if collect is None:

        @inner
        def fit(rank, threads, control, work, front):
            return True

        @inner
        def stay(rank, threads, control, graph, state, in_state, work, front, turn, ring, away):
            return -turn - 1 if stopped(control) and threads == 1 else turn

        return fit, stay

    @inner
    def room_for_copies(rank, threads, control, work, front):
        starts = work.mail.ghost_starts
        copies = max(front[SIZE], starts[work.mail.devices] - starts[0])
        return has_room(rank, threads, control, work, front, QUEUE, copies) and has_room(
            rank, threads, control, work, front, OTHER_QUEUE, copies
        )

    @inner
    def cross(rank, threads, control, graph, state, in_state, work, front, turn, ring, away):
        flush(away)
        after = finish(control, rank, threads, turn)
        if after < 0:
            return after
        front[SIZE] = atomics.load(control, CURSORS + LINE * (TAIL + turn % 3))
        turn = collect(rank, threads, control, graph, state, in_state, work, front, after)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        per_width = work.buckets.per_width
        queue = queue_at(work, front[PARITY] == 1)
        first, last = share(front[SIZE], rank, threads)
        for position in range(first, last):
            vertex = np.int64(queue[position])
            put_into(vertex, bucket_of(vertex, state, per_width), front[BASE], ring)
            atomics.store(work.marks, vertex >> 6, np.uint64(0))
        return turn

    return room_for_copies, cross

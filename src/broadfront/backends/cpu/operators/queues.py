"""The two queues of a run and their sums, as compiled code finds them and makes them larger.

Before an operator writes into a queue, its threads compare what may come with the room that there
is; all of them see the same numbers, so all of them meet for it to grow, or none does. A queue
grows by half at least, so that it seldom does, but where a limit is near by what is needed alone.
What an earlier run has left is taken into use without a meeting.

Invariant: room for `min(edges, vertices) + SLACK` is room for a push, whatever it finds: each edge
brings one vertex at most, and what is beyond a place per vertex goes into the bitmap `spill`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import (
    BROKEN,
    CURSORS,
    FAULT,
    FIRST,
    LINE,
    STOP,
    barrier,
    gathered,
)
from broadfront.backends.cpu.device.growing import ALLOCATION, GROWTHS, HELD, LIMIT, enlarged
from broadfront.backends.cpu.operators.frontier import (
    EDGES,
    GRANTED,
    ITEM,
    MOST,
    NEED,
    OTHER_QUEUE,
    PARITY,
    PULLING,
    QUEUE,
    ROOM,
    SIZE,
    SLACK,
    SPARE,
    STATS_WORDS,
    SUMS,
    finish,
    prepare,
    share,
)
from broadfront.bits import count_ones, trailing_zeros
from broadfront.kernel import inner
from broadfront.pointers import address_in, at, shifted


@inner
def queue_at(work, odd):
    """Return the queue whose turn it is: the first, or where `odd` the other one."""
    return at(address_in(work.growing, 2 * OTHER_QUEUE if odd else 2 * QUEUE), work.local)


@inner
def sums_at(work):
    """Return the edges before each vertex of the queue."""
    return at(address_in(work.growing, 2 * SUMS), work.stats)


@inner
def places_for_push(graph, front):
    """Return how many places the queue after a push can come to need."""
    return min(front[EDGES], graph.num_vertices) + SLACK


@inner
def _grant(control, work, slot, room, needed, wished):
    """Make an array as large as is wished, as is needed, or no larger."""
    item, account = work.rooms[ITEM + slot], work.account
    if account[LIMIT] > 0 and account[HELD] + (wished - room) * item > account[LIMIT]:
        wished = needed
    more = (wished - room) * item
    done = enlarged(control, account, work.growing, slot, wished * item, more)
    work.rooms[GRANTED] = wished if done else room


@inner
def _broken(control):
    return atomics.load(control, control[FIRST] + STOP) == BROKEN


def _having_room(meet: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that has an array hold so many elements, as `meet` lets threads meet.

    It returns False where there is no memory: then the run is to stop.
    """

    @inner
    def grow(rank, threads, control, work, front, slot, needed):
        room, item = front[ROOM + slot], work.rooms[ITEM + slot]
        wished = max(needed, min(room + (room >> 1), work.rooms[MOST]))
        there = wished * item <= work.growing[2 * slot + 1]
        if there and work.account[LIMIT] == 0 and control[FAULT] != ALLOCATION:
            if rank == 0:
                work.account[HELD] += (wished - room) * item
                work.account[GROWTHS] += 1
            front[ROOM + slot] = wished
            return True
        if not meet(control, rank, threads):
            return False
        if rank == 0 and not _broken(control):  # else some may not have come
            _grant(control, work, slot, room, needed, wished)
        if not meet(control, rank, threads) or _broken(control):
            return False
        front[ROOM + slot] = work.rooms[GRANTED]
        return front[ROOM + slot] >= needed

    @inner
    def has_room(rank, threads, control, work, front, slot, needed):
        if work.checks == 0:
            return True
        front[NEED + slot] = max(front[NEED + slot], needed)
        if needed <= front[ROOM + slot]:
            return True
        return grow(rank, threads, control, work, front, slot, needed)

    return has_room


@inner
def _together(control, rank, threads):
    barrier(control, rank, threads)
    return True


has_room = _having_room(_together)
has_room_if_all_come = _having_room(gathered)
"""The same where threads look at a stop by themselves in between: some may not come."""


# ---------------------------------------------------------------------- from bitmaps


@inner
def condense(rank, threads, control, graph, queue, work, front, turn):
    """Make a queue that has run over again, from a bitmap of what is in it and what is spilt."""
    prepare(control, rank, turn)
    begin, end = share(graph.num_vertices + SLACK, rank, threads)
    for place in range(begin, end):
        vertex = np.int64(queue[place])
        atomics.bitwise_or(work.spill, vertex >> 6, np.uint64(1) << np.uint64(vertex & 63))
    turn = finish(control, rank, threads, turn)
    if turn < 0:
        return turn
    prepare(control, rank, turn)
    list_ones(rank, threads, control, graph, work.spill, queue, turn)
    first, last = share((graph.num_vertices + 63) >> 6, rank, threads)
    for word in range(first, last):
        work.spill[word] = np.uint64(0)
    after = finish(control, rank, threads, turn)
    front[SIZE] = atomics.load(control, CURSORS + LINE * (SPARE + turn % 3))
    return after


@inner
def list_ones(rank, threads, control, graph, bits, queue, turn):
    """Write this thread's share of a bitmap's vertices into a queue; return their edges."""
    first, last = share((graph.num_vertices + 63) >> 6, rank, threads)
    edges = np.int64(0)
    for word in range(first, last):
        left = bits[word]
        if left != 0:
            end = atomics.add(
                control, CURSORS + LINE * (SPARE + turn % 3), np.int64(count_ones(left))
            )
            while left != 0:
                vertex = (word << 6) + np.int64(trailing_zeros(left))
                edges += np.int64(graph.offsets[vertex + 1]) - np.int64(graph.offsets[vertex])
                queue[end] = vertex
                end += 1
                left &= left - np.uint64(1)
    return edges


@inner
def to_queue(rank, threads, control, graph, work, front, turn):
    """Make the bitmap a queue, and count the edges that leave it."""
    prepare(control, rank, turn)
    bits = work.other_bits if front[PARITY] == 1 else work.bits
    if not has_room(rank, threads, control, work, front, QUEUE, front[SIZE]):
        return finish(control, rank, threads, turn)
    edges = list_ones(rank, threads, control, graph, bits, queue_at(work, False), turn)
    stats = shifted(work.stats, (turn & 1) * LINE)
    atomics.store(stats, rank * STATS_WORDS, edges)
    after = finish(control, rank, threads, turn)
    front[PULLING] = 0
    front[PARITY] = 0
    front[EDGES] = 0
    for thread in range(threads):
        front[EDGES] += atomics.load(stats, thread * STATS_WORDS)
    return after


@inner
def as_queue(rank, threads, control, graph, state, in_state, work, front, turn):
    """Do as a section what comes before an operator that takes the frontier as a queue alone."""
    if front[PULLING] == 1:
        return to_queue(rank, threads, control, graph, work, front, turn)
    return turn

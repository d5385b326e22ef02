"""Values from owners to ghosts, level by level: what follows each level of a `Levels`.

A device puts the vertices that a peer has copies of in the order of their levels, once, and notes
these, for the field may change; what has to be sent after a level is then the next run of that
order. A message holds the number of each vertex
in the list that both sides keep, and its values. Both sides know the level of every copy, so a
message goes only where a level has some, and devices between which nothing goes do not wait for
each other.

Shared values that only `when` reads travel in the head of each message, and are agreed upon after
the last level: a device then knows of them all that its own values can depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import nanoseconds
from broadfront.backends.cpu.device.growing import EXCHANGED
from broadfront.backends.cpu.exchange.agree import agree_on, agreed, meeting, most
from broadfront.backends.cpu.exchange.frame import NOTHING, Message, exchanged, to_each
from broadfront.backends.cpu.exchange.places import ghosts_of, shared_with
from broadfront.backends.cpu.exchange.runs import COUNT, HEAD, bytes_of, head_of, padded
from broadfront.backends.cpu.operators.frontier import LEVEL, MESSAGE, share
from broadfront.execution.plan import Shared
from broadfront.kernel import inner
from broadfront.pointers import at


@inner
def count_levels(rank, threads, control, work, front, turn, count):
    """Have all devices agree on how many levels there are."""
    turn = agree_on(rank, threads, control, work.mail, front, turn, count)
    return turn, most(work.mail, front, 0)


@inner
def sort_shared(level_of, count, work):
    """Put what each peer has copies of in the order of levels, and note when messages are due."""
    mail, memory = work.mail, work.levels
    words = (count >> 6) + 1
    for word in range(words * mail.devices):
        memory.due[word] = np.uint64(0)
    for peer in range(mail.devices):
        _sort_for(peer, level_of, count, mail, memory)
        for entry in range(shared_with(mail, peer)):
            level = np.int64(level_of[mail.shared[mail.shared_starts[peer] + entry]])
            _note_due(memory, mail.device, level, count)
        for entry in range(ghosts_of(mail, peer)):
            level = np.int64(level_of[mail.ghosts[mail.ghost_starts[peer] + entry]])
            _note_due(memory, peer, level, count)
            _note_due(memory, mail.device, level, count)


@inner
def _note_due(memory, device, level, count):
    if 0 <= level < count:
        place = device * ((count >> 6) + 1) + (level >> 6)
        memory.due[place] |= np.uint64(1) << np.uint64(level & 63)


@inner
def _is_due(memory, device, level):
    """Tell whether a peer sends something after a level; of oneself, whether anybody does."""
    place = device * ((memory.extent[0] >> 6) + 1) + (level >> 6)
    return (memory.due[place] >> np.uint64(level & 63)) & np.uint64(1) != 0


@inner
def _sort_for(peer, level_of, count, mail, memory):
    """Put what a peer has copies of in the order of levels, those without a level last."""
    start, size = mail.shared_starts[peer], shared_with(mail, peer)
    if size == 0:
        return
    for level in range(count + 1):
        memory.counts[level] = 0
    for entry in range(size):
        level = np.int64(level_of[mail.shared[start + entry]])
        memory.counts[level if 0 <= level < count else count] += 1
    place = np.int64(0)
    for level in range(count + 1):
        found = np.int64(memory.counts[level])
        memory.counts[level] = place
        place += found
    memory.runs[2 * peer + 1] = memory.counts[count]
    for entry in range(size):
        level = np.int64(level_of[mail.shared[start + entry]])
        slot = level if 0 <= level < count else count
        memory.shared_order[start + memory.counts[slot]] = entry
        memory.shared_levels[start + memory.counts[slot]] = level
        memory.counts[slot] += 1


def telling(
    columns: Sequence[tuple[int, int]],
    vertex_item: int,
    carried: Sequence[Shared],
    shared: Sequence[Shared],
) -> Callable[..., Any]:
    """Return the function that brings the values of one level to ghosts; it meets several times.

    Columns are fields by place and item size; `carried` are shared values that travel with them,
    and `shared` those that all devices agree upon after every level.
    """
    agrees = len(shared) > 0
    agree = agreed(shared)
    send = _sending(columns, vertex_item, carried)

    @inner
    def tell(rank, threads, control, level, graph, state, in_state, work, front, turn):
        mail, began = work.mail, nanoseconds()
        if not agrees and not _is_due(work.levels, mail.device, level):
            front[MESSAGE] += 1
            return turn
        front[LEVEL] = level
        turn = send(rank, threads, control, graph, state, in_state, work, front, turn)
        if agrees and turn >= 0:
            turn = agree(rank, threads, control, graph, state, in_state, work, front, turn)
        if rank == 0:
            mail.account[EXCHANGED] += nanoseconds() - began
        return turn

    return tell


def _sending(
    columns: Sequence[tuple[int, int]], vertex_item: int, carried: Sequence[Shared]
) -> Callable[..., Any]:
    """Return the section that sends the values of a level: shared ones, numbers, and columns."""
    pack, unpack = _columns(columns)
    put, merge = _carrying(carried)
    nbytes = bytes_of([vertex_item, *(size for _, size in columns)])
    begin = HEAD + 8 * len(carried)

    @inner
    def first_of(level, start, total, memory):
        """Return where a level begins in the order of what a peer has copies of."""
        low, high = np.int64(0), total
        while low < high:
            middle = (low + high) >> 1
            if np.int64(memory.shared_levels[start + middle]) < level:
                low = middle + 1
            else:
                high = middle
        return low

    @inner
    def measure(peer, threads, state, work, front):
        mail, memory, level = work.mail, work.levels, front[LEVEL]
        if shared_with(mail, peer) == 0:
            return np.int64(NOTHING), np.int64(0)
        start, total = mail.shared_starts[peer], memory.runs[2 * peer + 1]
        first = first_of(level, start, total, memory)
        last = first_of(level + 1, start, total, memory)
        memory.runs[2 * peer] = first
        if first == last:
            return np.int64(NOTHING), np.int64(0)
        return np.int64(last - first), np.int64(begin - HEAD + nbytes(last - first))

    @inner
    def pack_one(run, peer, rank, threads, graph, state, work, front):
        mail, memory, total = work.mail, work.levels, work.mail.entries[peer]
        if rank == 0:
            put(run + HEAD, state)
        first, last = share(total, rank, threads)
        start, names = mail.shared_starts[peer], at(run + begin, memory.shared_order)
        for entry in range(first, last):
            names[entry] = memory.shared_order[start + memory.runs[2 * peer] + entry]
        address = run + (begin + padded(total * vertex_item))
        pack(address, total, first, last, start, names, mail, state)

    @inner
    def unpack_one(run, peer, rank, threads, control, graph, state, work, front, turn):
        mail, memory = work.mail, work.levels
        total = head_of(run, mail)[COUNT]
        if rank == 0:
            merge(run + HEAD, state)
        first, last = share(total, rank, threads)
        names = at(run + begin, memory.shared_order)
        address = run + (begin + padded(total * vertex_item))
        unpack(address, total, first, last, mail.ghost_starts[peer], names, mail, state)

    return exchanged(Message(_from_due, measure, to_each(pack_one), unpack_one))


@inner
def _from_due(peer, work, front):
    return _is_due(work.levels, peer, front[LEVEL])


def _carrying(values: Sequence[Shared]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions that write shared values at an address, and meet those written there."""
    if not values:
        return _nothing_carried, _nothing_carried
    first, *rest = values
    others_in, others_out = _carrying(rest)
    place, element, meet = first.place, first.element, meeting(first)

    @inner
    def put(address, state):
        at(address, state[place])[0] = state[place][element]
        others_in(address + 8, state)

    @inner
    def merge(address, state):
        state[place][element] = meet(state[place][element], at(address, state[place])[0])
        others_out(address + 8, state)

    return put, merge


@inner
def _nothing_carried(address, state):
    pass


def _columns(columns: Sequence[tuple[int, int]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions that write and read columns of values for named vertices."""
    if not columns:
        return _no_more, _no_more
    (field, size), *rest = columns
    others_in, others_out = _columns(rest)

    @inner
    def pack(address, total, first, last, start, names, mail, state):
        values, column = state[field], at(address, state[field])
        for entry in range(first, last):
            column[entry] = values[mail.shared[start + np.int64(names[entry])]]
        others_in(address + padded(total * size), total, first, last, start, names, mail, state)

    @inner
    def unpack(address, total, first, last, start, names, mail, state):
        values, column = state[field], at(address, state[field])
        for entry in range(first, last):
            values[mail.ghosts[start + np.int64(names[entry])]] = column[entry]
        others_out(address + padded(total * size), total, first, last, start, names, mail, state)

    return pack, unpack


@inner
def _no_more(address, total, first, last, start, names, mail, state):
    pass

"""Values from owners to ghosts, level by level: what follows each level of a `Levels`.

A device puts the vertices that a peer has copies of in the order of their levels, once; what has to
be sent after a level is then the next run of that order. A message holds the number of each vertex
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

from broadfront.backends.cpu.device.control import nanoseconds, trip
from broadfront.backends.cpu.device.growing import EXCHANGED
from broadfront.backends.cpu.device.mail import (
    CONSTANT,
    COUNT,
    HEADER,
    address_of,
    arrived,
    box,
    emptied,
    reserve,
    send,
    take,
)
from broadfront.backends.cpu.exchange.agree import Shared, agree_on, agreed, meeting, most
from broadfront.backends.cpu.exchange.blocks import PACKAGE, PUSH, UNPACKAGE
from broadfront.backends.cpu.exchange.places import ghosts_of, padded, shared_with
from broadfront.backends.cpu.operators.frontier import MESSAGE, finish, prepare, share
from broadfront.kernel import inner
from broadfront.pointers import at

MOST_CARRIED = HEADER - CONSTANT
"""Shared values that the head of a message has room for."""


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
        memory.counts[slot] += 1


def telling(
    columns: Sequence[tuple[int, int]],
    level_place: int,
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
    pack, unpack = _columns(columns)
    put, merge = _carrying(carried)
    width = sum(size for _, size in columns) + vertex_item
    many = len(columns) + 1

    @inner
    def first_of(level, start, total, mail, state, memory):
        """Return where a level begins in the order of what a peer has copies of."""
        level_of, low, high = state[level_place], np.int64(0), total
        while low < high:
            middle = (low + high) >> 1
            entry = np.int64(memory.shared_order[start + middle])
            if np.int64(level_of[mail.shared[start + entry]]) < level:
                low = middle + 1
            else:
                high = middle
        return low

    @inner
    def make_room(control, level, state, mail, memory, number):
        """Find, by the first thread, what goes to each peer; wait for its box, and write its head.

        How much goes is kept in `counts`.
        """
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            mail.counts[peer] = 0
            if shared_with(mail, peer) == 0:
                continue
            start, total = mail.shared_starts[peer], memory.runs[2 * peer + 1]
            begin = first_of(level, start, total, mail, state, memory)
            end = first_of(level + 1, start, total, mail, state, memory)
            memory.runs[2 * peer] = begin
            if begin == end or not emptied(control, 0, mail, peer, number):
                continue
            reserve(control, mail, peer, (end - begin) * width + 8 * many)
            address = address_of(mail, mail.device, peer)
            if address != 0:
                mail.counts[peer] = end - begin
                box(mail, mail.device, peer)[COUNT] = end - begin
                put(address + 8 * CONSTANT, state)

    @inner
    def fill(rank, threads, state, mail, memory):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            total = mail.counts[peer]
            if total > 0:
                first, last = share(total, rank, threads)
                begin = memory.runs[2 * peer]
                start = mail.shared_starts[peer]
                address = address_of(mail, mail.device, peer) + 8 * HEADER
                names = at(address, memory.shared_order)
                for entry in range(first, last):
                    names[entry] = memory.shared_order[start + begin + entry]
                pack(
                    address + padded(total * vertex_item), total, first, last, start, names, mail,
                    state,
                )  # fmt: skip

    @inner
    def hear(rank, threads, control, level, state, mail, memory, number):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if _is_due(memory, peer, level) and arrived(control, rank, mail, peer, number):
                total = box(mail, peer, mail.device)[COUNT]
                first, last = share(total, rank, threads)
                address = address_of(mail, peer, mail.device)
                if rank == 0:
                    merge(address + 8 * CONSTANT, state)
                address += 8 * HEADER
                names = at(address, memory.shared_order)
                unpack(
                    address + padded(total * vertex_item), total, first, last,
                    mail.ghost_starts[peer], names, mail, state,
                )  # fmt: skip

    @inner
    def tell(rank, threads, control, level, graph, state, in_state, work, front, turn):
        mail, memory, began = work.mail, work.levels, nanoseconds()
        number = front[MESSAGE] + 1
        front[MESSAGE] = number
        if not agrees and not _is_due(memory, mail.device, level):
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PACKAGE)
            make_room(control, level, state, mail, memory, number)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        fill(rank, threads, state, mail, memory)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if mail.counts[peer] > 0:
                    send(mail, peer, number, mail.counts[peer] * width + 8, mail.counts[peer])
        hear(rank, threads, control, level, state, mail, memory, number)
        if rank == 0:
            trip(control, UNPACKAGE)
        turn = finish(control, rank, threads, turn)
        if rank == 0 and turn >= 0:
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if _is_due(memory, peer, level):
                    take(mail, peer, number)
        if agrees and turn >= 0:
            turn = agree(rank, threads, control, graph, state, in_state, work, front, turn)
        if rank == 0:
            mail.account[EXCHANGED] += nanoseconds() - began
        return turn

    return tell


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

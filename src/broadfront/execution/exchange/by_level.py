"""Values from owners to ghosts, level by level: what follows each level of a `Levels`.

A device puts the vertices that a peer has copies of in the order of their levels, once; what has to
be sent after a level is then the next run of that order. A message holds the number of each vertex
in the list that both sides keep, and its values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from broadfront.devices.control import nanoseconds, trip
from broadfront.devices.growing import EXCHANGED
from broadfront.devices.mail import (
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
from broadfront.execution.exchange.agree import agree_on, agreed, most
from broadfront.execution.exchange.blocks import PACKAGE, PUSH, UNPACKAGE
from broadfront.execution.exchange.places import ghosts_of, padded, shared_with
from broadfront.kernel import inner
from broadfront.operators.cpu.frontier import MESSAGE, finish, prepare, share
from broadfront.pointers import at


@inner
def count_levels(rank, threads, control, work, front, turn, count):
    """Have all devices agree on how many levels there are."""
    turn = agree_on(rank, threads, control, work.mail, front, turn, count, 0, 0)
    return turn, most(work.mail, front, 0)


@inner
def sort_shared(level_of, count, work):
    """Put what each peer has copies of in the order of levels, those without a level last."""
    mail, memory = work.mail, work.levels
    for peer in range(mail.devices):
        start, size = mail.shared_starts[peer], shared_with(mail, peer)
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
        memory.sent_until[2 * peer + 1] = memory.counts[count]
        for entry in range(size):
            level = np.int64(level_of[mail.shared[start + entry]])
            slot = level if 0 <= level < count else count
            memory.shared_order[start + memory.counts[slot]] = entry
            memory.counts[slot] += 1


def telling(
    columns: Sequence[tuple[int, int]],
    level_place: int,
    vertex_item: int,
    descending: bool,
    agree: Callable[..., Any] | None,
) -> Callable[..., Any]:
    """Return the function that brings the values of one level to ghosts; it meets several times.

    Columns are fields by place and item size; `agree` is a section in which shared values are
    agreed upon.
    """
    agrees = agree is not None
    agree = agree or agreed()
    pack, unpack = _columns(columns)
    width = sum(size for _, size in columns) + vertex_item
    many = len(columns) + 1

    @inner
    def find(level, mail, state, memory, peer):
        """Return the run of a peer's order that has this level, moving its end."""
        level_of, order = state[level_place], memory.shared_order
        start = mail.shared_starts[peer]
        total = memory.sent_until[2 * peer + 1]
        if descending:
            last = total if level == memory.extent[0] - 1 else memory.sent_until[2 * peer]
            first = last
            while (
                first > 0
                and np.int64(level_of[mail.shared[start + np.int64(order[start + first - 1])]])
                == level
            ):
                first -= 1
            memory.sent_until[2 * peer] = first
            return first, last
        first = np.int64(0) if level == 0 else memory.sent_until[2 * peer]
        last = first
        while (
            last < total
            and np.int64(level_of[mail.shared[start + np.int64(order[start + last])]]) == level
        ):
            last += 1
        memory.sent_until[2 * peer] = last
        return first, last

    @inner
    def tell(rank, threads, control, level, graph, state, in_state, work, front, turn):
        mail, memory, began = work.mail, work.levels, nanoseconds()
        number = front[MESSAGE] + 1
        front[MESSAGE] = number
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PACKAGE)
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if shared_with(mail, peer) > 0 and emptied(control, rank, mail, peer, number):
                    begin, end = find(level, mail, state, memory, peer)
                    reserve(control, mail, peer, (end - begin) * width + 8 * many)
                    if address_of(mail, mail.device, peer) != 0:
                        box(mail, mail.device, peer)[COUNT] = end - begin
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if shared_with(mail, peer) > 0:
                total = box(mail, mail.device, peer)[COUNT]
                first, last = share(total, rank, threads)
                begin = memory.sent_until[2 * peer] - (0 if descending else total)
                start = mail.shared_starts[peer]
                address = address_of(mail, mail.device, peer) + 8 * HEADER
                names = at(address, memory.shared_order)
                for entry in range(first, last):
                    names[entry] = memory.shared_order[start + begin + entry]
                pack(
                    address + padded(total * vertex_item),
                    total,
                    first,
                    last,
                    start,
                    names,
                    mail,
                    state,
                )
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if shared_with(mail, peer) > 0:
                    total = box(mail, mail.device, peer)[COUNT]
                    send(mail, peer, number, total * width + 8, total)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if ghosts_of(mail, peer) > 0 and arrived(control, rank, mail, peer, number):
                total = box(mail, peer, mail.device)[COUNT]
                first, last = share(total, rank, threads)
                address = address_of(mail, peer, mail.device) + 8 * HEADER
                names = at(address, memory.shared_order)
                start = mail.ghost_starts[peer]
                unpack(
                    address + padded(total * vertex_item),
                    total,
                    first,
                    last,
                    start,
                    names,
                    mail,
                    state,
                )
        if rank == 0:
            trip(control, UNPACKAGE)
        turn = finish(control, rank, threads, turn)
        if rank == 0 and turn >= 0:
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if ghosts_of(mail, peer) > 0:
                    take(mail, peer, number)
        if agrees and turn >= 0:
            turn = agree(rank, threads, control, graph, state, in_state, work, front, turn)
        if rank == 0:
            mail.account[EXCHANGED] += nanoseconds() - began
        return turn

    return tell


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

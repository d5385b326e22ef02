"""Values from owners to ghosts, all of them: what comes before an operator that asks neighbours.

A message is nothing but values, in the order of the list that both sides keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broadfront.backends.cpu.device.control import trip
from broadfront.backends.cpu.device.mail import (
    HEADER,
    address_of,
    arrived,
    emptied,
    reserve,
    send,
    take,
)
from broadfront.backends.cpu.exchange.blocks import PACKAGE, PUSH, UNPACKAGE
from broadfront.backends.cpu.exchange.places import ghosts_of, padded, shared_with
from broadfront.backends.cpu.operators.frontier import MESSAGE, finish, prepare, share
from broadfront.kernel import inner
from broadfront.pointers import at


def refreshed(columns: Sequence[tuple[int, int]]) -> Callable[..., Any]:
    """Return the section that sends fields to ghosts, each given by its place and item size."""
    return _refreshing(*columns_of(columns), sum(size for _, size in columns), len(columns))


def offered(offers_of: Callable[..., Any]) -> Callable[..., Any]:
    """Return the section that sends to ghosts what vertices offer, 8 bytes each."""

    @inner
    def pack(address, count, first, last, start, mail, state, work):
        offers, shared, column = offers_of(work), mail.shared, at(address, offers_of(work))
        for entry in range(first, last):
            column[entry] = offers[shared[start + entry]]

    @inner
    def unpack(address, count, first, last, start, mail, state, work):
        offers, ghosts, column = offers_of(work), mail.ghosts, at(address, offers_of(work))
        for entry in range(first, last):
            offers[ghosts[start + entry]] = column[entry]

    return _refreshing(pack, unpack, 8, 1)


def _refreshing(
    pack: Callable[..., Any], unpack: Callable[..., Any], width: int, many: int
) -> Callable[..., Any]:
    """Return the section that sends columns of so many bytes in all to ghosts."""

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        mail = work.mail
        number = front[MESSAGE] + 1
        front[MESSAGE] = number
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PACKAGE)
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                count = shared_with(mail, peer)
                if count > 0 and emptied(control, rank, mail, peer, number):
                    reserve(control, mail, peer, count * width + 8 * many)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            count = shared_with(mail, peer)
            if count > 0:
                first, last = share(count, rank, threads)
                start = mail.shared_starts[peer]
                address = address_of(mail, mail.device, peer) + 8 * HEADER
                pack(address, count, first, last, start, mail, state, work)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                count = shared_with(mail, peer)
                if count > 0:
                    send(mail, peer, number, count * width, count)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            count = ghosts_of(mail, peer)
            if count > 0 and arrived(control, rank, mail, peer, number):
                first, last = share(count, rank, threads)
                start = mail.ghost_starts[peer]
                address = address_of(mail, peer, mail.device) + 8 * HEADER
                unpack(address, count, first, last, start, mail, state, work)
        if rank == 0:
            trip(control, UNPACKAGE)
        turn = finish(control, rank, threads, turn)
        if rank == 0 and turn >= 0:
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if ghosts_of(mail, peer) > 0:
                    take(mail, peer, number)
        return turn

    return section


def columns_of(columns: Sequence[tuple[int, int]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions that write and read the columns of a message, one after the other."""
    (field, size), *rest = columns
    others_in, others_out = columns_of(rest) if rest else (_no_more, _no_more)

    @inner
    def pack(address, count, first, last, start, mail, state, work):
        values, shared, column = state[field], mail.shared, at(address, state[field])
        for entry in range(first, last):
            column[entry] = values[shared[start + entry]]
        others_in(address + padded(count * size), count, first, last, start, mail, state, work)

    @inner
    def unpack(address, count, first, last, start, mail, state, work):
        values, ghosts, column = state[field], mail.ghosts, at(address, state[field])
        for entry in range(first, last):
            values[ghosts[start + entry]] = column[entry]
        others_out(address + padded(count * size), count, first, last, start, mail, state, work)

    return pack, unpack


@inner
def _no_more(address, count, first, last, start, mail, state, work):
    pass

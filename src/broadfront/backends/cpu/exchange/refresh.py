"""Values from owners to ghosts, all of them: what comes before an operator that asks neighbours.

A message is nothing but values, in the order of the list that both sides keep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broadfront.backends.cpu.exchange.frame import Message, exchanged, from_owners, listed, to_each
from broadfront.backends.cpu.exchange.places import shared_with
from broadfront.backends.cpu.exchange.runs import (
    COUNT,
    HEAD,
    bytes_of,
    gathered,
    head_of,
    padded,
    scattered,
)
from broadfront.backends.cpu.operators.frontier import share
from broadfront.kernel import inner
from broadfront.pointers import at


def refreshed(columns: Sequence[tuple[int, int]]) -> Callable[..., Any]:
    """Return the section that sends fields to ghosts, each given by its place and item size."""
    return _refreshing(*columns_of(columns), [size for _, size in columns])


def offered(offers_of: Callable[..., Any]) -> Callable[..., Any]:
    """Return the section that sends to ghosts what vertices offer, 8 bytes each."""

    @inner
    def pack(address, count, first, last, start, mail, state, work):
        offers = offers_of(work)
        gathered(at(address, offers), offers, mail.shared, start, first, last)

    @inner
    def unpack(address, count, first, last, start, mail, state, work):
        offers = offers_of(work)
        scattered(at(address, offers), offers, mail.ghosts, start, first, last)

    return _refreshing(pack, unpack, [8])


def _refreshing(
    pack: Callable[..., Any], unpack: Callable[..., Any], sizes: Sequence[int]
) -> Callable[..., Any]:
    """Return the section that sends columns of these item sizes to ghosts."""

    @inner
    def pack_one(run, peer, rank, threads, graph, state, work, front):
        mail = work.mail
        count = mail.entries[peer]
        first, last = share(count, rank, threads)
        pack(run + HEAD, count, first, last, mail.shared_starts[peer], mail, state, work)

    @inner
    def unpack_one(run, peer, rank, threads, control, graph, state, work, front, turn):
        mail = work.mail
        count = head_of(run, mail)[COUNT]
        first, last = share(count, rank, threads)
        unpack(run + HEAD, count, first, last, mail.ghost_starts[peer], mail, state, work)

    measure = listed(shared_with, bytes_of(sizes))
    return exchanged(Message(from_owners, measure, to_each(pack_one), unpack_one))


def columns_of(columns: Sequence[tuple[int, int]]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions that write and read the columns of a message, one after the other."""
    (field, size), *rest = columns
    others_in, others_out = columns_of(rest) if rest else (_no_more, _no_more)

    @inner
    def pack(address, count, first, last, start, mail, state, work):
        gathered(at(address, state[field]), state[field], mail.shared, start, first, last)
        others_in(address + padded(count * size), count, first, last, start, mail, state, work)

    @inner
    def unpack(address, count, first, last, start, mail, state, work):
        scattered(at(address, state[field]), state[field], mail.ghosts, start, first, last)
        others_out(address + padded(count * size), count, first, last, start, mail, state, work)

    return pack, unpack


@inner
def _no_more(address, count, first, last, start, mail, state, work):
    pass

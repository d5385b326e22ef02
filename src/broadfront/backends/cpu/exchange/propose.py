"""Values from ghosts to their owners, all of them: what follows a change of neighbours.

A functor may change a field of a neighbour, which may be a copy of another device's vertex. After
the operator all copies of such fields go to their owners, where the field's `combine` decides what
becomes of them. Copies that add up begin at zero, or at the identity of a monoid, and are set to it
again when they have been sent.

Invariant: an owner takes the copies of its peers one peer after the other, in the order of devices,
so that sums of real numbers have the same bits each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from broadfront.backends.cpu.exchange.frame import (
    Message,
    Section,
    exchanged,
    from_ghosts,
    listed,
    to_each,
)
from broadfront.backends.cpu.exchange.places import ghosts_of
from broadfront.backends.cpu.exchange.runs import COUNT, HEAD, bytes_of, head_of, padded
from broadfront.backends.cpu.operators.combine import Combine
from broadfront.backends.cpu.operators.frontier import share
from broadfront.kernel import inner
from broadfront.pointers import at


class Column(NamedTuple):
    """Values that go to owners."""

    values_of: Callable[..., Any]
    """``values_of(state, work)`` is the array of them."""
    item: int
    combine: Combine
    emptied_to: Any
    """What a copy is set to when it has been sent; None where it stays as it is."""


def field_column(place: int, item: int, combine: Combine, emptied_to: Any) -> Column:
    """Return the column of the field that is at `place` in the state."""

    @inner
    def values_of(state, work):
        return state[place]

    return Column(values_of, item, combine, emptied_to)


def proposed(columns: Sequence[Column]) -> Section:
    """Return the section that brings the values of ghosts to their owners."""
    pack, unpack = _columns(columns)
    nbytes = bytes_of([column.item for column in columns])

    @inner
    def pack_one(run, peer, rank, threads, graph, state, work, front):
        mail = work.mail
        count = mail.entries[peer]
        first, last = share(count, rank, threads)
        pack(run + HEAD, count, first, last, mail.ghost_starts[peer], mail, state, work)

    @inner
    def unpack_one(run, peer, rank, threads, control, graph, state, work, front, turn):
        mail = work.mail
        count = head_of(run, mail)[COUNT]
        first, last = share(count, rank, threads)
        unpack(run + HEAD, count, first, last, mail.shared_starts[peer], mail, state, work)

    measure = listed(ghosts_of, nbytes)
    return exchanged(Message(from_ghosts, measure, to_each(pack_one), unpack_one, in_order=True))


def _columns(columns: Sequence[Column]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the functions that write and take the columns of a message, one after the other."""
    (values_of, item, combine, emptied_to), *rest = columns
    empties = emptied_to is not None
    empty = emptied_to if empties else 0
    better, plainly = combine.better, combine.plainly
    others_in, others_out = _columns(rest) if rest else (_no_more, _no_more)

    @inner
    def pack(address, count, first, last, start, mail, state, work):
        values = values_of(state, work)
        column = at(address, values)
        for entry in range(first, last):
            ghost = mail.ghosts[start + entry]
            column[entry] = values[ghost]
            if empties:
                values[ghost] = empty
        others_in(address + padded(count * item), count, first, last, start, mail, state, work)

    @inner
    def unpack(address, count, first, last, start, mail, state, work):
        values = values_of(state, work)
        column = at(address, values)
        for entry in range(first, last):
            vertex = mail.shared[start + entry]
            proposal, present = column[entry], values[vertex]
            if better(proposal, present):
                values[vertex] = plainly(proposal, present)
        others_out(address + padded(count * item), count, first, last, start, mail, state, work)

    return pack, unpack


@inner
def _no_more(address, count, first, last, start, mail, state, work):
    pass

"""The frontier from owners to ghosts: what comes before a pull.

A pulling vertex looks for the frontier among its neighbours, copies of other devices' vertices too.
For every peer a device sends the bits of those of its vertices that the peer has copies of, and the
values that a proposal reads at its source; a value that is the same in a whole message travels
once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.mail import outgoing, reserve
from broadfront.backends.cpu.exchange.alike import hear, is_alike, sealing, tell
from broadfront.backends.cpu.exchange.bitmaps import first_one, packed, unpacking
from broadfront.backends.cpu.exchange.frame import (
    Message,
    exchanged,
    from_owners,
    listed,
    to_each,
)
from broadfront.backends.cpu.exchange.places import shared_with
from broadfront.backends.cpu.exchange.refresh import columns_of
from broadfront.backends.cpu.exchange.runs import (
    COUNT,
    HEAD,
    LARGEST,
    bytes_of,
    constant_of,
    head_of,
)
from broadfront.backends.cpu.operators.frontier import PARITY, finish, prepare, share
from broadfront.kernel import inner
from broadfront.pointers import any_element, at

Section = Callable[..., Any]


@inner
def _words(count):
    return (count + 63) >> 6


@inner
def _bits_of(work, front):
    return work.other_bits if front[PARITY] == 1 else work.bits


def announced(columns: Sequence[tuple[int, int]], consecutive: bool) -> Section:
    """Return the section that tells ghosts who is in the frontier, with values of fields.

    Fields are given by place and item size; `consecutive` are the ghosts of one owner where parts
    are relabelled.
    """
    place, item = columns[0]
    one_column = len(columns) == 1 and item <= LARGEST
    values_bytes = bytes_of([size for _, size in columns])
    pack_values, unpack_values = columns_of(columns)

    @inner
    def of_bits(count):
        return 8 * _words(count)

    @inner
    def of_all(count):
        return 8 * _words(count) + values_bytes(count)

    @inner
    def add_values(run, peer, rank, threads, graph, state, work, front):
        mail = work.mail
        count = mail.entries[peer]
        first, last = share(count, rank, threads)
        pack_values(
            run + (HEAD + 8 * _words(count)), count, first, last, mail.shared_starts[peer], mail,
            state, work,
        )  # fmt: skip

    unpack_bits = _unpacking_bits(place, one_column, consecutive)

    @inner
    def unpack(run, peer, rank, threads, control, graph, state, work, front, turn):
        mail = work.mail
        count = head_of(run, mail)[COUNT]
        alike = one_column and is_alike(run, mail)
        unpack_bits(run, peer, count, alike, rank, threads, state, work, front)
        if not alike:
            first, last = share(count, rank, threads)
            unpack_values(
                run + (HEAD + 8 * _words(count)), count, first, last, mail.ghost_starts[peer],
                mail, state, work,
            )  # fmt: skip

    pack = _packing_bits(place, one_column)
    add_all = to_each(add_values)
    if not one_column:  # all are sent, whatever they are
        return exchanged(
            Message(
                from_owners, listed(shared_with, of_all), pack, unpack, complete=_then_meet(add_all)
            )
        )
    complete = _unless_alike(place, of_all, _then_meet(add_all))
    return exchanged(
        Message(
            from_owners, listed(shared_with, of_bits), pack, unpack, complete=complete,
            seal=sealing(place, 0),
        )
    )  # fmt: skip


def _then_meet(add_all: Section) -> Section:
    @inner
    def section(rank, threads, control, graph, state, work, front, turn):
        prepare(control, rank, turn)
        add_all(rank, threads, control, graph, state, work, front, turn)
        return finish(control, rank, threads, turn)

    return section


def _unless_alike(place: int, nbytes: Callable[..., Any], add_all: Section) -> Section:
    """Return the section that makes runs longer for values that are not all the same."""

    @inner
    def section(rank, threads, control, graph, state, work, front, turn):
        alike, _ = hear(work.stats, threads, state[place])
        if alike:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            mail = work.mail
            for peer in range(mail.devices):
                if mail.lengths[peer] > 0:
                    mail.lengths[peer] = HEAD + nbytes(mail.entries[peer])
                    reserve(control, mail, peer, mail.lengths[peer])
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        return add_all(rank, threads, control, graph, state, work, front, turn)

    return section


def _packing_bits(place: int, one_column: bool) -> Section:
    """Return the section that writes this thread's share of all bitmaps.

    It leaves what it has found of the values.
    """

    @inner
    def pack(rank, threads, control, graph, state, work, front, turn):
        mail, values, bits = work.mail, state[place], _bits_of(work, front)
        words = _words(graph.num_vertices)
        example = values[first_one(bits, words)] if words > 0 else any_element(values)
        others, any_ones = np.uint64(0), np.uint64(0)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if mail.lengths[peer] == 0:
                continue
            count, start = shared_with(mail, peer), mail.shared_starts[peer]
            column = at(outgoing(mail, peer) + HEAD, bits)
            first, last = share(_words(count), rank, threads)
            for word in range(first, last):
                ones, other = packed(word, count, start, mail.shared, bits, values, example)
                column[word] = ones
                others |= other
                any_ones |= ones
        if one_column:
            tell(work.stats, rank, others == 0, any_ones != 0, example, values)
        return turn

    return pack


def _unpacking_bits(place: int, one_column: bool, consecutive: bool) -> Callable[..., Any]:
    """Return the function that sets the bits of ghosts in the frontier, and a value they share."""
    unpack_word = unpacking(consecutive)

    @inner
    def unpack_bits(run, peer, count, alike, rank, threads, state, work, front):
        mail, values, bits = work.mail, state[place], _bits_of(work, front)
        column = at(run + HEAD, bits)
        example = constant_of(run, values)[0] if one_column else any_element(values)
        first, last = share(_words(count), rank, threads)
        for word in range(first, last):
            unpack_word(
                column, word, mail.ghost_starts[peer], mail.ghosts, bits, values, example, alike
            )

    return unpack_bits

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

from broadfront.backends.cpu.device.control import trip
from broadfront.backends.cpu.device.mail import (
    CONSTANT,
    FORM,
    HEADER,
    address_of,
    arrived,
    box,
    emptied,
    reserve,
    send,
    take,
)
from broadfront.backends.cpu.exchange.alike import HEADER_BYTES, VALUES_ALIKE, hear, tell
from broadfront.backends.cpu.exchange.bitmaps import first_one, packed, unpacking
from broadfront.backends.cpu.exchange.blocks import PACKAGE, PUSH, UNPACKAGE
from broadfront.backends.cpu.exchange.places import ghosts_of, shared_with
from broadfront.backends.cpu.exchange.refresh import columns_of
from broadfront.backends.cpu.operators.frontier import (
    MESSAGE,
    PARITY,
    finish,
    prepare,
    share,
)
from broadfront.kernel import inner
from broadfront.pointers import any_element, at


def announced(columns: Sequence[tuple[int, int]], consecutive: bool) -> Callable[..., Any]:
    """Return the section that tells ghosts who is in the frontier, with values of fields.

    Fields are given by place and item size; `consecutive` are the ghosts of one owner where parts
    are relabelled.
    """
    unpack_word = unpacking(consecutive)
    pack_values, unpack_values = columns_of(columns)
    width = sum(size for _, size in columns)
    many = len(columns)
    place = columns[0][0]
    one_column = many == 1

    @inner
    def unpack_bits(peer, first, last, mail, bits, state):
        """Set the bits of ghosts in the frontier, and their value where all have the same."""
        ghosts, start = mail.ghosts, mail.ghost_starts[peer]
        column = at(address_of(mail, peer, mail.device) + 8 * HEADER, bits)
        alike = one_column and box(mail, peer, mail.device)[FORM] == VALUES_ALIKE
        values = state[place]
        example = at(address_of(mail, peer, mail.device) + 8 * CONSTANT, values)[0]
        for word in range(first, last):
            unpack_word(column, word, start, ghosts, bits, values, example, alike)

    @inner
    def make_room(control, rank, mail, number, with_values):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            count = shared_with(mail, peer)
            if count > 0 and emptied(control, rank, mail, peer, number):
                values = count * width + 8 * many if with_values else np.int64(0)
                reserve(control, mail, peer, ((count + 63) >> 6) * 8 + values)

    @inner
    def pack(rank, threads, mail, bits, state, words):
        """Write this thread's share of all bitmaps; return what is known of the values."""
        values = state[place]
        example = values[first_one(bits, words)] if words > 0 else any_element(values)
        others, any_ones = np.uint64(0), np.uint64(0)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            count, start = shared_with(mail, peer), mail.shared_starts[peer]
            column = at(address_of(mail, mail.device, peer) + 8 * HEADER, bits)
            first, last = share((count + 63) >> 6, rank, threads)
            for word in range(first, last):
                ones, other = packed(word, count, start, mail.shared, bits, values, example)
                column[word] = ones
                others |= other
                any_ones |= ones
        return others == 0, any_ones != 0, example

    @inner
    def add_values(rank, threads, mail, state, work):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            count = shared_with(mail, peer)
            first, last = share(count, rank, threads)
            if first < last:
                address = address_of(mail, mail.device, peer) + 8 * (HEADER + ((count + 63) >> 6))
                pack_values(
                    address, count, first, last, mail.shared_starts[peer], mail, state, work
                )

    @inner
    def post(mail, number, alike, example, values):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            count = shared_with(mail, peer)
            if count > 0:
                box(mail, mail.device, peer)[FORM] = VALUES_ALIKE if alike else 0
                at(address_of(mail, mail.device, peer) + 8 * CONSTANT, values)[0] = example
                nbytes = HEADER_BYTES + ((count + 63) >> 6) * 8
                send(mail, peer, number, nbytes + (0 if alike else count * width), count)

    @inner
    def unpack(control, rank, threads, mail, number, bits, state, work):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            count = ghosts_of(mail, peer)
            if count > 0 and arrived(control, rank, mail, peer, number):
                words = (count + 63) >> 6
                first, last = share(words, rank, threads)
                unpack_bits(peer, first, last, mail, bits, state)
                if box(mail, peer, mail.device)[FORM] != VALUES_ALIKE:
                    first, last = share(count, rank, threads)
                    address = address_of(mail, peer, mail.device) + 8 * (HEADER + words)
                    unpack_values(
                        address, count, first, last, mail.ghost_starts[peer], mail, state, work
                    )

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        mail = work.mail
        number = front[MESSAGE] + 1
        front[MESSAGE] = number
        bits = work.other_bits if front[PARITY] == 1 else work.bits
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PACKAGE)
            make_room(control, rank, mail, number, not one_column)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        words = (graph.num_vertices + 63) >> 6
        alike, any_yet, example = pack(rank, threads, mail, bits, state, words)
        tell(work.stats, rank, alike and one_column, any_yet, example, state[place])
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        alike, example = hear(work.stats, threads, state[place])
        if not alike:
            prepare(control, rank, turn)
            if rank == 0:
                make_room(control, rank, mail, number, True)
            turn = finish(control, rank, threads, turn)
            if turn < 0:
                return turn
            prepare(control, rank, turn)
            add_values(rank, threads, mail, state, work)
            turn = finish(control, rank, threads, turn)
            if turn < 0:
                return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            post(mail, number, alike, example, state[place])
        unpack(control, rank, threads, mail, number, bits, state, work)
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

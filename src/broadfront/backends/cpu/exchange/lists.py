"""Neighbour lists from owners to ghosts: what an `Intersect` needs beyond its own rows.

For every peer a device sends the lists of those of its vertices that the peer has copies of: where
each list ends, then the ids of all of them. The receiver puts local positions in their place,
leaves out vertices that it does not know, and adds the lists to its own.

Invariant: lists lie where the message has them, only shorter, so that threads need not wait for
each other; and the box that holds them has grown before the first is written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import trip
from broadfront.backends.cpu.device.mail import (
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
from broadfront.backends.cpu.exchange.blocks import PACKAGE, PUSH, UNPACKAGE
from broadfront.backends.cpu.exchange.known import Known
from broadfront.backends.cpu.exchange.places import ghosts_of, shared_with
from broadfront.backends.cpu.operators.frontier import MESSAGE, finish, prepare, share
from broadfront.backends.cpu.operators.part_lists import kept_in
from broadfront.kernel import inner
from broadfront.pointers import at


def lists_brought(known: Known, item: int) -> Callable[..., Any]:
    """Return the section that brings lists to ghosts; `item` is the size of an id in bytes."""
    ready, position = known

    @inner
    def count(rank, threads, mail, lists):
        """Count the entries of this thread's share of the lists for each peer."""
        for peer in range(mail.devices):
            total = np.int64(0)
            start = mail.shared_starts[peer]
            first, last = share(shared_with(mail, peer), rank, threads)
            for entry in range(start + first, start + last):
                vertex = np.int64(mail.shared[entry])
                total += lists.end[vertex] - lists.start[vertex]
            mail.counts[rank * mail.devices + peer] = total

    @inner
    def counted(peer, threads, mail):
        total = np.int64(0)
        for thread in range(threads):
            total += mail.counts[thread * mail.devices + peer]
        return total

    @inner
    def make_room(control, rank, threads, mail, number):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            lists = shared_with(mail, peer)
            if lists > 0 and emptied(control, rank, mail, peer, number):
                total = counted(peer, threads, mail)
                reserve(control, mail, peer, 8 * lists + total * item)
                if address_of(mail, mail.device, peer) != 0:
                    box(mail, mail.device, peer)[COUNT] = total

    @inner
    def pack(peer, rank, threads, graph, mail, lists, kept, state):
        size, start = shared_with(mail, peer), mail.shared_starts[peer]
        address = address_of(mail, mail.device, peer) + 8 * HEADER
        ends, names = at(address, mail.boxes), at(address + 8 * size, graph.targets)
        first, last = share(size, rank, threads)
        slot = counted(peer, rank, mail)
        for entry in range(first, last):
            vertex = np.int64(mail.shared[start + entry])
            for place in range(lists.start[vertex], lists.end[vertex]):
                names[slot] = state.ids[kept[place]]
                slot += 1
            ends[entry] = slot

    @inner
    def post(threads, mail, number):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            lists = shared_with(mail, peer)
            if lists > 0:
                nbytes = 8 * (lists + 1) + counted(peer, threads, mail) * item
                send(mail, peer, number, nbytes, lists)

    @inner
    def received(before, mail):
        """Return how many entries the peers before some peer have sent."""
        total = np.int64(0)
        for peer in range(before):
            if ghosts_of(mail, peer) > 0:
                total += box(mail, peer, mail.device)[COUNT]
        return total

    @inner
    def make_room_here(control, rank, graph, mail, number):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if ghosts_of(mail, peer) > 0 and not arrived(control, rank, mail, peer, number):
                return
        entries = np.int64(graph.offsets[graph.num_vertices]) + received(mail.devices, mail)
        reserve(control, mail, mail.device, entries * item)

    @inner
    def unpack(peer, rank, threads, graph, mail, lists, state):
        size, start = ghosts_of(mail, peer), mail.ghost_starts[peer]
        address = address_of(mail, peer, mail.device) + 8 * HEADER
        ends, names = at(address, mail.boxes), at(address + 8 * size, graph.targets)
        kept = kept_in(mail, graph)
        base = np.int64(graph.offsets[graph.num_vertices]) + received(peer, mail)
        first, last = share(size, rank, threads)
        begin = ends[first - 1] if 0 < first < last else np.int64(0)
        for entry in range(first, last):
            ghost = np.int64(mail.ghosts[start + entry])
            slot = base + begin
            lists.start[ghost] = slot
            for place in range(begin, ends[entry]):
                found = position(names[place], lists, state)
                if found >= 0:
                    kept[slot] = found
                    slot += 1
            lists.end[ghost] = slot
            begin = ends[entry]

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        mail, lists = work.mail, work.lists
        number = front[MESSAGE] + 1
        front[MESSAGE] = number
        turn = ready(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        count(rank, threads, mail, lists)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PACKAGE)
            make_room(control, rank, threads, mail, number)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if shared_with(mail, peer) > 0:
                pack(peer, rank, threads, graph, mail, lists, kept_in(mail, graph), state)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            post(threads, mail, number)
            make_room_here(control, rank, graph, mail, number)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if ghosts_of(mail, peer) > 0:
                unpack(peer, rank, threads, graph, mail, lists, state)
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

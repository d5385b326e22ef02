"""Neighbour lists from owners to ghosts: what an `Intersect` needs beyond its own rows.

For every peer a device sends the lists of those of its vertices that the peer has copies of: where
each list ends, then the ids of all of them. The receiver puts local positions in their place,
leaves out vertices that it does not know, and adds the lists to its own.

Invariant: lists lie where the message has them, only shorter, so that threads need not wait for
each other; and the box that holds them has grown before the first is written.
"""

from __future__ import annotations

import numpy as np

from broadfront.backends.cpu.device.mail import arrived, incoming, reserve
from broadfront.backends.cpu.exchange.frame import (
    NOTHING,
    Message,
    Section,
    exchanged,
    from_owners,
    to_each,
)
from broadfront.backends.cpu.exchange.known import Known
from broadfront.backends.cpu.exchange.places import ghosts_of, shared_with
from broadfront.backends.cpu.exchange.runs import COUNT, HEAD, head_of
from broadfront.backends.cpu.operators.frontier import MESSAGE, finish, prepare, share
from broadfront.backends.cpu.operators.part_lists import kept_in
from broadfront.kernel import inner
from broadfront.pointers import at


def lists_brought(known: Known, item: int) -> Section:
    """Return the section that brings lists to ghosts; `item` is the size of an id in bytes."""
    ready, position = known

    @inner
    def before(rank, threads, control, graph, state, work, front, turn):
        turn = ready(rank, threads, control, graph, state, work, front, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        _count(rank, threads, work.mail, work.lists)
        return finish(control, rank, threads, turn)

    @inner
    def measure(peer, threads, state, work, front):
        lists, total = shared_with(work.mail, peer), _counted(peer, threads, work.mail)
        if lists == 0:
            return np.int64(NOTHING), np.int64(0)
        return np.int64(lists), 8 * lists + total * item

    @inner
    def pack(run, peer, rank, threads, graph, state, work, front):
        mail, lists, kept = work.mail, work.lists, kept_in(work.mail, graph)
        size, start = mail.entries[peer], mail.shared_starts[peer]
        ends, names = at(run + HEAD, mail.boxes), at(run + (HEAD + 8 * size), graph.targets)
        first, last = share(size, rank, threads)
        slot = _counted(peer, rank, mail)
        for entry in range(first, last):
            vertex = np.int64(mail.shared[start + entry])
            for place in range(lists.start[vertex], lists.end[vertex]):
                names[slot] = state.ids[kept[place]]
                slot += 1
            ends[entry] = slot

    @inner
    def awaited(rank, threads, control, graph, state, work, front, turn):
        if rank == 0:
            _make_room_here(control, graph, work.mail, front[MESSAGE], item)
        turn = finish(control, rank, threads, turn)
        if turn >= 0:
            prepare(control, rank, turn)
        return turn

    @inner
    def unpack(run, peer, rank, threads, control, graph, state, work, front, turn):
        mail, lists, kept = work.mail, work.lists, kept_in(work.mail, graph)
        size, start = head_of(run, mail)[COUNT], mail.ghost_starts[peer]
        ends, names = at(run + HEAD, mail.boxes), at(run + (HEAD + 8 * size), graph.targets)
        base = np.int64(graph.offsets[graph.num_vertices]) + _received(peer, mail)
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

    return exchanged(
        Message(from_owners, measure, to_each(pack), unpack, before=before, awaited=awaited)
    )


@inner
def _count(rank, threads, mail, lists):
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
def _counted(peer, threads, mail):
    total = np.int64(0)
    for thread in range(threads):
        total += mail.counts[thread * mail.devices + peer]
    return total


@inner
def _received(before, mail):
    """Return how many entries of lists the peers before some peer have sent."""
    total = np.int64(0)
    for peer in range(before):
        lists = ghosts_of(mail, peer)
        if lists > 0:
            total += at(incoming(mail, peer) + HEAD, mail.boxes)[lists - 1]
    return total


@inner
def _make_room_here(control, graph, mail, number, item):
    """Wait, as the first thread, for all runs; make room for the lists in them."""
    for step in range(1, mail.devices):
        peer = (mail.device + step) % mail.devices
        if ghosts_of(mail, peer) > 0 and not arrived(control, 0, mail, peer, number):
            return
    entries = np.int64(graph.offsets[graph.num_vertices]) + _received(mail.devices, mail)
    reserve(control, mail, mail.device, entries * item)

"""Proposals from ghosts to their owners: what follows a push.

A push improves copies of other devices' vertices, too. Those are split off the next frontier and
travel to their owners, each once, with the value that the copy has come to and, where there is a
trail, the source that it came from. The owner takes a value as it takes any proposal: the field's
`combine` decides, and who improves joins the frontier.

A value that is the same in a whole message travels once; the depths of a search by levels do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE, trip
from broadfront.backends.cpu.device.mail import (
    CONSTANT,
    COUNT,
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
from broadfront.backends.cpu.exchange.blocks import PACKAGE, PUSH, SPLIT, UNPACKAGE
from broadfront.backends.cpu.exchange.places import Places, ghosts_of, padded, shared_with
from broadfront.backends.cpu.operators.combine import Combine
from broadfront.backends.cpu.operators.frontier import (
    EDGES,
    LOCAL,
    LOCAL_WORDS,
    MARKS,
    MESSAGE,
    MOST,
    OTHER_QUEUE,
    PARITY,
    QUEUE,
    SIZE,
    STATS_WORDS,
    TAIL,
    finish,
    prepare,
    share,
)
from broadfront.backends.cpu.operators.queues import has_room, has_room_if_all_come, queue_at
from broadfront.kernel import inlined, inner
from broadfront.pointers import any_element, at, shifted


@inner
def append(local, kept, following, control, turn):
    """Append what a thread has gathered to the next queue; return that it holds nothing now."""
    if kept > 0:
        begin = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), kept)
        for place in range(kept):
            following[begin + place] = local[place]
    return np.int64(0)


def collected(
    place: int,
    trail: int | None,
    item: int,
    vertex_item: int,
    trail_item: int,
    combine: Combine,
    joins: Callable[..., Any],
    where: Places,
    emptied_to: Any,
) -> Callable[..., Any]:
    """Return the section that brings the proposals of a push to the owners of vertices.

    `place` and `trail` are those of the fields in the state, `item`, `vertex_item` and
    `trail_item` the bytes of a value, of a vertex and of what the trail holds. Where proposals add
    up, `emptied_to` is what a copy is set to when its value has been sent; otherwise None.
    """
    owner_of, name_for, found = where
    better, settle, plainly = combine.better, combine.settle, combine.plainly
    traces = trail is not None
    trail_place = place if trail is None else trail
    width = vertex_item + item + trail_item
    resets = emptied_to is not None
    reset_to = emptied_to if resets else 0

    @inner
    def count(first, last, queue, counts, mail):
        for peer in range(mail.devices):
            counts[peer] = 0
        for position in range(first, last):
            counts[owner_of(np.int64(queue[position]), mail)] += 1

    @inner
    def total_for(peer, threads, mail):
        total = np.int64(0)
        for thread in range(threads):
            total += mail.counts[thread * mail.devices + peer]
        return total

    @inner
    def make_room(control, rank, threads, mail, number):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if ghosts_of(mail, peer) > 0 and emptied(control, rank, mail, peer, number):
                total = total_for(peer, threads, mail)
                reserve(control, mail, peer, total * width + 24)
                if address_of(mail, mail.device, peer) != 0:
                    box(mail, mail.device, peer)[COUNT] = total

    @inner
    def pack(first, last, queue, rest, rank, threads, mail, state):
        """Fill this thread's share into the boxes; return whether all values were alike."""
        out, trails = state[place], state[trail_place]
        places = shifted(mail.counts, (threads + rank) * mail.devices)
        for peer in range(mail.devices):
            places[peer] = 0
            for thread in range(rank):
                places[peer] += mail.counts[thread * mail.devices + peer]
        alike, any_yet = True, False
        example = any_element(out)
        for position in range(first, last):
            vertex = np.int64(queue[position])
            peer = owner_of(vertex, mail)
            entry = places[peer]
            places[peer] = entry + 1
            if peer == mail.device:
                rest[entry] = vertex
                continue
            address = address_of(mail, mail.device, peer) + 8 * HEADER
            total = box(mail, mail.device, peer)[COUNT]
            at(address, queue)[entry] = name_for(vertex, peer, mail)
            address += padded(total * vertex_item)
            value = out[vertex]
            at(address, out)[entry] = value
            if not any_yet:
                example, any_yet = value, True
            alike = alike and value == example
            if traces:
                at(address + padded(total * item), trails)[entry] = trails[vertex]
            if resets:
                out[vertex] = reset_to
        return alike, any_yet, example

    @inner
    def post(mail, number, alike, example, out):
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if ghosts_of(mail, peer) > 0:
                words = box(mail, mail.device, peer)
                total = words[COUNT]
                words[FORM] = VALUES_ALIKE if alike else 0
                at(address_of(mail, mail.device, peer) + 8 * CONSTANT, out)[0] = example
                each = width - item if alike else width
                send(mail, peer, number, total * each + HEADER_BYTES, total)

    @inner
    def unmark(first, last, queue, mail, marks):
        """Clear the marks of what was sent; those of what stays are cleared by the next push."""
        for position in range(first, last):
            vertex = np.int64(queue[position])
            if owner_of(vertex, mail) != mail.device:
                atomics.store(marks, vertex >> 6, np.uint64(0))

    @inlined
    def unpack(peer, first, last, total, following, local, kept, control, turn, mail, graph, state,
               marks):  # fmt: skip
        out, trails = state[place], state[trail_place]
        offsets = graph.offsets
        words = box(mail, peer, mail.device)
        address = address_of(mail, peer, mail.device) + 8 * HEADER
        names = at(address, local)
        address += padded(total * vertex_item)
        values = at(address, out)
        sources = at(address + padded(total * item), trails)
        alike = words[FORM] == VALUES_ALIKE
        example = at(address_of(mail, peer, mail.device) + 8 * CONSTANT, out)[0]
        edges = np.int64(0)
        for entry in range(first, last):
            vertex = np.int64(found(np.int64(names[entry]), peer, mail))
            proposal = example if alike else values[entry]
            if better(proposal, out[vertex]):
                before = settle(out, vertex, proposal)
                if not better(proposal, before):
                    continue
                if traces:
                    trails[vertex] = sources[entry]
                if joins(vertex, before, plainly(proposal, before), state, marks, graph):
                    edges += np.int64(offsets[vertex + 1]) - np.int64(offsets[vertex])
                    local[kept] = vertex
                    kept += 1
                    if kept == LOCAL:
                        kept = append(local, kept, following, control, turn)
        return kept, edges

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        mail = work.mail
        number = front[MESSAGE] + 1
        front[MESSAGE] = number
        odd = front[PARITY] == 1
        queue, other = queue_at(work, odd), QUEUE if odd else OTHER_QUEUE
        words = (graph.num_vertices + 63) >> 6
        marks = shifted(work.marks, words if front[MARKS] == 1 else 0)
        first, last = share(front[SIZE], rank, threads)
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, SPLIT)
        count(first, last, queue, shifted(mail.counts, rank * mail.devices), mail)
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
        kept_here = total_for(mail.device, threads, mail)
        if not has_room(rank, threads, control, work, front, other, kept_here):
            return finish(control, rank, threads, turn)
        rest = queue_at(work, not odd)
        alike, any_yet, example = pack(first, last, queue, rest, rank, threads, mail, state)
        tell(work.stats, rank, alike, any_yet, example, state[place])
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, PUSH)
            alike, example = hear(work.stats, threads, state[place])
            post(mail, number, alike, example, state[place])
        needed = kept_here
        local = shifted(work.local, rank * LOCAL_WORDS)
        kept, edges = np.int64(0), np.int64(0)
        for step in range(1, mail.devices):
            peer = (mail.device + step) % mail.devices
            if shared_with(mail, peer) > 0 and arrived(control, rank, mail, peer, number):
                total = box(mail, peer, mail.device)[COUNT]
                needed = min(needed + total, work.rooms[MOST])
                if not has_room_if_all_come(rank, threads, control, work, front, other, needed):
                    break
                following = shifted(queue_at(work, not odd), kept_here)
                begin, end = share(total, rank, threads)
                kept, more = unpack(
                    peer, begin, end, total, following, local, kept, control, turn, mail, graph,
                    state, marks,
                )  # fmt: skip
                edges += more
        append(local, kept, shifted(queue_at(work, not odd), kept_here), control, turn)
        if rank == 0:
            trip(control, UNPACKAGE)
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, edges)
        after = finish(control, rank, threads, turn)
        if after < 0:
            return after
        unmark(first, last, queue, mail, marks)
        if rank == 0:
            for step in range(1, mail.devices):
                peer = (mail.device + step) % mail.devices
                if shared_with(mail, peer) > 0:
                    take(mail, peer, number)
        front[SIZE] = kept_here + atomics.load(control, CURSORS + LINE * (TAIL + turn % 3))
        front[PARITY] = 0 if odd else 1
        for thread in range(threads):
            front[EDGES] += atomics.load(stats, thread * STATS_WORDS)
        return after

    return section

"""Proposals from ghosts to their owners: what follows a push.

A push improves copies of other devices' vertices, too. Those are split off the next frontier and
travel to their owners, each once, with the value that the copy has come to and, where there is a
trail, the source that it came from. The owner takes a value as it takes any proposal: the field's
`combine` decides, and who improves joins the frontier.

A value that is the same in a whole message travels once; the depths of a search by levels do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE, trip
from broadfront.backends.cpu.device.mail import outgoing
from broadfront.backends.cpu.exchange.alike import is_alike, sealing, tell
from broadfront.backends.cpu.exchange.blocks import SPLIT
from broadfront.backends.cpu.exchange.frame import (
    NOTHING,
    Message,
    Section,
    exchanged,
    from_ghosts,
)
from broadfront.backends.cpu.exchange.places import Places, ghosts_of
from broadfront.backends.cpu.exchange.runs import (
    COUNT,
    HEAD,
    LARGEST,
    bytes_of,
    constant_of,
    head_of,
    padded,
)
from broadfront.backends.cpu.operators.combine import Combine
from broadfront.backends.cpu.operators.frontier import (
    EDGES,
    KEPT,
    KEPT_EDGES,
    LOCAL,
    LOCAL_WORDS,
    MARKS,
    MOST,
    OTHER_QUEUE,
    PARITY,
    QUEUE,
    SIZE,
    STATS_WORDS,
    TAIL,
    WANTED,
    finish,
    prepare,
    share,
)
from broadfront.backends.cpu.operators.queues import has_room, has_room_if_all_come, queue_at
from broadfront.kernel import inner
from broadfront.pointers import any_element, at, shifted


class Proposals(NamedTuple):
    """What a message of proposals holds: places in the state, and sizes in bytes."""

    place: int
    trail: int
    """The field that the source of each goes into; the same as `place` where there is none."""
    item: int
    vertex_item: int
    trail_item: int
    """0 where there is no trail."""
    emptied_to: Any
    """What a copy is set to when its value has been sent, where proposals add up; else None."""


def collected(
    proposals: Proposals, combine: Combine, joins: Callable[..., Any], where: Places
) -> Section:
    """Return the section that brings the proposals of a push to the owners of vertices.

    A run has the numbers of vertices, their sources where there is a trail, and their values.
    """
    place, _, item, vertex_item, trail_item, _ = proposals
    sizes = [vertex_item, *([trail_item] if trail_item else []), item]
    nbytes = bytes_of(sizes)

    @inner
    def measure(peer, threads, state, work, front):
        mail = work.mail
        if ghosts_of(mail, peer) == 0:
            return np.int64(NOTHING), np.int64(0)
        total = total_for(peer, threads, mail)
        return total, np.int64(nbytes(total))

    message = Message(
        from_ghosts, measure, route(proposals, where), accept(proposals, combine, joins, where),
        before=counting(where), seal=sealing(place, item) if item <= LARGEST else None,
        taken=_taken, after=_joined(where),
    )  # fmt: skip
    return exchanged(message)


# ---------------------------------------------------------------------- local or remote


def counting(where: Places) -> Section:
    """Return the section that counts the vertices of the frontier by owner, for each thread."""
    owner_of = where.owner_of

    @inner
    def section(rank, threads, control, graph, state, work, front, turn):
        mail, queue = work.mail, queue_at(work, front[PARITY] == 1)
        counts = shifted(mail.counts, rank * mail.devices)
        prepare(control, rank, turn)
        if rank == 0:
            trip(control, SPLIT)
        for peer in range(mail.devices):
            counts[peer] = 0
        first, last = share(front[SIZE], rank, threads)
        for position in range(first, last):
            counts[owner_of(np.int64(queue[position]), mail)] += 1
        return finish(control, rank, threads, turn)

    return section


@inner
def total_for(peer, threads, mail):
    """Return how many vertices all threads have for a device."""
    total = np.int64(0)
    for thread in range(threads):
        total += mail.counts[thread * mail.devices + peer]
    return total


@inner
def places_among(rank, threads, mail):
    """Return where this thread's vertices for each device begin among those of all threads."""
    places = shifted(mail.counts, (threads + rank) * mail.devices)
    for peer in range(mail.devices):
        places[peer] = total_for(peer, rank, mail)
    return places


def route(proposals: Proposals, where: Places) -> Section:
    """Return the section that splits a queue: what is local goes on, the rest into runs."""
    owner_of, name_for = where.owner_of, where.name_for
    place, trail, item, vertex_item, trail_item, emptied_to = proposals
    traces, one_for_all = trail_item > 0, item <= LARGEST
    resets = emptied_to is not None
    reset_to = emptied_to if resets else 0

    @inner
    def split(rank, threads, queue, size, rest, mail, state):
        """Split this thread's share; return whether all values were alike, if any, and one."""
        out, trails, places = state[place], state[trail], places_among(rank, threads, mail)
        alike, any_yet = True, False
        example = any_element(out)
        first, last = share(size, rank, threads)
        for position in range(first, last):
            vertex = np.int64(queue[position])
            peer = owner_of(vertex, mail)
            entry = places[peer]
            places[peer] = entry + 1
            if peer == mail.device:
                rest[entry] = vertex
                continue
            address, total = outgoing(mail, peer) + HEAD, mail.entries[peer]
            at(address, queue)[entry] = name_for(vertex, peer, mail)
            address += padded(total * vertex_item)
            if traces:
                at(address, trails)[entry] = trails[vertex]
                address += padded(total * trail_item)
            value = out[vertex]
            at(address, out)[entry] = value
            if not any_yet:
                example, any_yet = value, True
            alike = alike and value == example
            if resets:
                out[vertex] = reset_to
        return alike, any_yet, example

    @inner
    def pack(rank, threads, control, graph, state, work, front, turn):
        mail, odd = work.mail, front[PARITY] == 1
        local = total_for(mail.device, threads, mail)
        front[KEPT], front[KEPT_EDGES], front[WANTED] = 0, 0, local
        other = QUEUE if odd else OTHER_QUEUE
        if has_room(rank, threads, control, work, front, other, local):
            queue, rest = queue_at(work, odd), queue_at(work, not odd)
            alike, any_yet, example = split(rank, threads, queue, front[SIZE], rest, mail, state)
            if one_for_all:
                tell(work.stats, rank, alike, any_yet, example, state[place])
        return turn

    return pack


# ---------------------------------------------------------------------- what has come


@inner
def append(local, kept, following, control, turn):
    """Append what a thread has gathered to the next queue; return that it holds nothing now."""
    if kept > 0:
        begin = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), kept)
        for place in range(kept):
            following[begin + place] = local[place]
    return np.int64(0)


@inner
def _next_queue(threads, work, front):
    """Return the next queue, from after the vertices that were here already."""
    here = total_for(work.mail.device, threads, work.mail)
    return shifted(queue_at(work, front[PARITY] == 0), here)


def accept(
    proposals: Proposals, combine: Combine, joins: Callable[..., Any], where: Places
) -> Callable[..., Any]:
    """Return the function that takes a run as any proposals are taken; who improves joins.

    What a thread has gathered for the next queue is in its part of `local`, `KEPT` of them.
    """
    place, trail, item, vertex_item, trail_item, _ = proposals
    one_for_all = item <= LARGEST
    better, settle, plainly = combine.better, combine.settle, combine.plainly
    found, traces = where.found, trail_item > 0

    @inner
    def unpack(run, peer, rank, threads, control, graph, state, work, front, turn):
        total = head_of(run, work.mail)[COUNT]
        front[WANTED] = min(front[WANTED] + total, work.rooms[MOST])
        other = QUEUE if front[PARITY] == 1 else OTHER_QUEUE
        if not has_room_if_all_come(rank, threads, control, work, front, other, front[WANTED]):
            return
        following = _next_queue(threads, work, front)
        mail, out, trails = work.mail, state[place], state[trail]
        offsets, local = graph.offsets, shifted(work.local, rank * LOCAL_WORDS)
        words = (graph.num_vertices + 63) >> 6
        marks = shifted(work.marks, words if front[MARKS] == 1 else 0)
        sources_at = run + HEAD + padded(total * vertex_item)
        names, sources = at(run + HEAD, local), at(sources_at, trails)
        values = at(sources_at + padded(total * trail_item), out)
        alike = one_for_all and is_alike(run, mail)
        example = constant_of(run, out)[0] if one_for_all else any_element(out)
        kept, edges = front[KEPT], front[KEPT_EDGES]
        first, last = share(total, rank, threads)
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
        front[KEPT], front[KEPT_EDGES] = kept, edges

    return unpack


@inner
def _taken(rank, threads, control, graph, state, work, front, turn):
    """Append what is left over to the next queue, and tell the others of its edges."""
    local = shifted(work.local, rank * LOCAL_WORDS)
    append(local, front[KEPT], _next_queue(threads, work, front), control, turn)
    stats = shifted(work.stats, (turn & 1) * LINE)
    atomics.store(stats, rank * STATS_WORDS, front[KEPT_EDGES])
    return turn


def _joined(where: Places) -> Section:
    """Return the section that turns to the next queue, when all have taken what came."""
    owner_of = where.owner_of

    @inner
    def section(rank, threads, control, graph, state, work, front, turn):
        """Clear the marks of what was sent; those of what stays are cleared by the next push."""
        mail, queue = work.mail, queue_at(work, front[PARITY] == 1)
        words = (graph.num_vertices + 63) >> 6
        marks = shifted(work.marks, words if front[MARKS] == 1 else 0)
        first, last = share(front[SIZE], rank, threads)
        for position in range(first, last):
            vertex = np.int64(queue[position])
            if owner_of(vertex, mail) != mail.device:
                atomics.store(marks, vertex >> 6, np.uint64(0))
        tail = atomics.load(control, CURSORS + LINE * (TAIL + (turn - 1) % 3))
        front[SIZE] = total_for(mail.device, threads, mail) + tail
        front[PARITY] = 1 - front[PARITY]
        stats = shifted(work.stats, ((turn - 1) & 1) * LINE)
        for thread in range(threads):
            front[EDGES] += atomics.load(stats, thread * STATS_WORDS)
        return turn

    return section

"""Serving a block of vertices: gather what they propose, combine it, split who improves.

Three short loops, each over what the one before has left in a buffer of `ROOM` entries. The first
goes along the edges, and asks for the values that proposals will meet, so that the second need not
wait for memory. The second combines and keeps no order of its own: it writes down who improves
without a branch, for whether a proposal is better is what a processor cannot guess. The third goes
over those alone: a vertex of this device is work for its own list; a copy of another device's goes
to the outbox, once until it is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from broadfront.backends.cpu.asynchronous import mailbox, worklist
from broadfront.backends.cpu.asynchronous.desk import EDGES
from broadfront.backends.cpu.asynchronous.rules import Rules
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators.buckets import BLOCK, WINDOW, give_back
from broadfront.backends.cpu.operators.walk_buckets import fetch_weight
from broadfront.bounded import Bounded
from broadfront.kernel import inlined, inner
from broadfront.pointers import as_element, prefetch

Array = NDArray[Any]

ROOM = 512


class Gathered(NamedTuple):
    """Proposals that were made and not combined yet."""

    neighbors: Array
    values: Array
    sources: Array
    improving: Array
    """Which of them improve something."""


def new_gathered(space: Workspace, value: np.dtype[Any], vertex: Any) -> Gathered:
    """Return the buffer of a device."""
    return Gathered(
        space.array("gathered neighbors", ROOM, vertex),
        space.array(f"gathered {value}", ROOM, value),
        space.array("gathered sources", ROOM, vertex),
        space.array("gathered improving", ROOM, np.int32),
    )


def fetch_id(state, vertex):
    """Ask for the id of a vertex, where it is not the place of the vertex."""


@overload(fetch_id)
def _fetch_id(state, vertex):
    ids = dict(zip(state.fields, state.types, strict=True))["ids"]
    if isinstance(ids, (types.CPointer, Bounded)):
        return lambda state, vertex: prefetch(state.ids, vertex)
    return lambda state, vertex: None


def processing(rules: Rules) -> Callable[..., Any]:
    """Return the compiled function that serves one block of a bucket."""
    gather, settle = _gathering(rules), _settling(rules)
    out_place, named, take = rules.place, rules.source_place >= 0, rules.take

    @inner
    def process(graph, state, desk, lowest):
        """Serve a block of the lowest bucket; return how many vertices and edges that was."""
        ring, words, pending = desk.ring, desk.words, desk.pending
        out, offsets, targets = state[out_place], graph.offsets, graph.targets
        block, size = worklist.take_block(lowest & (WINDOW - 1), ring)
        base, edges, kept, useless = block * BLOCK, np.int64(0), np.int64(0), np.int64(0)
        again = np.int64(0)
        words[worklist.SERVED] = lowest
        words[worklist.UNSENT] = min(words[worklist.UNSENT], lowest)
        for step in range(size):
            source = np.int64(ring.pool[base + step])
            if step + 12 < size:
                prefetch(offsets, ring.pool[base + step + 12])
                if named:
                    fetch_id(state, ring.pool[base + step + 12])
                prefetch(out, ring.pool[base + step + 12])
            if step + 6 < size:
                prefetch(targets, offsets[ring.pool[base + step + 6]])
                fetch_weight(state, offsets[ring.pool[base + step + 6]])
            if not worklist.is_pending(pending, source):
                useless += 1
                continue
            worklist.clear_pending(pending, source)
            again += np.int64(worklist.is_pending(desk.served, source))
            worklist.set_pending(desk.served, source)
            take(source, state)
            edge, last = np.int64(offsets[source]), np.int64(offsets[source + 1])
            edges += last - edge
            while edge < last:
                until = min(last, edge + ROOM - kept)
                kept = gather(source, edge, until, kept, graph, state, desk)
                edge = until
                if kept == ROOM:
                    settle(kept, graph, state, desk)
                    kept = np.int64(0)
        settle(kept, graph, state, desk)
        if lowest < words[worklist.FURTHEST]:
            words[worklist.AGAIN] += again
        words[worklist.FURTHEST] = max(words[worklist.FURTHEST], lowest)
        words[worklist.USELESS] += useless
        words[worklist.CONSUMED] += size
        words[EDGES] += edges
        give_back(block, ring)
        return size + edges

    return process


def _gathering(rules: Rules) -> Callable[..., Any]:
    propose, wanted, place = rules.propose, rules.wanted, rules.place

    @inlined
    def gather(source, first, last, kept, graph, state, desk):
        """Gather proposals along some edges behind so many; return how many there are now."""
        out, targets, gathered = state[place], graph.targets, desk.gathered
        for edge in range(first, last):
            neighbor = np.int64(targets[edge])
            prefetch(out, neighbor)
            if wanted(neighbor, state):
                gathered.values[kept] = as_element(out, propose(source, neighbor, edge, state))
                gathered.neighbors[kept] = neighbor
                gathered.sources[kept] = source
                kept += 1
        return kept

    return gather


def _combining(rules: Rules) -> Callable[..., Any]:
    """Return the function that combines a proposal; it tells whether that may be work.

    What copies add up is always handed on, and a sum that waits already is not asked again.
    """
    combine, add, is_ghost = rules.combine, rules.add, rules.is_ghost

    @inlined
    def improve(vertex, value, graph, state, desk):
        return combine(vertex, value, state)

    @inlined
    def add_up(vertex, value, graph, state, desk):
        if worklist.is_pending(desk.pending, vertex):
            add(vertex, value, state)
            return False
        if is_ghost(vertex, graph):
            add(vertex, value, state)
            return True
        return combine(vertex, value, state)

    return add_up if rules.adds_up else improve


def _settling(rules: Rules) -> Callable[..., Any]:
    combine, note = _combining(rules), rules.note
    bucket_of, by_value = rules.order
    is_ghost, owner_of = rules.is_ghost, rules.places.owner_of
    named = rules.source_place >= 0

    @inlined
    def improved(vertex, graph, state, desk):
        """Note that a vertex has improved: work of this device or, of a copy, another's."""
        links, again = desk.mail, worklist.is_pending(desk.pending, vertex)
        if is_ghost(vertex, graph):
            if not again:
                worklist.set_pending(desk.pending, vertex)
                peer = owner_of(vertex, links)
                mailbox.put_out(vertex, peer, links.outbox, links.ghost_starts)
        elif by_value or not again:
            worklist.set_pending(desk.pending, vertex)
            following = worklist.next_round(desk.words)
            bucket = bucket_of(vertex, state, desk.per_width, following)
            worklist.push(vertex, bucket, desk.words, desk.ring)

    @inner
    def settle(kept, graph, state, desk):
        """Combine so many proposals that were gathered."""
        gathered = desk.gathered
        improving, count = gathered.improving, np.int64(0)
        for entry in range(kept):
            neighbor, value = np.int64(gathered.neighbors[entry]), gathered.values[entry]
            gain = combine(neighbor, value, graph, state, desk)
            improving[count] = entry
            count += np.int64(gain)
        for step in range(count):
            entry = np.int64(improving[step])
            vertex = np.int64(gathered.neighbors[entry])
            if named:
                note(state, vertex, state.ids[np.int64(gathered.sources[entry])])
            improved(vertex, graph, state, desk)

    return settle

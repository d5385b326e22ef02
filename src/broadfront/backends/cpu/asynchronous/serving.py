"""Serving a block of vertices: propose along their edges, and split who improves.

A vertex of this device that improves is work for its own list; a copy of another device's goes to
the outbox, once until it is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.asynchronous import mailbox, worklist
from broadfront.backends.cpu.asynchronous.desk import EDGES
from broadfront.backends.cpu.asynchronous.rules import Rules
from broadfront.backends.cpu.operators.buckets import BLOCK, WINDOW, give_back
from broadfront.kernel import inlined, inner
from broadfront.pointers import as_element, prefetch


def processing(rules: Rules) -> Callable[..., Any]:
    """Return the compiled function that serves one block of a bucket."""
    propose, wanted, better, merge, note, place = rules[:6]
    bucket_of, by_value = rules.order
    is_ghost, owner_of = rules.is_ghost, rules.places.owner_of
    named = rules.source_place >= 0

    @inlined
    def improved(neighbor, graph, state, desk, again, before):
        """Note that a vertex has improved: work of this device or, of a copy, another's."""
        links = desk.mail
        if is_ghost(neighbor, graph):
            if not again:
                desk.pending[neighbor] = 1
                peer = owner_of(neighbor, links)
                mailbox.put_out(neighbor, peer, links.outbox, links.ghost_starts)
            return
        bucket = bucket_of(neighbor, state, desk.per_width, worklist.next_round(desk.words))
        if not again or (by_value and bucket < before):
            desk.pending[neighbor] = 1
            worklist.push(neighbor, bucket, desk.words, desk.ring)

    @inlined
    def walk(source, graph, state, desk):
        """Propose along the edges of a vertex; return how many there are."""
        out, targets, pending = state[place], graph.targets, desk.pending
        first, last = np.int64(graph.offsets[source]), np.int64(graph.offsets[source + 1])
        for edge in range(first, last):
            neighbor = np.int64(targets[edge])
            if edge + 16 < last:
                prefetch(out, targets[edge + 16])
            if not wanted(neighbor, state):
                continue
            proposal = as_element(out, propose(source, neighbor, edge, state))
            present = out[neighbor]
            if better(proposal, present):
                again = pending[neighbor] != 0
                before = np.int64(0)
                if again:
                    before = bucket_of(neighbor, state, desk.per_width, np.int64(0))
                out[neighbor] = merge(proposal, present)
                if named:
                    note(state, neighbor, state.ids[source])
                improved(neighbor, graph, state, desk, again, before)
        return last - first

    @inner
    def process(graph, state, desk, lowest):
        """Serve a block of the lowest bucket; return how many vertices and edges that was."""
        ring, words, pending = desk.ring, desk.words, desk.pending
        out, offsets, targets = state[place], graph.offsets, graph.targets
        final = np.int64(offsets[graph.num_vertices]) - 1
        block, size = worklist.take_block(lowest & (WINDOW - 1), ring)
        base, edges = block * BLOCK, np.int64(0)
        words[worklist.SERVED] = lowest
        for step in range(size):
            source = np.int64(ring.pool[base + step])
            if step + 12 < size:
                prefetch(offsets, ring.pool[base + step + 12])
                prefetch(pending, ring.pool[base + step + 12])
            if step + 6 < size:
                prefetch(targets, offsets[ring.pool[base + step + 6]])
            if step + 3 < size and final >= 0:
                ahead = np.int64(offsets[ring.pool[base + step + 3]])
                prefetch(out, targets[min(final, ahead)])
            if pending[source] == 0:
                words[worklist.USELESS] += 1
                continue
            pending[source] = 0
            edges += walk(source, graph, state, desk)
        words[worklist.CONSUMED] += size
        words[EDGES] += edges
        give_back(block, ring)
        return size + edges

    return process

"""Push by one thread: the whole queue in its order, without atomics, claims or meetings.

A device of one thread runs it always, and the first thread of several while a frontier is small and
the others wait. Nobody else touches the fields then, so a proposal is merged by a plain write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import keep_pace_in, poll, stopped
from broadfront.backends.cpu.operators.frontier import SLACK
from broadfront.backends.cpu.operators.walk import Rules
from broadfront.kernel import inlined, inner
from broadfront.pointers import as_element, prefetch

LOOK_EVERY = 4096
"""Vertices between two looks at the clock."""
MANY = 1 << 19
"""Of so many vertices fields are too large for the cache of a core."""


def push_alone(rules: Rules) -> Callable[..., Any]:
    """Return the compiled push of one iteration by one thread.

    It returns how long the next queue is, the edges that leave it, and the edges traversed.
    """
    propose, wanted, joins, note = rules.propose, rules.wanted, rules.joins, rules.note
    better, plainly = rules.combine.better, rules.combine.plainly
    fetch_ahead = fetching(rules)

    @inlined
    def push(control, graph, state, out, queue, following, spill, marks, size):
        offsets, targets = graph.offsets, graph.targets
        room = graph.num_vertices + SLACK
        final = np.int64(offsets[graph.num_vertices]) - 1
        kept = np.int64(0)
        edges = np.int64(0)
        visited = np.int64(0)
        page = np.int64(0)
        for place in range(size):
            if place & (LOOK_EVERY - 1) == LOOK_EVERY - 1:
                poll(control)
                if stopped(control):
                    break
            source = np.int64(queue[place])
            fetch_ahead(queue, place, size, graph, state, out, final)
            first, last = np.int64(offsets[source]), np.int64(offsets[source + 1])
            page = keep_pace_in(control, page, last)
            visited += last - first
            for edge in range(first, last):
                neighbor = np.int64(targets[edge])
                if not wanted(neighbor, state):
                    continue
                proposal = as_element(out, propose(source, neighbor, edge, state))
                before = out[neighbor]
                if not better(proposal, before):
                    continue
                after = plainly(proposal, before)
                out[neighbor] = after
                note(state, neighbor, source)
                if joins(neighbor, before, after, state, marks, graph):
                    edges += np.int64(offsets[neighbor + 1]) - np.int64(offsets[neighbor])
                    if kept < room:
                        following[kept] = neighbor
                    else:
                        spill[neighbor >> 6] |= np.uint64(1) << np.uint64(neighbor & 63)
                    kept += 1
        return kept, edges, visited

    return push


@inner
def last_to_fetch(graph):
    """Return the last arc whose end `fetch_ahead` looks at; -1 where fields stay in the cache."""
    if graph.num_vertices < MANY:
        return np.int64(-1)
    return np.int64(graph.offsets[graph.num_vertices]) - 1


def fetching(rules: Rules) -> Callable[..., Any]:
    """Return what asks for the memory that the vertices next in a queue will need.

    Also at their first neighbours: threads that merge by atomics wait there for all that they have
    asked for and all that they have written.
    """
    note_ahead = rules.note_ahead

    @inlined
    def at_neighbor(neighbor, graph, state, out):
        prefetch(out, neighbor)
        prefetch(graph.offsets, neighbor)
        note_ahead(state, neighbor)

    @inlined
    def fetch_ahead(queue, place, size, graph, state, out, final):
        if place + 12 < size:
            prefetch(graph.offsets, queue[place + 12])
        if place + 8 < size:
            prefetch(graph.targets, graph.offsets[queue[place + 8]])
        if place + 4 < size and final >= 0:
            first = np.int64(graph.offsets[queue[place + 4]])
            at_neighbor(np.int64(graph.targets[min(first, final)]), graph, state, out)
            at_neighbor(np.int64(graph.targets[min(first + 1, final)]), graph, state, out)

    return fetch_ahead

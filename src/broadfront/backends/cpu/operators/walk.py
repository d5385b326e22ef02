"""Walking the edges of one vertex: propose, settle, gather who joins the next frontier.

The innermost loop of every push; the ways to share work differ only in who walks what.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE
from broadfront.backends.cpu.operators.combine import Combine
from broadfront.backends.cpu.operators.frontier import LOCAL, MINE, SLACK, TAIL
from broadfront.kernel import inlined, inner
from broadfront.pointers import as_element


class Rules(NamedTuple):
    """What one `Advance` does along an edge, as compiled functions."""

    propose: Callable[..., Any]
    wanted: Callable[..., Any]
    combine: Combine
    joins: Callable[..., Any]
    note: Callable[..., Any]
    note_ahead: Callable[..., Any]
    """`note_ahead(state, vertex)` asks for the memory that `note` may write to."""


class Following(NamedTuple):
    """Where the next frontier goes: a queue, and a bitmap of those that it has no place for."""

    queue: Any
    spill: Any


def edge_walker(rules: Rules) -> Callable[..., Any]:
    """Return the compiled walk along some edges of one vertex.

    It returns how many vertices the thread has gathered, the edges of those that joined, and the
    proposals settled.
    """
    propose, wanted, joins, note = rules.propose, rules.wanted, rules.joins, rules.note
    better, settle, plainly = rules.combine

    @inlined
    def walk(source, first, last, graph, state, out, following, local, kept, marks, control, turn):
        offsets, targets = graph.offsets, graph.targets
        edges = np.int64(0)
        settled = np.int64(0)
        for edge in range(first, last):
            neighbor = np.int64(targets[edge])
            if not wanted(neighbor, state):
                continue
            proposal = as_element(out, propose(source, neighbor, edge, state))
            if better(proposal, out[neighbor]):
                before = settle(out, neighbor, proposal)
                settled += 1
                if not better(proposal, before):
                    continue
                note(state, neighbor, source)
                after = plainly(proposal, before)
                if joins(neighbor, before, after, state, marks, graph):
                    edges += np.int64(offsets[neighbor + 1]) - np.int64(offsets[neighbor])
                    local[kept] = neighbor
                    kept += 1
                    if kept == LOCAL:
                        kept = append(local, kept, following, graph.num_vertices, control, turn)
        return kept, edges, settled

    return walk


@inner
def append(local, kept, following, num_vertices, control, turn):
    """Append what a thread has gathered to the next queue; return that it holds nothing now."""
    if kept > 0:
        begin = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), kept)
        local[MINE] = begin
        fitting = max(np.int64(0), min(kept, num_vertices + SLACK - begin))
        for place in range(fitting):
            following.queue[begin + place] = local[place]
        for place in range(fitting, kept):
            vertex = np.int64(local[place])
            bit = np.uint64(1) << np.uint64(vertex & 63)
            atomics.bitwise_or(following.spill, vertex >> 6, bit)
    return np.int64(0)

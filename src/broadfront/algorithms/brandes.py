"""Brandes' programs: what the shortest paths from one source are worth to each vertex between.

Method: from a source, levels; paths are counted from level to level outwards, and what lies beyond
a vertex is shared among the paths to it from level to level inwards. Unweighted, the levels are
depths. Weighted, they are the most arcs on any shortest path, so that each arc of such a path (a
tight arc) leads to a later level.

Paths soon outnumber what float64 holds (over 10^600 between the corners of a grid of 1000 x 1000).
A count is ``paths * 2 ** (512 * power)``; powers are looked at once some count has passed 2^256.

Invariant: ``paths`` and ``share`` are zero until their level is done, so an offer of a neighbour in
the same or a later level is zero, and depths need not be read.

References
----------
Brandes: A faster algorithm for betweenness centrality (J. Mathematical Sociology 25, 2001).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from broadfront.algorithms.bfs import UNREACHED, one_hop_further, unreached
from broadfront.execution.program import Phase, Program
from broadfront.kernel import inner
from broadfront.operators.describe import Advance, Field, Functor, Levels, Operator

MANY, LESS = 2.0**256, 2.0**-512


@inner
def lowered(value, powers):
    """Return `value` as it counts where the unit is larger by so many powers."""
    if powers == 0:
        return value
    return value * LESS if powers == 1 else 0.0


def many_paths(state):
    """Tell whether some count has a power."""
    return state.many[0] != 0


def keep_paths(vertex, total, state):
    """Keep a count of paths, in a larger unit if there are very many."""
    if total >= MANY:
        total *= LESS
        state.power[vertex] += 1
        state.many[0] = 1
    state.paths[vertex] = 1.0 if state.depth[vertex] == 0 else total


def keep_share(vertex, total, state):
    """Keep what a path to the vertex has a share of: the vertex and all beyond it."""
    beyond = state.paths[vertex] * total
    state.share[vertex] = (1.0 + beyond) / state.paths[vertex]
    if state.depth[vertex] != 0:
        state.raw[vertex] += beyond


def brandes(reach: Operator, tight: Functor, given: Mapping[str, Field]) -> Program:
    """Return the program; ``tight(tail, head, edge, state)`` tells if a path may take an arc."""
    tight = inner(tight)

    def paths_through(neighbor, vertex, edge, state):
        return state.paths[neighbor] if tight(neighbor, vertex, edge, state) else 0.0

    def very_many_paths(vertex, state):
        total, power = 0.0, 0
        for edge in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
            tail = state.in_targets[edge]
            if state.paths[tail] != 0.0 and tight(tail, vertex, edge, state):
                higher = state.power[tail] - power
                if higher > 0:
                    total = lowered(total, higher)
                    power += higher
                total += lowered(state.paths[tail], max(0, -higher))
        state.power[vertex] = power
        return total

    def share_of(neighbor, vertex, edge, state):
        return state.share[neighbor] if tight(vertex, neighbor, edge, state) else 0.0

    def share_of_very_many(vertex, state):
        total = 0.0
        for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
            head = state.targets[edge]
            if state.share[head] != 0.0 and tight(vertex, head, edge, state):
                total += lowered(state.share[head], state.power[head] - state.power[vertex])
        return total

    number = Field(np.float64)
    fields = {"paths": number, "power": Field(np.int32),
              "many": Field(np.int32, length=1, combine="max"),
              "share": number, "raw": number}  # fmt: skip
    outwards = Levels(
        paths_through, keep_paths, by="depth", when=many_paths, instead=very_many_paths
    )
    inwards = Levels(
        share_of, keep_share, descending=True, when=many_paths, instead=share_of_very_many
    )
    phases = [Phase([reach]), Phase([outwards]), Phase([inwards])]
    return Program({**given, **fields}, phases=phases, unordered=True, name="brandes")


def always(tail, head, edge, state):
    """Let any arc to the next depth be on a shortest path."""
    return True


def adds_up(tail, head, edge, state):
    """Tell whether an arc makes up the difference in distance of its ends."""
    return state.distance[tail] + state.weight[edge] == state.distance[head]


def one_arc_more(source, neighbor, edge, state):
    """Propose one arc more along arcs that add up."""
    if state.distance[source] + state.weight[edge] != state.distance[neighbor]:
        return -1
    if state.distance[source] != state.distance[neighbor]:
        return state.depth[source] + 1
    if source != neighbor:
        state.lost[0] = 1
    return -1


UNWEIGHTED = brandes(
    Advance(one_hop_further, into="depth", cond=unreached, synchronous=False),
    always,
    {"depth": Field(np.uint32, fill=UNREACHED, combine="min")},
)


@cache
def weighted_brandes(dtype: np.dtype[Any]) -> Program:
    """Return the program that is given distances of a dtype."""
    given = {
        "depth": Field(np.int32, fill=-1, combine="max"),
        "distance": Field(dtype),
        "lost": Field(np.int32, length=1, combine="max"),
    }
    return brandes(Advance(one_arc_more, into="depth", synchronous=False), adds_up, given)

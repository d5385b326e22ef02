"""The rules of the benchmark, checked after every search at full scale.

1. The parents are a tree: the root is its own parent, and there is no cycle.
2. Tree edges join levels that differ by one; for shortest paths, distances that differ by the weight.
3. Every edge of the list joins levels that differ by at most one, or distances by its weight.
4. The tree spans the component of the root: no edge leads from a reached vertex to an unreached one.
5. Each vertex and its parent are joined by an edge of the list.

Method: one pass over the rows of the index on all threads. The edge to the parent is found on the
way, or else by bisection in the row of the parent; levels are looked up in a table of a byte each
that stays in the cache. Levels rise by one along the tree, so there is no cycle; distances
may stay the same, and there the chain of parents is followed until they do not. Distances are compared
in their own arithmetic, without tolerance: relaxing in any order ends at the same bits.

The same pass counts the tuples of the list within the reached component, by which TEPS are told.

References
----------
Graph500 benchmark specification 3.0, sections 8 (validation) and 9.2 (performance metrics).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import VerificationError
from broadfront.graph500.index import VERTICES_PER_PIECE, EdgeIndex
from broadfront.kernel import inlined, kernel

Array = NDArray[Any]

RULES = {
    1: "rule 1: the parents are a tree of which the root is its own parent",
    2: "rule 2: tree edges join levels that differ by one, or distances by the weight",
    3: "rule 3: edges join levels that differ by at most one, or distances by the weight",
    4: "rule 4: the tree spans the component of the root",
    5: "rule 5: tree edges are edges of the list",
}
TREE, TREE_LEVELS, EDGE_LEVELS, SPAN, TREE_EDGES = RULES
NOWHERE, APART = -1, -3
"""What depth has where nothing was reached; what levels have, so that it is next to none."""
MOST_NARROW = 127


class Offence(NamedTuple):
    """The first rule that a vertex and another break, and 0 if none; the tuples counted."""

    rule: int
    vertex: int
    other: int
    tuples: int


def check_levels(index: EdgeIndex, root: int, parent: Array, depth: Array) -> int:
    """Check a breadth-first search; return how many tuples of the list it has reached."""
    parent = _column(index, "parent", parent, index.targets.dtype)
    depth = _column(index, "depth", depth, np.dtype(np.int32))
    levels = np.empty(len(depth), np.int8 if depth.max() <= MOST_NARROW else np.int32)
    pieces = threads.ranges(len(depth), VERTICES_PER_PIECE)
    threads.run(lambda piece: _fill_levels(*pieces[piece], depth, levels), len(pieces))
    return _checked(index, root, parent, depth, _check_levels, levels)


def check_distances(
    index: EdgeIndex, root: int, parent: Array, distance: NDArray[np.float32]
) -> int:
    """Check shortest paths; return how many tuples of the list they have reached."""
    parent = _column(index, "parent", parent, index.targets.dtype)
    distance = _column(index, "distance", distance, np.dtype(np.float32))
    return _checked(index, root, parent, distance, _check_distances, index.weights)


def _column(index: EdgeIndex, name: str, values: Array, dtype: np.dtype[Any]) -> Array:
    if values.shape != (index.num_vertices,):
        raise VerificationError(RULES[TREE], f"{name} has shape {values.shape}")
    return np.ascontiguousarray(values, dtype)


def _checked(
    index: EdgeIndex, root: int, parent: Array, found: Array, check: Any, beside: Any
) -> int:
    pieces = threads.ranges(index.num_vertices, VERTICES_PER_PIECE)
    rows = index.offsets, index.targets
    offences = [
        Offence(*told)
        for told in threads.run(
            lambda piece: check(*pieces[piece], *rows, root, parent, found, beside), len(pieces)
        )
    ]
    broken = [offence for offence in offences if offence.rule]
    if broken:
        worst = min(broken)
        raise _error(worst, root, parent, found)
    return sum(offence.tuples for offence in offences)


def _error(offence: Offence, root: int, parent: Array, found: Array) -> VerificationError:
    """Return the error for an offence; a cycle breaks the first rule before any other."""
    rule, vertex, other, _ = offence
    if rule == TREE_LEVELS and _in_cycle(parent, vertex):
        rule = TREE
    problem = f"vertex {vertex} with parent {parent[vertex]} and {found[vertex]}"
    if rule in (EDGE_LEVELS, SPAN):
        problem = f"edge {vertex} - {other} with {found[vertex]} and {found[other]}"
    elif rule == TREE and vertex != root:
        problem += ": a cycle or no tree"
    return VerificationError(RULES[rule], f"root {root}, {problem}")


def _in_cycle(parent: Array, vertex: int) -> bool:
    """Return whether the parents of a vertex lead to no end."""
    seen = set[int]()
    while vertex not in seen and 0 <= parent[vertex] != vertex:
        seen.add(vertex)
        vertex = int(parent[vertex])
    return vertex in seen


@inlined
def _place(offsets, targets, vertex, other):
    """Return where a tuple of two ends is in the row of the first, or -1; the first of parallels."""
    begin, end = offsets[vertex], offsets[vertex + 1]
    last = end
    while begin < end:
        middle = begin + (end - begin) // 2
        if targets[middle] < other:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < last and targets[begin] == other else -1


@inlined
def _misplaced(vertex, root, parent, reached):
    """Return whether what a vertex has for a parent is no part of any tree."""
    above = parent[vertex]
    if not reached:
        return above != NOWHERE or vertex == root
    return above < 0 or above >= len(parent) or (above == vertex) != (vertex == root)


@kernel
def _fill_levels(first, last, depth, levels):
    for vertex in range(first, last):
        levels[vertex] = depth[vertex] if depth[vertex] >= 0 else APART


@kernel
def _check_levels(first, last, offsets, targets, root, parent, depth, levels):
    tuples = 0
    for vertex in range(first, last):
        hops = depth[vertex]
        above = parent[vertex]
        if _misplaced(vertex, root, parent, hops >= 0) or (hops == 0) != (vertex == root):
            return TREE, vertex, above, 0
        if hops > 0 and depth[above] != hops - 1:
            return TREE_LEVELS, vertex, above, 0
        begin = np.uint64(offsets[vertex])  # an unsigned index is not asked whether it is negative
        end = np.uint64(offsets[vertex + 1])
        level = np.int64(levels[vertex])
        far = False
        joined = hops <= 0
        for arc in range(begin, end):
            other = targets[arc]
            joined |= other == above
            far |= abs(np.int64(levels[np.uint64(other)]) - level) > 1
        if far:
            other = _far_neighbor(begin, end, targets, levels, level)
            return SPAN if min(hops, depth[other]) < 0 else EDGE_LEVELS, vertex, other, 0
        if not joined and _place(offsets, targets, above, vertex) < 0:
            return TREE_EDGES, vertex, above, 0
        if hops >= 0:
            tuples += np.int64(end - begin)
    return 0, 0, 0, tuples


@kernel
def _far_neighbor(begin, end, targets, levels, level):
    """Return the first neighbour that is more than one level away."""
    arc = begin
    while abs(np.int64(levels[targets[arc]]) - level) <= 1:
        arc += np.uint64(1)
    return targets[arc]


@kernel
def _check_distances(first, last, offsets, targets, root, parent, distance, weights):
    tuples = 0
    for vertex in range(first, last):
        length = distance[vertex]
        above = parent[vertex]
        reached = length < np.inf
        if _misplaced(vertex, root, parent, reached) or (vertex == root and length != 0):
            return TREE, vertex, above, 0
        if reached and vertex != root:
            rule = _tree_edge(offsets, targets, weights, vertex, above, distance)
            if rule != 0:
                return rule, vertex, above, 0
            if not _leads_down(vertex, root, parent, distance):
                return TREE, vertex, above, 0
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            other = targets[arc]
            if (distance[other] < np.inf) != reached:
                return SPAN, vertex, other, 0
            if reached:
                weight = weights[arc]
                if not (distance[other] <= length + weight and length <= distance[other] + weight):
                    return EDGE_LEVELS, vertex, other, 0
        if reached:
            tuples += offsets[vertex + 1] - offsets[vertex]
    return 0, 0, 0, tuples


@inlined
def _tree_edge(offsets, targets, weights, vertex, above, distance):
    """Return the rule that a tree edge breaks, or 0: of parallel edges one must make the distance."""
    tail, head = vertex, above
    place = _place(offsets, targets, tail, head)
    if place < 0:
        tail, head = above, vertex
        place = _place(offsets, targets, tail, head)
    if place < 0:
        return TREE_EDGES
    while place < offsets[tail + 1] and targets[place] == head:
        if distance[above] + weights[place] == distance[vertex]:
            return 0
        place += 1
    return TREE_LEVELS


@inlined
def _leads_down(vertex, root, parent, distance):
    """Return whether the chain of parents comes to a smaller distance, or to the root."""
    length = distance[vertex]
    steps = 0
    while vertex != root and steps <= len(parent):
        vertex = parent[vertex]
        if vertex < 0 or vertex >= len(parent):
            return False
        if distance[vertex] < length:
            return True
        steps += 1
    return vertex == root

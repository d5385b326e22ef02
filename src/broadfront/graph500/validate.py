"""The rules of the benchmark, checked after every search at full scale.

1. The parents are a tree: the root is its own parent, and there is no cycle.
2. Tree edges join levels that differ by one; of shortest paths, distances by the weight.
3. Every edge of the list joins levels that differ by at most one, or distances by its weight.
4. The tree spans the component of the root: no edge leads from a reached to an unreached vertex.
5. Each vertex and its parent are joined by an edge of the list.

Method: one pass over the rows of the index on all threads. The edge to the parent is found on the
way, or else by bisection in the row of the parent; levels are looked up in a table by rank, a byte
each, of which nearly all that is needed stays in the cache. Levels rise by one along the tree, so
there is no cycle; distances may stay the same, and there the chain of parents is followed until
they do not. Distances are compared in their own arithmetic, without tolerance: relaxing in any
order ends at the same bits.

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
from broadfront.graph500.index import EdgeIndex
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
VERTICES_PER_PIECE = 1 << 15


class Offence(NamedTuple):
    """The rule that a vertex and another, by its rank, break; else 0, and the tuples counted."""

    rule: int
    vertex: int
    rank: int
    tuples: int


def check_levels(index: EdgeIndex, root: int, parent: Array, depth: Array) -> int:
    """Check a breadth-first search; return how many tuples of the list it has reached."""
    depth = _column(index, "depth", depth, np.dtype(np.int32))
    narrow = depth.max() <= MOST_NARROW
    return _checked(index, root, parent, depth, np.dtype(np.int8 if narrow else np.int32))


def check_distances(
    index: EdgeIndex, root: int, parent: Array, distance: NDArray[np.float32]
) -> int:
    """Check shortest paths; return how many tuples of the list they have reached."""
    distance = _column(index, "distance", distance, np.dtype(np.float32))
    return _checked(index, root, parent, distance, distance.dtype)


def _column(index: EdgeIndex, name: str, values: Array, dtype: np.dtype[Any]) -> Array:
    if values.shape != (index.num_vertices,):
        raise VerificationError(RULES[TREE], f"{name} has shape {values.shape}")
    if values.dtype == dtype:
        return np.ascontiguousarray(values)
    narrowed = values.astype(dtype)
    if not np.array_equal(narrowed, values):
        raise VerificationError(RULES[TREE], f"{name} has values that {dtype} does not hold")
    return narrowed


def _checked(
    index: EdgeIndex, root: int, parent: Array, found: Array, narrow: np.dtype[Any]
) -> int:
    parent = _column(index, "parent", parent, index.ranks.dtype)
    pieces = threads.ranges(index.num_vertices, VERTICES_PER_PIECE)
    by_rank = np.empty(len(found), narrow)
    threads.run(
        lambda piece: _sort_by_rank(*pieces[piece], index.rank_of, found, by_rank), len(pieces)
    )
    if found.dtype == np.float32:
        offences = threads.run(
            lambda piece: _check_distances(*pieces[piece], *index, root, parent, found, by_rank),
            len(pieces),
        )
    else:
        offences = threads.run(
            lambda piece: _check_levels(*pieces[piece], *index, root, parent, found, by_rank),
            len(pieces),
        )
    broken = [Offence(*offence) for offence in offences if offence[0]]
    if broken:
        raise _error(index, min(broken), root, parent, found)
    return sum(offence[-1] for offence in offences)


def _error(
    index: EdgeIndex, offence: Offence, root: int, parent: Array, found: Array
) -> VerificationError:
    """Return the error for an offence; a cycle breaks the first rule before any other."""
    rule, vertex, rank, _ = offence
    if rule == TREE_LEVELS and _in_cycle(parent, vertex):
        rule = TREE
    problem = f"vertex {vertex} with parent {parent[vertex]} and {found[vertex]}"
    if rule in (EDGE_LEVELS, SPAN):
        other = int(np.flatnonzero(index.rank_of == rank)[0])
        problem = f"edge {vertex} - {other} with {found[vertex]} and {found[other]}"
    elif rule == TREE and vertex != root:
        problem += ": a cycle or no tree"
    return VerificationError(RULES[rule], f"root {root}, {problem}")


def _in_cycle(parent: Array, vertex: int) -> bool:
    """Return whether the parents of a vertex lead to no end."""
    seen = set[int]()
    while vertex not in seen and 0 <= parent[vertex] < len(parent) and parent[vertex] != vertex:
        seen.add(vertex)
        vertex = int(parent[vertex])
    return vertex in seen


@inlined
def _place(offsets, ranks, vertex, rank):
    """Return where a rank is first in the row of a vertex, -1 if it is not there."""
    begin, end = offsets[vertex], offsets[vertex + 1]
    last = end
    while begin < end:
        middle = begin + (end - begin) // 2
        if ranks[middle] < rank:
            begin = middle + 1
        else:
            end = middle
    return begin if begin < last and ranks[begin] == rank else -1


@inlined
def _misplaced(vertex, root, above, size, reached):
    """Return whether a parent is no part of any tree; without branches, for speed."""
    inside = np.uint64(above) < np.uint64(size)  # a negative number is a large one here
    odd = (inside != reached) | ((above == vertex) != (vertex == root))
    return odd | ((above != NOWHERE) & (not reached))


@inlined
def _far(level, other):
    """Return whether levels differ by more than one, by a single comparison."""
    return np.uint32(np.int32(level) - other + np.int32(1)) > np.uint32(2)


@kernel
def _sort_by_rank(first, last, rank_of, found, by_rank):
    for vertex in range(first, last):
        by_rank[rank_of[vertex]] = found[vertex] if found[vertex] >= 0 else APART


@kernel
def _check_levels(
    first, last, offsets, ranks, weights, rank_of, root, parent, depth, levels
):  # fmt: skip
    tuples, size = 0, len(parent)
    for vertex in range(first, last):
        hops = depth[vertex]
        above = parent[vertex]
        misplaced = _misplaced(vertex, root, above, size, hops >= 0)
        misplaced |= ((hops == 0) != (vertex == root)) | (hops < NOWHERE)
        wanted = rank_of[np.uint64(0 if misplaced else max(above, 0))]
        if misplaced | ((hops > 0) & (levels[np.uint64(wanted)] != hops - 1)):
            return TREE if misplaced else TREE_LEVELS, vertex, 0, 0
        begin = np.uint64(offsets[vertex])  # an unsigned index is not asked whether it is negative
        end = np.uint64(offsets[vertex + 1])
        level = np.int32(hops if hops >= 0 else APART)
        far = False
        joined = hops <= 0
        for place in range(begin, end):
            rank = ranks[place]
            joined |= rank == wanted
            far |= _far(levels[np.uint64(rank)], level)
        if far:
            while not _far(levels[ranks[begin]], level):
                begin += np.uint64(1)
            rank = ranks[begin]
            return SPAN if min(level, levels[rank]) < 0 else EDGE_LEVELS, vertex, rank, 0
        if not joined and _place(offsets, ranks, above, rank_of[vertex]) < 0:
            return TREE_EDGES, vertex, 0, 0
        if hops >= 0:
            tuples += np.int64(end - begin)
    return 0, 0, 0, tuples


@kernel
def _check_distances(
    first, last, offsets, ranks, weights, rank_of, root, parent, distance, lengths
):  # fmt: skip
    tuples = 0
    for vertex in range(first, last):
        length = distance[vertex]
        reached = length < np.inf
        misplaced = _misplaced(vertex, root, parent[vertex], len(parent), reached)
        if misplaced or (vertex == root and length != 0):
            return TREE, vertex, 0, 0
        if reached and vertex != root:
            rule = _tree_edge(offsets, ranks, weights, rank_of, vertex, parent[vertex], distance)
            if rule != 0:
                return rule, vertex, 0, 0
            if not _leads_down(vertex, root, parent, distance):
                return TREE, vertex, 0, 0
        for place in range(np.uint64(offsets[vertex]), np.uint64(offsets[vertex + 1])):
            other = lengths[np.uint64(ranks[place])]
            if (other < np.inf) != reached:
                return SPAN, vertex, ranks[place], 0
            if not (other <= length + weights[place] and length <= other + weights[place]):
                return EDGE_LEVELS, vertex, ranks[place], 0
        if reached:
            tuples += offsets[vertex + 1] - offsets[vertex]
    return 0, 0, 0, tuples


@inlined
def _tree_edge(offsets, ranks, weights, rank_of, vertex, above, distance):
    """Return the rule that a tree edge breaks, or 0; one of parallel edges must be tight."""
    row, rank = vertex, rank_of[above]
    place = _place(offsets, ranks, row, rank)
    if place < 0:
        row, rank = above, rank_of[vertex]
        place = _place(offsets, ranks, row, rank)
    if place < 0:
        return TREE_EDGES
    while place < offsets[row + 1] and ranks[place] == rank:
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

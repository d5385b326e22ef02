"""Checks shortest paths: distances are exact, parents a tree of shortest paths.

Method: no arc can be relaxed, so no distance is too large; every reached vertex is found by a
traversal from the sources over tight arcs alone (the distance of the tail plus the weight is the
distance of the head), so each distance is the length of a path and none is too small. A traversal,
because tight arcs of weight zero can close a cycle whose vertices vouch for each other. Parents are
tight arcs, and their chains end at sources.

Relaxing is checked in the arithmetic of the distances, without tolerance: whatever the order of the
relaxations, floating-point addition is monotone and they end at the same bits. Tightness of floats
has a relative tolerance. Integer sums beyond int64 count as unreached.

Invariant: a distance is certain only after a source, or a certain distance one tight arc before it.

References
----------
McConnell, Mehlhorn, Näher, Schweitzer: Certifying algorithms (Computer Science Review 5, 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.verify.rules import (
    Positions,
    answer,
    broken_edge,
    broken_vertex,
    first,
    name_of,
    positions,
)
from broadfront.verify.tree import parent_arcs

Array = NDArray[Any]

TOLERANCE = {np.dtype(np.int64): 0.0, np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}


def verify_sssp(
    graph: Graph,
    sources: Positions,
    distance: ArrayLike,
    reached: ArrayLike | None = None,
    parent: ArrayLike | None = None,
) -> None:
    """Check the distances, and the mask and the parents if given, of shortest paths.

    Parameters
    ----------
    sources
        The position of the source, or of several that all have distance 0.
    distance
        The dtype of the weights where they are floats, int64 elsewhere and without weights; inf or
        the largest int64 where unreached.
    reached
        Booleans: where there is a distance.
    parent
        Positions, int32 or the dtype of the graph's targets; -1 where unreached.

    Raises
    ------
    VerificationError
        Names the broken rule and the first offending vertex or edge.

    Examples
    --------
    >>> import broadfront as bf
    >>> from broadfront.verify import verify_sssp
    >>> graph = bf.from_edges([0, 0, 2], [1, 2, 1], weight=[5.0, 2.0, 1.0])
    >>> verify_sssp(graph, 0, [0.0, 3.0, 2.0])
    >>> verify_sssp(graph, 0, [0.0, 5.0, 2.0])
    Traceback (most recent call last):
    ...
    broadfront.errors.VerificationError: no arc can be relaxed: edge 2 -> 1: 2.0 + 1.0 < 5.0
    """
    roots = positions(graph, sources)
    weights = np.empty(0, np.int64) if graph.weights is None else graph.weights
    dtype = weights.dtype if weights.dtype.kind == "f" else np.dtype(np.int64)
    distance = answer(graph, "distance", distance, dtype)
    unreached = dtype.type(np.inf if dtype.kind == "f" else np.iinfo(np.int64).max)
    _check_values(graph, roots, distance)
    if reached is not None:
        reached = answer(graph, "reached", reached, np.bool_)
        _check_reached(graph, reached, distance, unreached)
    _check_relaxed(graph, distance, unreached)
    _check_tight(graph, roots, distance, unreached)
    if parent is not None:
        parent = answer(graph, "parent", parent, np.int32, graph.targets.dtype)
        _check_parents(graph, roots, distance, unreached, parent)


def _check_values(graph: Graph, roots: Array, distance: Array) -> None:
    wrong = first(~(distance >= 0))
    if wrong is not None:
        rule = "distances are numbers, zero or more"
        raise broken_vertex(graph, rule, wrong, f"distance {distance[wrong]}")
    wrong = first(distance[roots] != 0)
    if wrong is not None:
        root = int(roots[wrong])
        raise broken_vertex(graph, "sources have distance 0", root, f"distance {distance[root]}")


def _check_reached(graph: Graph, reached: Array, distance: Array, unreached: Any) -> None:
    wrong = first(reached != (distance != unreached))
    if wrong is not None:
        raise broken_vertex(
            graph, "reached where there is a distance", wrong,
            f"reached {reached[wrong]}, distance {distance[wrong]}",
        )  # fmt: skip


def _check_relaxed(graph: Graph, distance: Array, unreached: Any) -> None:
    tail, arc = _first_relaxable(graph.offsets, graph.targets, graph.weights, distance, unreached)
    if tail < 0:
        return
    head = int(graph.targets[arc])
    rule = "no arc can be relaxed"
    if distance[head] == unreached:
        rule = "neighbours of reached vertices are reached"
    weight = 1 if graph.weights is None else graph.weights[arc]
    raise broken_edge(graph, rule, tail, head, f"{distance[tail]} + {weight} < {distance[head]}")


def _check_tight(graph: Graph, roots: Array, distance: Array, unreached: Any) -> None:
    certain = np.zeros(graph.num_vertices, np.bool_)
    _follow_tight(
        graph.offsets, graph.targets, graph.weights, distance, unreached,
        TOLERANCE[distance.dtype], roots, certain,
    )  # fmt: skip
    wrong = first((distance != unreached) & ~certain)
    if wrong is not None:
        rule = "distances are lengths of paths from a source"
        raise broken_vertex(graph, rule, wrong, f"distance {distance[wrong]}")


def _check_parents(
    graph: Graph, roots: Array, distance: Array, unreached: Any, parent: Array
) -> None:
    arcs = parent_arcs(graph, roots, parent, distance != unreached)
    child = _first_loose_parent(
        graph.offsets, graph.targets, graph.weights, distance, unreached,
        TOLERANCE[distance.dtype], parent, arcs,
    )  # fmt: skip
    if child >= 0:
        tail = int(parent[child])
        raise broken_edge(
            graph, "tree edges are tight", tail, child,
            f"distances {distance[tail]} and {distance[child]}",
        )  # fmt: skip
    child = _first_on_cycle(parent, arcs)
    if child >= 0:
        raise broken_vertex(
            graph,
            "chains of parents end at a source",
            child,
            f"parent {name_of(graph, parent[child])!r}",
        )


@kernel
def _length(known, weights, arc, unreached):
    # A step of either 1 or a weight would be float64 to Numba, where float32 is meant.
    if weights is None:
        return known + 1
    if weights[arc] > unreached - known:
        return unreached
    return known + weights[arc]


@kernel
def _first_relaxable(offsets, targets, weights, distance, unreached):
    for tail in range(len(distance)):
        known = distance[tail]
        if known == unreached:
            continue
        for arc in range(offsets[tail], offsets[tail + 1]):
            if _length(known, weights, arc, unreached) < distance[targets[arc]]:
                return tail, arc
    return -1, -1


@kernel
def _follow_tight(offsets, targets, weights, distance, unreached, tolerance, roots, certain):
    queue = np.empty(len(distance), np.int64)
    found = 0
    for root in roots:
        certain[root] = True
        queue[found] = root
        found += 1
    turn = 0
    while turn < found:
        tail = queue[turn]
        turn += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = targets[arc]
            goal = distance[head]
            if certain[head] or goal == unreached:
                continue
            length = _length(distance[tail], weights, arc, unreached)
            if abs(length - goal) <= tolerance * goal:
                certain[head] = True
                queue[found] = head
                found += 1


@kernel
def _first_loose_parent(
    offsets, targets, weights, distance, unreached, tolerance, parent, arcs
):  # fmt: skip
    for child in range(len(parent)):
        arc = arcs[child]
        if arc < 0:
            continue
        end = offsets[parent[child] + 1]
        tight = False
        while not tight and arc < end and targets[arc] == child:  # or one parallel to it
            length = _length(distance[parent[child]], weights, arc, unreached)
            tight = abs(length - distance[child]) <= tolerance * distance[child]
            arc += 1
        if not tight:
            return child
    return -1


@kernel
def _first_on_cycle(parent, arcs):
    walk = np.full(len(parent), -1, np.int64)
    for start in range(len(parent)):
        place = start
        while arcs[place] >= 0 and walk[place] < 0:
            walk[place] = start
            place = parent[place]
        if arcs[place] >= 0 and walk[place] == start:
            return place
    return -1

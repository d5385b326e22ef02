"""Checks breadth-first search: depths are exact, parents a tree of shortest paths.

Method: Graph500's five rules, for any number of sources and for directed graphs. Sources, and only
they, have depth 0; the arcs of reached vertices lead to reached vertices and at most one level
down; every other reached vertex has an in-neighbour one level up. By induction along a path the
second says that no depth is too large, the third that none is too small, so the depths are exact.
Parents are -1 where unreached, the source its own; the other tree edges are edges of the graph and
join levels that differ by one, so that there is no cycle.

Invariant: a vertex counts as followed only by an arc from the level above. One pass over the arcs.

References
----------
Graph 500 benchmark specification, "Validation".
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
    positions,
)
from broadfront.verify.tree import parent_arcs

Array = NDArray[Any]


def verify_bfs(
    graph: Graph, sources: Positions, depth: ArrayLike, parent: ArrayLike | None = None
) -> None:
    """Check the depths, and the parents if given, of a breadth-first search.

    Parameters
    ----------
    sources
        The position of the source, or of several that all have depth 0.
    depth
        int32; -1 where unreached.
    parent
        Positions, int32 or the dtype of the graph's targets; -1 where unreached.

    Raises
    ------
    VerificationError
        Names the broken rule and the first offending vertex or edge.

    Examples
    --------
    >>> import numpy as np
    >>> import broadfront as bf
    >>> from broadfront.verify import verify_bfs
    >>> graph = bf.generate("path:4")
    >>> verify_bfs(graph, 0, np.array([0, 1, 2, 3], np.int32))
    >>> verify_bfs(graph, 0, np.array([0, 1, 2, 4], np.int32))
    Traceback (most recent call last):
    ...
    broadfront.errors.VerificationError: depth is -1 or below the number of vertices: ...
    """
    roots = positions(graph, sources)
    depth = answer(graph, "depth", depth, np.int32)
    _check_levels(graph, roots, depth)
    _check_arcs(graph, roots, depth)
    if parent is not None:
        parent = answer(graph, "parent", parent, np.int32, graph.targets.dtype)
        _check_parents(graph, roots, depth, parent)


def _check_levels(graph: Graph, roots: Array, depth: Array) -> None:
    wrong = first((depth < -1) | (depth >= graph.num_vertices))
    if wrong is not None:
        rule = "depth is -1 or below the number of vertices"
        raise broken_vertex(graph, rule, wrong, f"depth {depth[wrong]}")
    wrong = first(depth[roots] != 0)
    if wrong is not None:
        root = int(roots[wrong])
        raise broken_vertex(graph, "sources have depth 0", root, f"depth {depth[root]}")
    others = depth == 0
    others[roots] = False
    wrong = first(others)
    if wrong is not None:
        raise broken_vertex(graph, "only sources have depth 0", wrong, "depth 0")


def _check_arcs(graph: Graph, roots: Array, depth: Array) -> None:
    followed = np.zeros(graph.num_vertices, np.bool_)
    followed[roots] = True
    tail, arc = _first_long_arc(graph.offsets, graph.targets, depth, followed)
    if tail >= 0:
        head = int(graph.targets[arc])
        rule = "arcs lead at most one level down"
        if depth[head] < 0:
            rule = "neighbours of reached vertices are reached"
        raise broken_edge(graph, rule, tail, head, f"depths {depth[tail]} and {depth[head]}")
    wrong = first((depth >= 0) & ~followed)
    if wrong is not None:
        rule = "reached vertices have an in-neighbour one level up"
        raise broken_vertex(graph, rule, wrong, f"depth {depth[wrong]}")


def _check_parents(graph: Graph, roots: Array, depth: Array, parent: Array) -> None:
    children = parent_arcs(graph, roots, parent, depth >= 0) >= 0
    wrong = first(children & (depth[parent] != depth - 1))
    if wrong is not None:
        tail = int(parent[wrong])
        raise broken_edge(
            graph, "tree edges join levels that differ by one", tail, wrong,
            f"depths {depth[tail]} and {depth[wrong]}",
        )  # fmt: skip


@kernel
def _first_long_arc(offsets, targets, depth, followed):
    for tail in range(len(depth)):
        if depth[tail] < 0:
            continue
        below = depth[tail] + 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = targets[arc]
            if depth[head] < 0 or depth[head] > below:
                return tail, arc
            if depth[head] == below:
                followed[head] = True
    return -1, -1

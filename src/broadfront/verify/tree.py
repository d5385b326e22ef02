"""What makes an array of parents a tree in the graph, whatever the problem.

Rules: a vertex without a path has parent -1 and no other has; a source is its own parent; every
other parent is a vertex with an arc to its child. The arc is found by bisection among the sorted
neighbours. That the arcs lead down to a source is for the problem to say: by levels, or by a walk.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.verify.rules import broken_edge, broken_vertex, first, name_of

Array = NDArray[Any]


def parent_arcs(graph: Graph, roots: Array, parent: Array, reached: Array) -> Array:
    """Return for each vertex the place of its parent's arc in `targets`, -1 without one.

    Of parallel arcs it is the first.
    """
    wrong = first((parent == -1) & reached)
    if wrong is not None:
        raise broken_vertex(graph, "reached vertices have parents", wrong, "parent -1")
    wrong = first((parent != -1) & ~reached)
    if wrong is not None:
        raise broken_vertex(
            graph,
            "unreached vertices have parent -1",
            wrong,
            f"parent {name_of(graph, parent[wrong])!r}",
        )
    wrong = first((parent < -1) | (parent >= graph.num_vertices))
    if wrong is not None:
        raise broken_vertex(
            graph, "parents are vertices", wrong, f"parent {name_of(graph, parent[wrong])!r}"
        )
    wrong = first(parent[roots] != roots)
    if wrong is not None:
        root = int(roots[wrong])
        raise broken_vertex(
            graph, "sources are their own parents", root, f"parent {name_of(graph, parent[root])!r}"
        )
    children = reached.copy()
    children[roots] = False
    arcs = np.full(graph.num_vertices, -1, np.int64)
    child = int(_find_arcs(graph.offsets, graph.targets, parent, children, arcs))
    if child >= 0:
        raise broken_edge(
            graph, "tree edges are edges of the graph", int(parent[child]), child, "no such edge"
        )
    return arcs


@kernel
def _find_arcs(offsets, targets, parent, children, arcs):
    for child in range(len(parent)):
        if not children[child]:
            continue
        end = offsets[parent[child] + 1]
        low = offsets[parent[child]]
        high = end
        while low < high:
            middle = low + (high - low) // 2
            if targets[middle] < child:
                low = middle + 1
            else:
                high = middle
        if low == end or targets[low] != child:
            return child
        arcs[child] = low
    return -1

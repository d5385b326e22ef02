"""Edges of what a search has reached, as Graph500 counts them: for traversed edges per second.

An edge counts if an end of it was reached, whether the search looked at it or not; of an undirected
graph every edge counts once, as in `Graph.num_edges`. So a search that avoids edges is credited
with being quick, and all searches of a graph are measured by the same number.

References
----------
Graph500 benchmark specification: performance metrics (TEPS).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel

Array = NDArray[Any]

VERTICES_PER_PIECE = 1 << 16


def edges_reached(graph: Graph, reached: Array, whole: bool = True) -> int:
    """Return the edges with an end in `reached`; of a directed graph the arcs that leave it.

    `whole` tells that the search was not stopped: then no edge leads out of an undirected one.
    """
    if graph.directed or (whole and graph.num_self_loops == 0):
        arcs = int(graph.degrees.sum(where=reached, dtype=np.int64))
        return arcs if graph.directed else arcs // 2
    pieces = threads.ranges(graph.num_vertices, VERTICES_PER_PIECE)
    offsets, targets = graph.offsets, graph.targets

    def count(piece: int) -> int:
        return int(_count_edges(*pieces[piece], offsets, targets, reached))

    return sum(threads.run(count, len(pieces)))


@kernel
def _count_edges(first, last, offsets, targets, reached):
    """Count the edges of some vertices that were reached, each edge at one of its ends."""
    edges = 0
    for vertex in range(first, last):
        if reached[vertex]:
            for arc in range(offsets[vertex], offsets[vertex + 1]):
                neighbor = targets[arc]
                edges += neighbor >= vertex or not reached[neighbor]
    return edges

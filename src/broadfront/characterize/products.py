"""The four primitives as products over semirings, as a user would write them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.characterize.vertex_programs import DAMPING
from broadfront.graph.csr import Graph
from broadfront.models.semiring import Vector, any_pair, min_first, min_plus, plus_first, vxm


def search(graph: Graph, source: int, **options: Any) -> NDArray[np.int32]:
    """Search from a source."""
    depth = np.full(graph.num_vertices, -1, np.int32)
    frontier, level = Vector(graph.num_vertices, [source]), 0
    while len(frontier):
        depth[frontier.indices] = level
        frontier = vxm(frontier, graph, any_pair, mask=depth < 0, **options)
        level += 1
    return depth


def shortest_paths(graph: Graph, source: int, **options: Any) -> NDArray[np.float64]:
    """Find shortest paths from a source."""
    distance = np.full(graph.num_vertices, np.inf)
    distance[source] = 0
    frontier = Vector(graph.num_vertices, [source], 0.0)
    while len(frontier):
        frontier = vxm(frontier, graph, min_plus, into=distance, **options)
    return distance


def components(graph: Graph, **options: Any) -> NDArray[np.int64]:
    """Give every vertex the smallest number in its component."""
    label = np.arange(graph.num_vertices)
    frontier = Vector(graph.num_vertices, label, label)
    while len(frontier):
        frontier = vxm(frontier, graph, min_first, into=label, **options)
    return label


def pagerank(graph: Graph, **options: Any) -> NDArray[np.float64]:
    """Rank vertices by 20 iterations."""
    ways, jump = graph.degrees, 1 / max(1, graph.num_vertices)
    rank = np.full(graph.num_vertices, jump)
    for _ in range(20):
        share = np.divide(rank, ways, out=np.zeros_like(rank), where=ways > 0)
        stuck = rank[ways == 0].sum()
        rank = DAMPING * vxm(share, graph, plus_first, **options)
        rank += (1 - DAMPING + DAMPING * stuck) * jump
    return rank

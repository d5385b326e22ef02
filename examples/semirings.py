"""Breadth-first search, shortest paths, PageRank and triangles as products over semirings."""

import numpy as np

import broadfront as bf
from broadfront.models.semiring import (
    Vector,
    any_pair,
    masked_square_sum,
    min_plus,
    plus_first,
    plus_pair,
    vxm,
)  # fmt: skip


def bfs(graph, source, **options):
    depth = np.full(graph.num_vertices, -1, np.int32)
    frontier, level = Vector(graph.num_vertices, [source]), 0
    while len(frontier):
        depth[frontier.indices] = level
        frontier = vxm(frontier, graph, any_pair, mask=depth < 0, **options)
        level += 1
    return depth


def sssp(graph, source, **options):
    distance = np.full(graph.num_vertices, np.inf)
    distance[source] = 0
    frontier = Vector(graph.num_vertices, [source], 0.0)
    while len(frontier):
        frontier = vxm(frontier, graph, min_plus, into=distance, **options)
    return distance


def pagerank(graph, damping=0.85, tol=1e-6, **options):
    ways = np.diff(graph.offsets)
    jump = 1 / max(1, graph.num_vertices)
    rank, change = np.full(graph.num_vertices, jump), 1.0
    while change > tol:
        share = np.divide(rank, ways, out=np.zeros_like(rank), where=ways > 0)
        stuck = rank[ways == 0].sum()
        moved = damping * vxm(share, graph, plus_first, **options)
        moved += (1 - damping + damping * stuck) * jump
        rank, change = moved, np.abs(moved - rank).sum()
    return rank


def triangles(graph, **options):
    return masked_square_sum(graph, plus_pair, **options) // 6


if __name__ == "__main__":
    graph = bf.generate("kron:10:simple=yes:weights=1-63")
    print(bfs(graph, 5)[:10], sssp(graph, 5)[:10])
    print(pagerank(graph).argsort()[-5:], triangles(graph))

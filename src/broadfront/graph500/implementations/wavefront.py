"""Wavefront: in every level each vertex has a turn, whether it is in the front or not.

Three maps say of each vertex whether it is in the current front, in the next, and visited. A level
is two phases on all threads: vertices of the front put their unvisited neighbours into the next
front; then these become the current one. Several threads may give the same vertex a parent: each of
them is one level above, so any will do.

References
----------
Harish, Narayanan: Accelerating large graph algorithms on the GPU using CUDA (HiPC 2007).
"""

from __future__ import annotations

import numpy as np

from broadfront import threads
from broadfront.graph500.implementations.contract import Tree, root_alone
from broadfront.graph500.implementations.sequential_csr import Rows, build
from broadfront.kernel import kernel

__all__ = ["build", "search"]

VERTICES_PER_PIECE = 1 << 14


def search(rows: Rows, root: int) -> Tree:
    """Search from a root."""
    size = len(rows.offsets) - 1
    tree = root_alone(size, root, rows.targets.dtype)
    current, following, visited = np.zeros((3, size), np.bool_)
    current[root] = visited[root] = True
    pieces = threads.ranges(size, VERTICES_PER_PIECE)
    level, alive = 0, True
    while alive:
        level += 1
        threads.run(
            lambda piece: _reach(*pieces[piece], *rows, current, following, visited, tree.parent),
            len(pieces),
        )
        alive = any(
            threads.run(
                lambda piece, level=level: _step(  # type: ignore[misc]
                    *pieces[piece], level, current, following, visited, tree.depth
                ),
                len(pieces),
            )
        )
    return tree


@kernel
def _reach(first, last, offsets, targets, current, following, visited, parent):
    for vertex in range(first, last):
        if current[vertex]:
            current[vertex] = False
            for arc in range(offsets[vertex], offsets[vertex + 1]):
                neighbor = targets[arc]
                if not visited[neighbor]:
                    parent[neighbor] = vertex
                    following[neighbor] = True


@kernel
def _step(first, last, level, current, following, visited, depth):
    alive = False
    for vertex in range(first, last):
        if following[vertex]:
            following[vertex] = False
            current[vertex] = visited[vertex] = alive = True
            depth[vertex] = level
    return alive

"""Checks triangle counts, of the whole graph and at each vertex.

Method: the counts at the vertices sum to three times the total, and each equals a serial count by
marking. Vertices are ranked by degree, largest first, and every edge is kept once, at its end of
smaller degree; a vertex marks its kept neighbours, and a kept neighbour of one of these that is
marked too closes a triangle. Direction, duplicates and self-loops do not count.

Invariant: a kept list has at most ``sqrt(2 m)`` entries for ``m`` edges, so the work is at most
``m ** 1.5``; every triangle is found once, at its vertex of smallest degree.

References
----------
Chiba, Nishizeki: Arboricity and subgraph listing algorithms (SIAM J. Computing 14, 1985).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import VerificationError
from broadfront.given import whole
from broadfront.graph import build
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.verify.rules import answer, broken_vertex, first

Array = NDArray[Any]


def verify_triangles(graph: Graph, total: int, per_vertex: ArrayLike) -> None:
    """Check the number of triangles, in all and at each vertex, of the undirected simple view.

    Parameters
    ----------
    per_vertex
        int64: the triangles that each vertex is a corner of.

    Raises
    ------
    VerificationError
        Names the broken rule and the first offending vertex.

    Examples
    --------
    >>> import broadfront as bf
    >>> from broadfront.verify import verify_triangles
    >>> graph = bf.generate("complete:4")
    >>> verify_triangles(graph, 4, [3, 3, 3, 3])
    >>> verify_triangles(graph, 4, [3, 4, 2, 3])
    Traceback (most recent call last):
    ...
    broadfront.errors.VerificationError: counts are exact: vertex 1: count 4, expected 3
    """
    total = whole(total, "total")
    per_vertex = answer(graph, "per_vertex", per_vertex, np.int64)
    wrong = first(per_vertex < 0)
    if wrong is not None:
        raise broken_vertex(graph, "counts are zero or more", wrong, f"count {per_vertex[wrong]}")
    corners = int(per_vertex.sum())
    if corners != 3 * total:
        raise VerificationError(
            "counts sum to three times the total", f"sum {corners:,}, total {total:,}"
        )
    expected = _counts(graph)
    wrong = first(per_vertex != expected)
    if wrong is not None:
        raise broken_vertex(
            graph, "counts are exact", wrong,
            f"count {per_vertex[wrong]}, expected {expected[wrong]}",
        )  # fmt: skip


def _counts(graph: Graph) -> Array:
    offsets, targets = graph.offsets, graph.targets
    if graph.directed or graph.has_parallel_edges:
        view = build.rows(graph.sources(), targets, None, graph.num_vertices, symmetric=True)
        offsets, targets = view.offsets, view.targets
    order = np.argsort(-np.diff(offsets), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    starts = np.zeros(len(order) + 1, np.int64)
    _count_kept(offsets, targets, rank, starts)
    np.cumsum(starts, out=starts)
    kept = np.empty(starts[-1], np.int32 if len(order) < 1 << 31 else np.int64)
    _keep(offsets, targets, order, rank, starts, kept)
    counts = np.zeros(len(order), np.int64)
    _close(starts, kept, counts)
    at_vertices: Array = counts[rank]
    return at_vertices


@kernel
def _count_kept(offsets, targets, rank, starts):
    for tail in range(len(rank)):
        for arc in range(offsets[tail], offsets[tail + 1]):
            if rank[targets[arc]] < rank[tail]:
                starts[rank[tail] + 1] += 1


@kernel
def _keep(offsets, targets, order, rank, starts, kept):
    for place in range(len(order)):
        slot = starts[place]
        for arc in range(offsets[order[place]], offsets[order[place] + 1]):
            head = rank[targets[arc]]
            if head < place:
                kept[slot] = head
                slot += 1


@kernel
def _close(starts, kept, counts):
    marked = np.zeros(len(counts), np.int8)
    for low in range(len(counts)):
        mine = kept[starts[low] : starts[low + 1]]
        for high in mine:
            marked[high] = 1
        for middle in mine:
            closed = 0
            for slot in range(starts[middle], starts[middle + 1]):
                top = kept[slot]
                counts[top] += marked[top]
                closed += marked[top]
            counts[middle] += closed
            counts[low] += closed
        for high in mine:
            marked[high] = 0

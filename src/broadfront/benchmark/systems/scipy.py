"""SciPy: `scipy.sparse.csgraph`, and products of sparse arrays where that has no function."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, tril
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra

from broadfront.benchmark.systems.system import DAMPING, ITERATIONS, Finish, Question, System
from broadfront.graph.csr import Graph

PRODUCTS_AT_ONCE = 1 << 25
NOBODY = -9999


class SciPy(System):
    """Symmetric CSR arrays of float64, the type that csgraph would convert others to."""

    notes: ClassVar[dict[str, str]] = {
        "pagerank": "products of a sparse array and a vector",
        "triangles": "products of sparse arrays, some rows at a time",
    }
    lacks: ClassVar[dict[str, str]] = {"betweenness": "has no such function"}

    def convert(self, graph: Graph, form: str, question: Question) -> csr_array:
        """Return a CSR array of weights or of ones."""
        values = np.ones(graph.num_arcs) if graph.weights is None else graph.weights.astype(float)
        size = (graph.num_vertices, graph.num_vertices)
        return csr_array((values, graph.targets, graph.offsets), shape=size)

    def bfs(self, matrix: csr_array, question: Question) -> Finish:
        """Return parents."""
        _, before = breadth_first_order(matrix, question.source, directed=True)

        def finish() -> dict[str, Any]:
            parent = np.where(before == NOBODY, -1, before)
            parent[question.source] = question.source
            return {"parent": parent}

        return finish

    def sssp(self, matrix: csr_array, question: Question) -> Finish:
        """Return distances."""
        distance = dijkstra(matrix, directed=True, indices=question.source)
        return lambda: {"distance": distance}

    def components(self, matrix: csr_array, question: Question) -> Finish:
        """Return labels."""
        _, labels = connected_components(matrix, directed=False)
        return lambda: {"component": labels}

    def pagerank(self, matrix: csr_array, question: Question) -> Finish:
        """Return ranks after 20 iterations; the array is its own transpose."""
        size = matrix.shape[0]
        degree = np.diff(matrix.indptr)
        stuck = degree == 0
        rank = np.full(size, 1 / size)
        for _ in range(ITERATIONS):
            shares = np.divide(rank, degree, out=np.zeros(size), where=~stuck)
            rank = DAMPING * (matrix @ shares + rank[stuck].sum() / size) + (1 - DAMPING) / size
        return lambda: {"rank": rank}

    def triangles(self, matrix: csr_array, question: Question) -> Finish:
        """Return the total: paths of two arcs downwards that an arc closes."""
        lower = tril(matrix, format="csr")
        degree = np.diff(lower.indptr).astype(np.int64)
        products = np.zeros(len(degree) + 1, np.int64)
        np.cumsum(lower @ degree, out=products[1:])
        total, begin = 0, 0
        while begin < len(degree):
            limit = products[begin] + PRODUCTS_AT_ONCE
            end = max(begin + 1, int(np.searchsorted(products, limit, "right")) - 1)
            rows = lower[begin:end]
            total += int((rows @ lower).multiply(rows).sum())
            begin = end
        return lambda: {"total": total}

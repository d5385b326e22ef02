"""scikit-network: Cython and SciPy arrays; OpenMP for counting triangles.

Its PageRank lets who has no way out jump by a rule of its own. It is therefore given the graph
without isolated vertices, whose ranks are those of all but for a factor.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sknetwork.path import get_distances
from sknetwork.ranking import PageRank
from sknetwork.topology import count_triangles, get_connected_components

from broadfront.benchmark.systems.system import DAMPING, ITERATIONS, Finish, Question, System
from broadfront.graph.csr import Graph


class ScikitNetwork(System):
    """A `csr_matrix` of booleans; OMP_NUM_THREADS in the worker's environment says the threads."""

    parallel: ClassVar[bool] = True
    notes: ClassVar[dict[str, str]] = {"pagerank": "on the graph without isolated vertices"}
    forms: ClassVar[dict[str, str]] = {"pagerank": "without isolated"}
    lacks: ClassVar[dict[str, str]] = {
        "sssp": "knows distances in hops only",
        "betweenness": "takes no sources",
    }

    def convert(self, graph: Graph, form: str, question: Question) -> Any:
        """Return the adjacency; without isolated vertices, also which are there."""
        degrees, targets, offsets = graph.degrees, graph.targets, graph.offsets
        there = degrees > 0
        if form == "without isolated":
            targets = (np.cumsum(there) - 1).astype(targets.dtype)[targets]
            offsets = np.concatenate([offsets[:-1][there], offsets[-1:]])
        size = len(offsets) - 1
        matrix = csr_matrix((np.ones(len(targets), bool), targets, offsets), shape=(size, size))
        return (matrix, there) if form == "without isolated" else matrix

    def bfs(self, matrix: csr_matrix, question: Question) -> Finish:
        """Return depths."""
        found = get_distances(matrix, question.source)
        return lambda: {"depth": found}

    def components(self, matrix: csr_matrix, question: Question) -> Finish:
        """Return labels."""
        found = get_connected_components(matrix)
        return lambda: {"component": found}

    def pagerank(self, made: Any, question: Question) -> Finish:
        """Return ranks after 20 iterations; an isolated vertex has what everyone jumps to."""
        matrix, there = made
        found = PageRank(DAMPING, solver="piteration", n_iter=ITERATIONS, tol=0).fit(matrix)

        def finish() -> dict[str, Any]:
            rank = np.full(len(there), (1 - DAMPING) / np.count_nonzero(there))
            rank[there] = found.scores_
            return {"rank": rank / rank.sum()}

        return finish

    def triangles(self, matrix: csr_matrix, question: Question) -> Finish:
        """Return the total."""
        found: Any = count_triangles(matrix, parallelize=True)
        return lambda: {"total": int(found)}

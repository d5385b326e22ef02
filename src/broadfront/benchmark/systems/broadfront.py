"""Broadfront itself, by its public functions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from broadfront.benchmark import asked
from broadfront.benchmark.systems.system import Finish, Question, System
from broadfront.graph.csr import Graph


class Broadfront(System):
    """The primitives; BROADFRONT_THREADS in the worker's environment says on how many threads."""

    parallel: ClassVar[bool] = True

    def convert(self, graph: Graph, form: str, question: Question) -> Graph:
        """Take the graph as it is."""
        return graph

    def bfs(self, graph: Graph, question: Question) -> Finish:
        """Return depths and parents."""
        found = asked.bfs(graph, question)
        return lambda: {"depth": found.depth, "parent": found.parent}

    def sssp(self, graph: Graph, question: Question) -> Finish:
        """Return distances."""
        found = asked.sssp(graph, question)
        return lambda: {"distance": found.distance}

    def components(self, graph: Graph, question: Question) -> Finish:
        """Return labels."""
        found = asked.components(graph, question)
        return lambda: {"component": found.component}

    def pagerank(self, graph: Graph, question: Question) -> Finish:
        """Return ranks after 20 iterations."""
        found = asked.pagerank(graph, question)
        return lambda: {"rank": found.rank}

    def betweenness(self, graph: Graph, question: Question) -> Finish:
        """Return dependencies."""
        found = asked.betweenness(graph, question)

        def finish() -> dict[str, object]:
            seen = np.full(graph.num_vertices, float(len(question.sources)))
            seen[list(question.sources)] -= 1
            return {"raw": found.centrality * seen * 2 / max(1, graph.num_vertices - 1)}

        return finish

    def triangles(self, graph: Graph, question: Question) -> Finish:
        """Return the total."""
        found = asked.triangles(graph, question)
        return lambda: {"total": found.total}

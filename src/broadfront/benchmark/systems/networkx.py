"""NetworkX: pure Python, so for small graphs only."""

from __future__ import annotations

from typing import Any, ClassVar

import networkx as nx
import numpy as np

from broadfront.benchmark.systems.system import DAMPING, Finish, Question, System
from broadfront.graph.csr import Graph

MANY_ITERATIONS = 1000


class NetworkX(System):
    """A `networkx.Graph` on positions."""

    notes: ClassVar[dict[str, str]] = {
        "pagerank": "stops by tolerance, set to the change of the 20th iteration"
    }

    def convert(self, graph: Graph, form: str, question: Question) -> Any:
        """Return a NetworkX graph, weights as ``weight``."""
        return graph.to_networkx()

    def bfs(self, graph: Any, question: Question) -> Finish:
        """Return parents."""
        before = dict(nx.bfs_predecessors(graph, question.source))

        def finish() -> dict[str, Any]:
            parent = _array(before, graph, np.int64, -1)
            parent[question.source] = question.source
            return {"parent": parent}

        return finish

    def sssp(self, graph: Any, question: Question) -> Finish:
        """Return distances."""
        found = nx.single_source_dijkstra_path_length(graph, question.source)
        return lambda: {"distance": _array(found, graph, np.int64, -1)}

    def components(self, graph: Any, question: Question) -> Finish:
        """Return labels."""
        found = list(nx.connected_components(graph))

        def finish() -> dict[str, Any]:
            label = np.empty(len(graph), np.int64)
            for number, members in enumerate(found):
                label[list(members)] = number
            return {"component": label}

        return finish

    def pagerank(self, graph: Any, question: Question) -> Finish:
        """Return ranks; NetworkX compares the change with its tolerance for each vertex."""
        found = nx.pagerank(
            graph, DAMPING, max_iter=MANY_ITERATIONS, tol=question.change / len(graph), weight=None
        )
        return lambda: {"rank": _array(found, graph, np.float64, 0)}

    def betweenness(self, graph: Any, question: Question) -> Finish:
        """Return dependencies; an undirected graph has them halved."""
        found = nx.betweenness_centrality_subset(graph, list(question.sources), list(graph))
        return lambda: {"raw": 2 * _array(found, graph, np.float64, 0)}

    def triangles(self, graph: Any, question: Question) -> Finish:
        """Return the total."""
        found = nx.triangles(graph)
        return lambda: {"total": sum(found.values()) // 3}


def _array(values: dict[int, Any], graph: Any, dtype: Any, default: Any) -> Any:
    array = np.full(len(graph), default, dtype)
    array[list(values)] = list(values.values())
    return array

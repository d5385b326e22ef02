"""igraph: a C library, on one thread but for the OpenMP in its PageRank."""

from __future__ import annotations

from typing import Any, ClassVar

import igraph
import numpy as np

from broadfront.benchmark.systems.system import (
    DAMPING,
    Finish,
    Question,
    System,
    triangles_of,
)
from broadfront.graph.csr import Graph
from broadfront.graph.edges import edge_arrays


class IGraph(System):
    """An `igraph.Graph`, weights as a list of floats along its edges."""

    notes: ClassVar[dict[str, str]] = {
        "pagerank": "PRPACK, with OpenMP, decides by itself when it is exact",
        "triangles": "by its transitivity, which counts them",
    }

    def convert(self, graph: Graph, form: str, question: Question) -> Any:
        """Return a graph and the weights of its edges."""
        source, target, weight = edge_arrays(graph)
        made = igraph.Graph(graph.num_vertices, np.stack([source, target], axis=1))
        return made, None if weight is None else weight.astype(float).tolist()

    def bfs(self, made: Any, question: Question) -> Finish:
        """Return parents; igraph gives the unreached parent 0."""
        visited, _, before = made[0].bfs(question.source)

        def finish() -> dict[str, Any]:
            parent = np.full(made[0].vcount(), -1, np.int64)
            parent[visited] = np.asarray(before)[visited]
            parent[question.source] = question.source
            return {"parent": parent}

        return finish

    def sssp(self, made: Any, question: Question) -> Finish:
        """Return distances."""
        found = made[0].distances(question.source, weights=made[1], algorithm="dijkstra")
        return lambda: {"distance": np.array(found[0], float)}

    def components(self, made: Any, question: Question) -> Finish:
        """Return labels."""
        found = made[0].connected_components()
        return lambda: {"component": np.array(found.membership)}

    def pagerank(self, made: Any, question: Question) -> Finish:
        """Return ranks."""
        found = made[0].pagerank(damping=DAMPING, implementation="prpack")
        return lambda: {"rank": np.array(found)}

    def betweenness(self, made: Any, question: Question) -> Finish:
        """Return dependencies; an undirected graph has them halved."""
        found = made[0].betweenness(directed=False, sources=list(question.sources))
        return lambda: {"raw": 2 * np.array(found)}

    def triangles(self, made: Any, question: Question) -> Finish:
        """Return the total."""
        share = made[0].transitivity_undirected(mode="zero")
        return lambda: {"total": triangles_of(share, np.array(made[0].degree()))}

"""rustworkx: a Rust library; its functions used here run on one thread."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import rustworkx as rx

from broadfront.benchmark.systems.system import (
    DAMPING,
    Finish,
    Question,
    System,
    triangles_of,
)
from broadfront.graph.csr import Graph
from broadfront.graph.edges import edge_arrays

EDGES_AT_ONCE = 1 << 20
MANY_ITERATIONS = 1000


class Rustworkx(System):
    """A `PyGraph`, and for PageRank, which wants it, a `PyDiGraph` with both arcs of each edge."""

    notes: ClassVar[dict[str, str]] = {
        "pagerank": "stops by tolerance at the 20th iteration, returns the ranks of the 19th",
        "triangles": "by its transitivity, which counts them",
    }
    lacks: ClassVar[dict[str, str]] = {"betweenness": "takes no sources"}
    forms: ClassVar[dict[str, str]] = {"pagerank": "directed"}

    def convert(self, graph: Graph, form: str, question: Question) -> Any:
        """Return a graph whose edges carry floats; edges are handed over in portions."""
        made = rx.PyDiGraph() if form == "directed" else rx.PyGraph()
        made.add_nodes_from(range(graph.num_vertices))
        if form == "directed":
            source, target, weight = graph.sources(), graph.targets, None
        else:
            source, target, weight = edge_arrays(graph)
        for begin in range(0, len(source), EDGES_AT_ONCE):
            part = slice(begin, begin + EDGES_AT_ONCE)
            ends = source[part].tolist(), target[part].tolist()
            if weight is None:
                made.add_edges_from_no_data(list(zip(*ends, strict=True)))
            else:
                values = weight[part].astype(float).tolist()
                made.add_edges_from(list(zip(*ends, values, strict=True)))
        return made

    def bfs(self, graph: Any, question: Question) -> Finish:
        """Return depths."""
        layers = rx.bfs_layers(graph, [question.source])

        def finish() -> dict[str, Any]:
            depth = np.full(graph.num_nodes(), -1)
            for number, layer in enumerate(layers):
                depth[list(layer)] = number
            return {"depth": depth}

        return finish

    def sssp(self, graph: Any, question: Question) -> Finish:
        """Return distances; rustworkx leaves the source itself out."""
        found = rx.dijkstra_shortest_path_lengths(graph, question.source, float)

        def finish() -> dict[str, Any]:
            distance = np.full(graph.num_nodes(), np.inf)
            distance[list(found.keys())] = list(found.values())
            distance[question.source] = 0
            return {"distance": distance}

        return finish

    def components(self, graph: Any, question: Question) -> Finish:
        """Return labels."""
        found = rx.connected_components(graph)

        def finish() -> dict[str, Any]:
            label = np.empty(graph.num_nodes(), np.int64)
            for number, members in enumerate(found):
                label[list(members)] = number
            return {"component": label}

        return finish

    def pagerank(self, graph: Any, question: Question) -> Finish:
        """Return ranks; the change is compared with the tolerance for each vertex."""
        tolerance = question.change / graph.num_nodes()
        found = rx.pagerank(graph, alpha=DAMPING, tol=tolerance, max_iter=MANY_ITERATIONS)

        def finish() -> dict[str, Any]:
            rank = np.array([found[place] for place in range(graph.num_nodes())])
            return {"rank": rank, "one_before": True}

        return finish

    def triangles(self, graph: Any, question: Question) -> Finish:
        """Return the total."""
        share = rx.transitivity(graph)

        def finish() -> dict[str, Any]:
            degrees = np.array([graph.degree(place) for place in range(graph.num_nodes())])
            return {"total": triangles_of(share, degrees)}

        return finish

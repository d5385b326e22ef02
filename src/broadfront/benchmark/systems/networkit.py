"""NetworKit: a C++ library with OpenMP.

Its betweenness from some sources draws these itself. What it will draw is found out beforehand,
and our sources change places with those vertices in the graph it is given. It takes one source
more than it is told (as of 11.2), and weighs the dependency on a vertex by the share of the way
that lies behind it, twice; so does its check.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

import networkit as nk
import numpy as np

from broadfront.benchmark.systems.system import DAMPING, ITERATIONS, Array, Finish, Question, System
from broadfront.graph.csr import Graph
from broadfront.graph.edges import edge_arrays

BEYOND = 1e300
WAYS = (nk.components.ConnectedComponents, nk.components.ParallelConnectedComponents)


class NetworKit(System):
    """`networkit.Graph`: plain, weighted, and with the sources moved for betweenness."""

    parallel: ClassVar[bool] = True
    notes: ClassVar[dict[str, str]] = {
        "components": "its serial or parallel class, whichever is quicker on the graph",
        "pagerank": "loses what finds no way out; ranks are scaled to sum to 1",
        "betweenness": "weighs dependencies by distance; draws the same sources",
        "triangles": "by local clustering coefficients, turbo mode, which count them",
    }
    forms: ClassVar[dict[str, str]] = {"betweenness": "sources moved"}

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        nk.setNumberOfThreads(threads)
        self._tried: tuple[int, int] | None = None
        self._way = WAYS[0]

    def convert(self, graph: Graph, form: str, question: Question) -> Any:
        """Return a graph, with the seed and the places of the vertices for betweenness."""
        source, target, weight = edge_arrays(graph)
        if form == "sources moved":
            seed, place = moved(graph.num_vertices, question.sources)
            return _made(place[source], place[target], None, graph.num_vertices), seed, place
        return _made(source, target, weight, graph.num_vertices)

    def bfs(self, graph: Any, question: Question) -> Finish:
        """Return depths."""
        found = nk.distance.BFS(graph, question.source, False, False).run()

        def finish() -> dict[str, Any]:
            distance = np.array(found.getDistances(asarray=True))
            return {"depth": np.where(distance < BEYOND, distance, -1).astype(np.int64)}

        return finish

    def sssp(self, graph: Any, question: Question) -> Finish:
        """Return distances."""
        found = nk.distance.Dijkstra(graph, question.source, False, False).run()
        return lambda: {"distance": np.array(found.getDistances(asarray=True))}

    def components(self, graph: Any, question: Question) -> Finish:
        """Return labels, by the class that was the quicker one on this graph after the warm-up."""
        size = graph.numberOfNodes(), graph.numberOfEdges()
        tried = self._tried == size
        found = self._way(graph).run() if tried else WAYS[0](graph).run()

        def finish() -> dict[str, Any]:
            if not tried:
                self._tried, self._way = size, min(WAYS, key=lambda way: _seconds(way, graph))
            return {"component": np.array(found.getPartition().getVector())}

        return finish

    def pagerank(self, graph: Any, question: Question) -> Finish:
        """Return ranks after 20 iterations."""
        found = nk.centrality.PageRank(graph, DAMPING, 0.0)
        found.maxIterations = ITERATIONS
        found.run()

        def finish() -> dict[str, Any]:
            scores = np.array(found.scores())
            return {"rank": scores / scores.sum()}

        return finish

    def betweenness(self, made: Any, question: Question) -> Finish:
        """Return weighted dependencies; they are scaled up to all vertices as sources."""
        graph, seed, place = made
        nk.setSeed(seed, False)
        samples = len(question.sources) - 1
        found = nk.centrality.EstimateBetweenness(graph, samples, False, True).run()

        def finish() -> dict[str, Any]:
            scores = np.array(found.scores())[place]
            return {"weighed": scores * samples / graph.numberOfNodes() / 2}

        return finish

    def triangles(self, graph: Any, question: Question) -> Finish:
        """Return the total."""
        found = nk.centrality.LocalClusteringCoefficient(graph, True).run()

        def finish() -> dict[str, Any]:
            degree = np.array(nk.centrality.DegreeCentrality(graph).run().scores())
            return {"total": round(float(found.scores() @ (degree * (degree - 1))) / 6)}

        return finish


def _seconds(way: Any, graph: Any) -> float:
    """Return the shortest of a few runs."""
    times = []
    for _ in range(3):
        began = time.perf_counter()
        way(graph).run()
        times.append(time.perf_counter() - began)
    return min(times)


def _made(source: Array, target: Array, weight: Array | None, size: int) -> Any:
    ends = source.astype(np.uint64), target.astype(np.uint64)
    if weight is None:
        return nk.GraphFromCoo(ends, n=size)
    return nk.GraphFromCoo((weight.astype(float), ends), n=size, weighted=True)


def moved(size: int, sources: tuple[int, ...]) -> tuple[int, Array]:
    """Return a seed, and the place of each vertex where that seed draws the sources."""
    empty = nk.Graph(size)
    seed, drawn = 0, [0] * len(sources)
    while len(set(drawn)) < len(sources):
        seed += 1
        nk.setSeed(seed, False)
        drawn = [nk.graphtools.randomNode(empty) for _ in sources]
    place = np.arange(size)
    holder = np.arange(size)
    for vertex, goal in zip(sources, drawn, strict=True):
        other, old = holder[goal], place[vertex]
        place[vertex], place[other] = goal, old
        holder[goal], holder[old] = vertex, other
    return seed, place

"""How Broadfront is asked: the public call of each primitive for a question, on any devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import broadfront as bf
from broadfront.benchmark.systems.system import DAMPING, ITERATIONS, Question
from broadfront.graph.csr import Graph


def bfs(graph: Graph, question: Question, **options: Any) -> bf.BreadthFirst:
    """Search from the source."""
    return bf.bfs(graph, question.source, **options)


def sssp(graph: Graph, question: Question, **options: Any) -> bf.ShortestPaths:
    """Find distances from the source."""
    return bf.sssp(graph, question.source, **options)


def components(graph: Graph, question: Question, **options: Any) -> bf.Components:
    """Find components."""
    return bf.connected_components(graph, **options)


def pagerank(graph: Graph, question: Question, **options: Any) -> bf.PageRank:
    """Rank vertices by 20 iterations."""
    return bf.pagerank(graph, DAMPING, tol=0.0, max_iterations=ITERATIONS, **options)


def betweenness(graph: Graph, question: Question, **options: Any) -> bf.Betweenness:
    """Count the shortest paths from a few sources."""
    return bf.betweenness(graph, list(question.sources), normalized=False, **options)


def triangles(graph: Graph, question: Question, **options: Any) -> bf.Triangles:
    """Count triangles."""
    return bf.triangles(graph, **options)


ASKED: dict[str, Callable[..., Any]] = {
    call.__name__: call for call in (bfs, sssp, components, pagerank, betweenness, triangles)
}

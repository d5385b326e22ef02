"""Each primitive in each model, behind one call that returns the answer and its record.

operators        Broadfront's own, data-centric
GAS, expand      gather-apply-scatter, as MapGraph lowers it
GAS, activate    the same programs, as VertexAPI2 does
semiring         products of vectors and matrices, one call for each
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from numpy.typing import NDArray

from broadfront.algorithms.bfs import bfs
from broadfront.algorithms.components import connected_components
from broadfront.algorithms.pagerank import pagerank
from broadfront.algorithms.sssp import sssp
from broadfront.characterize import products, vertex_programs
from broadfront.graph.csr import Graph
from broadfront.report.record import Record, joined
from broadfront.report.result import Result

ITERATIONS = 20
"""Of PageRank, in all models: time would depend on where it stops otherwise."""


class Outcome(NamedTuple):
    """An answer, its record, and what can verify it, if it can."""

    answer: NDArray[Any]
    record: Record
    result: Result | None = None


Way = Callable[..., Outcome]
"""``way(graph, source, threads=...)``, of which primitives without a source ignore it."""


def _by_operators(call: Callable[..., Any], column: str, asks_source: bool) -> Way:
    def way(graph: Graph, source: int, **options: Any) -> Outcome:
        found = call(graph, *([source] if asks_source else []), **options)
        return Outcome(getattr(found, column), found.report, found)

    return way


def _by_vertices(call: Callable[..., Any], column: str, asks_source: bool, style: str) -> Way:
    def way(graph: Graph, source: int, **options: Any) -> Outcome:
        found = call(graph, *([source] if asks_source else []), style=style, **options)
        return Outcome(found[column], found.record)

    return way


def _by_products(call: Callable[..., Any], asks_source: bool) -> Way:
    def way(graph: Graph, source: int, **options: Any) -> Outcome:
        records: list[Record] = []
        answer = call(graph, *([source] if asks_source else []), records=records, **options)
        return Outcome(answer, joined(records))

    return way


OPERATORS = "operators"
PRIMITIVES = ("bfs", "sssp", "components", "pagerank")
FROM_A_SOURCE = ("bfs", "sssp")
_own: dict[str, tuple[Callable[..., Any], str]] = {
    "bfs": (bfs, "depth"),
    "sssp": (sssp, "distance"),
    "components": (connected_components, "component"),
    "pagerank": (partial(pagerank, tol=0.0, max_iterations=ITERATIONS), "rank"),
}
_gas: dict[str, tuple[Callable[..., Any], str]] = {
    "bfs": (vertex_programs.search, "depth"),
    "sssp": (vertex_programs.shortest_paths, "distance"),
    "components": (vertex_programs.components, "label"),
    "pagerank": (vertex_programs.pagerank, "rank"),
}
_products: dict[str, Callable[..., Any]] = {
    "bfs": products.search,
    "sssp": products.shortest_paths,
    "components": products.components,
    "pagerank": products.pagerank,
}
WAYS: dict[str, dict[str, Way]] = {
    name: {
        OPERATORS: _by_operators(*_own[name], name in FROM_A_SOURCE),
        "GAS, expand": _by_vertices(*_gas[name], name in FROM_A_SOURCE, "expand"),
        "GAS, activate": _by_vertices(*_gas[name], name in FROM_A_SOURCE, "activate"),
        "semiring": _by_products(_products[name], name in FROM_A_SOURCE),
    }
    for name in PRIMITIVES
}
"""By primitive and model."""
MODELS = tuple(WAYS["bfs"])

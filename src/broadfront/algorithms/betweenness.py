"""Betweenness centrality: the share of all shortest paths that lead through a vertex.

Method: Brandes' program from every source, many sources at once, each on a thread of its own; what
they find is added up in the order of the sources.

Invariant: the sum does not depend on who ran which source: same bits for any number of threads.

References
----------
Brandes: A faster algorithm for betweenness centrality (J. Mathematical Sociology 25, 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.algorithms.brandes import UNWEIGHTED, weighted_brandes
from broadfront.algorithms.distances import check_lengths, weighed, working_dtype
from broadfront.algorithms.sssp import shortest_paths
from broadfront.backends.registry import backend_of
from broadfront.clock import Allowance
from broadfront.errors import GraphError, OptionError
from broadfront.execution.batch import run_each
from broadfront.execution.options import Options
from broadfront.given import flag
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.progress import listening, report
from broadfront.report.record import Record, joined
from broadfront.report.result import Result
from broadfront.report.rows import positions

VERTICES_AT_ONCE = 1 << 22
"""About so many vertices, over all sources that are under way together."""


@dataclass(frozen=True, repr=False, eq=False)
class Betweenness(Result):
    """How much of all shortest paths leads through each vertex.

    Attributes
    ----------
    centrality
        float64, scaled as NetworkX does; 0 where a vertex is the only source.
    sources
        The positions of the vertices whose paths were counted.
    normalized, weighted
        As asked for.
    """

    centrality: NDArray[np.float64]
    sources: NDArray[np.int64]
    normalized: bool
    weighted: bool

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the centrality of each vertex."""
        return {"centrality": self.centrality}

    def summary(self) -> list[str]:
        """Return the number of sources, and the first vertex."""
        told = f"shortest paths from {len(self.sources):,} vertices"
        if len(self.centrality) == 0:
            return [told]
        best = int(np.argmax(self.centrality))
        name = self.graph.labels_of([best])[0]
        return [f"{told}; the first is {name} with {self.centrality[best]:.3g}"]

    def verify(self) -> None:
        """Check against a serial computation; of very many sources, against some of them."""
        from broadfront.verify import verify_betweenness

        verify_betweenness(
            self.graph, self.centrality, self.sources, self.normalized, self.weighted
        )


def betweenness(
    graph: Graph,
    sources: int | Iterable[Any] | None = None,
    normalized: bool = True,
    weighted: bool = False,
    *,
    seed: int = 0,
    **options: Unpack[Options],
) -> Betweenness:
    """Find the vertices that shortest paths lead through.

    Parameters
    ----------
    sources
        Whose paths count: a list of vertices by label, a number of vertices to pick at random, or
        None for all. With fewer than all, values are scaled up to estimate those of all.
    normalized
        Give a share of all pairs of other vertices; otherwise a number of pairs.
    weighted
        Paths are shortest by weight, which must be positive, and not by the number of edges.
    seed
        Picks the random vertices.
    options
        As in `broadfront.bfs`.

    Examples
    --------
    >>> import broadfront as bf
    >>> path = bf.from_edges(["a", "b", "c"], ["b", "c", "d"], directed=False)
    >>> bf.betweenness(path, normalized=False).centrality
    array([0., 2., 2., 0.])
    """
    expect_graph(graph)
    normalized, weighted = flag(normalized, "normalized"), flag(weighted, "weighted")
    roots = _positions(graph, sources, seed)
    dtype = _distance_dtype(graph) if weighted and graph.weights is not None else None
    raw = np.zeros(graph.num_vertices)
    records: list[Record] = []
    at_once = max(1, VERTICES_AT_ONCE // max(1, graph.num_vertices))
    if options.get("memory_limit") is not None:
        at_once = 1  # a limit counts the rows of sources under way; others would come on top
    elif dtype is None and "relabel" not in options:
        backend = backend_of(options.get("devices"))
        if backend.worth_an_order(UNWEIGHTED, graph, len(roots)):
            options["relabel"] = True
    progress, time_limit = options.pop("progress", None), options.pop("time_limit", None)
    with listening(progress), Allowance(time_limit) as left:
        for done in range(0, max(1, len(roots)), at_once):
            report("betweenness", done, len(roots))
            some = roots[done : done + at_once]
            rows, record = _from_each(graph, some, dtype, left, {"frontier": some, **options})
            records += record
            for row in rows:
                raw += row
        report("betweenness", len(roots), len(roots))
    centrality = raw * _scale(graph, roots, normalized)
    return Betweenness(graph, joined(records), centrality, roots, normalized, weighted)


def _from_each(
    graph: Graph,
    roots: NDArray[np.int64],
    dtype: np.dtype[Any] | None,
    left: Callable[[], float | None],
    options: dict[str, Any],
) -> tuple[NDArray[np.float64], list[Record]]:
    """Return what the paths from each root are worth, by rows, and the records."""
    here: dict[str, Any] = dict.fromkeys(roots.tolist(), 0)
    start: dict[str, Any] = {"depth": here}
    if dtype is None:
        answer = run_each(UNWEIGHTED, graph, init=start, time_limit=left(), **options)
        return answer["raw"], [answer.record]
    distances = shortest_paths(dtype, None)
    found = run_each(distances, graph, init={"distance": here}, time_limit=left(), **options)
    check_lengths(graph, found["distance"])
    start["distance"] = found["distance"]
    answer = run_each(weighted_brandes(dtype), graph, init=start, time_limit=left(), **options)
    if answer["lost"].any():
        raise GraphError("weights are too far apart: adding some to a distance does not change it")
    return answer["raw"], [found.record, answer.record]


def _distance_dtype(graph: Graph) -> np.dtype[Any]:
    """Return the dtype to add up distances in; refuse weights that are not positive and finite."""
    dtype = working_dtype(graph, positive=True)
    if np.isinf(graph.weight_bounds[1]):
        edge = weighed(graph, np.isinf(graph.weights))  # type: ignore[arg-type]
        raise GraphError(f"paths are counted along finite weights; {edge}")
    return np.dtype(np.float64) if dtype.kind == "f" else dtype


def _positions(graph: Graph, sources: int | Iterable[Any] | None, seed: int) -> NDArray[np.int64]:
    size = graph.num_vertices
    if sources is None:
        return np.arange(size)
    if isinstance(sources, (int, np.integer)) and not isinstance(sources, bool):
        if not 1 <= sources <= size:
            raise OptionError(f"sources={sources}: expected a number in 1..{size}, or a list")
        return np.sort(np.random.default_rng(seed).choice(size, int(sources), replace=False))
    if not isinstance(sources, Iterable) or isinstance(sources, (str, bytes)):
        raise OptionError(f"sources={sources!r}: expected a list of vertices, a number, or None")
    return positions(graph, np.ravel(sources) if isinstance(sources, np.ndarray) else list(sources))


def _scale(graph: Graph, roots: NDArray[np.int64], normalized: bool) -> NDArray[np.float64]:
    """Return the factor of each vertex: a source is between the paths of all others only."""
    size = graph.num_vertices
    seen = np.full(size, float(len(roots)))
    seen[roots] -= 1
    if size < 3:
        return np.zeros(size)
    pairs = 1 / (size - 2) if normalized else (size - 1) / (1 if graph.directed else 2)
    factors: NDArray[np.float64] = np.divide(pairs, seen, out=np.zeros(size), where=seen > 0)
    return factors

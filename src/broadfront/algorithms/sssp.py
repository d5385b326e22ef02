"""Shortest paths from one vertex, or from the nearest of several, along edges with weights.

Method: delta-stepping. Each edge proposes the distance of its source and its own weight, the
smallest proposal stays, and vertices are served in buckets of distance. Distances of integer
weights are added up in 32 bits where no path can be longer, and in 64 bits elsewhere.

Parents, on request, come of a second search, breadth-first along tight edges alone: weights of zero
can close circles in which every vertex would vouch for the next.

References
----------
Meyer, Sanders: Delta-stepping, a parallelizable shortest path algorithm (J. Algorithms 2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.algorithms.bfs import bfs, positions
from broadfront.errors import GraphError, OptionError
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance, Field
from broadfront.progress import Listener
from broadfront.report.result import Result, path

UNREACHED = 0xFFFFFFFF


def through_edge(source, neighbor, edge, state):
    """Propose the distance of the source and the weight of the edge."""
    return state.distance[source] + state.weight[edge]


def nearest_first(vertex, state):
    """Serve the nearest first."""
    return state.distance[vertex]


def along_tight_edge(source, neighbor, edge, state):
    """Propose one hop more, if the edge is on a shortest path."""
    if state.distance[source] + state.weight[edge] == state.distance[neighbor]:
        return state.hops[source] + np.uint32(1)
    return np.uint32(UNREACHED)


def without_hops(vertex, state):
    """Tell whether a vertex has no hops yet."""
    return state.hops[vertex] == UNREACHED


@cache
def shortest_paths(dtype: np.dtype[Any], width: float | None) -> Program:
    """Return the program for distances of a dtype."""
    distance = Field(dtype, fill=infinity(dtype), combine="min")
    step = Advance(through_edge, into="distance", priority=nearest_first, width=width)
    return Program({"distance": distance}, step=[step])


@cache
def tight_tree(dtype: np.dtype[Any]) -> Program:
    """Return the program that finds parents, given the distances."""
    step = Advance(along_tight_edge, into="hops", while_=without_hops, trail="parent")
    return Program(
        {
            "distance": Field(dtype),
            "hops": Field(np.uint32, fill=UNREACHED, combine="min"),
            "parent": Field("vertex", fill=-1),
        },
        step=[step],
    )


def infinity(dtype: np.dtype[Any]) -> Any:
    """Return what an unreached vertex has: infinity, or the largest integer."""
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


@dataclass(frozen=True, repr=False, eq=False)
class ShortestPaths(Result):
    """Distances from the nearest source.

    Attributes
    ----------
    sources
        The positions of the vertices it started from.
    distance
        float64, float32 or int64 by the weights; inf, or the largest int64, where unreached.
    reached
        Whether there is a path at all.
    parent
        The vertex before on a shortest path, by position; -1 where unreached, a source is its own.
        None unless asked for.
    """

    sources: NDArray[Any]
    distance: NDArray[Any]
    reached: NDArray[np.bool_]
    parent: NDArray[Any] | None

    def path_to(self, target: object) -> list[Any]:
        """Return the labels on a shortest path from a source to `target`; empty if unreached."""
        if self.parent is None:
            raise OptionError("paths need parents: call sssp with parents=True")
        return path(self.parent, self.graph, target)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return distance and, where asked for, parent."""
        columns = {"distance": self.distance}
        return columns if self.parent is None else {**columns, "parent": self.parent}

    def story(self) -> list[str]:
        """Return how far it came."""
        furthest = self.distance[self.reached].max(initial=0)
        return [
            f"{np.count_nonzero(self.reached):,} vertices reached, the furthest at {furthest:,}"
        ]

    def verify(self) -> None:
        """Check that no edge shortens a path and that every distance is the length of one."""
        from broadfront.verify import verify_sssp

        verify_sssp(self.graph, self.sources, self.distance, self.reached, self.parent)


def sssp(
    graph: Graph,
    source: object,
    *,
    parents: bool = False,
    width: float | None = None,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Listener | None = None,
) -> ShortestPaths:
    """Find the shortest paths from a vertex, or from the nearest of several.

    Without weights every edge weighs 1. Negative weights are refused.

    Parameters
    ----------
    source
        A vertex, or a list of vertices, by label.
    parents
        Find the tree of shortest paths too.
    width
        The width of a bucket of distances; by default the graph decides.
    threads, time_limit, progress
        As in `broadfront.bfs`.

    Examples
    --------
    >>> import broadfront as bf
    >>> graph = bf.from_edges([0, 0, 1], [1, 2, 2], weight=[4, 9, 3])
    >>> found = bf.sssp(graph, 0, parents=True)
    >>> found.distance, found.path_to(2)
    (array([0, 4, 7]), [0, 1, 2])
    """
    if width is not None and not width > 0:
        raise OptionError(f"width={width} is not a positive number")
    options: dict[str, Any] = {
        "threads": threads, "time_limit": time_limit, "progress": progress
    }  # fmt: skip
    if graph.weights is None:
        return _unweighted(graph, source, parents, options)
    sources = positions(graph, source)
    dtype = _working_dtype(graph)
    here = dict.fromkeys(sources.tolist(), 0)
    options["frontier"] = sources
    answer = run(shortest_paths(dtype, width), graph, start={"distance": here}, **options)
    distance = answer["distance"]
    reached = distance != infinity(dtype)
    parent = None
    if parents:
        own = dict(zip(sources.tolist(), sources.tolist(), strict=True))
        start = {"distance": distance, "hops": here, "parent": own}
        parent = run(tight_tree(dtype), graph, start=start, **options)["parent"]
    if dtype == np.int32:
        distance = np.where(reached, distance.astype(np.int64), infinity(np.dtype(np.int64)))
    return ShortestPaths(graph, answer.record, sources, distance, reached, parent)


def _unweighted(
    graph: Graph, source: object, parents: bool, options: dict[str, Any]
) -> ShortestPaths:
    """Find shortest paths where every edge weighs 1: breadth-first."""
    found = bfs(graph, source, **options)
    reached = found.depth >= 0
    distance = np.where(reached, found.depth.astype(np.int64), infinity(np.dtype(np.int64)))
    parent = found.parent if parents else None
    return ShortestPaths(graph, found.report, found.sources, distance, reached, parent)


def _working_dtype(graph: Graph) -> np.dtype[Any]:
    """Return the dtype to add up distances in; refuse negative weights."""
    smallest, largest = graph.weight_bounds
    weights = graph.weights
    assert weights is not None
    if smallest < 0:
        arc = int(np.argmax(weights < 0))
        tail, head = graph.labels[[graph.sources()[arc], graph.targets[arc]]].tolist()
        raise GraphError(
            f"shortest paths need weights of at least 0; {tail} -> {head} weighs {weights[arc]}"
        )
    if weights.dtype.kind == "f":
        return weights.dtype
    longest = (graph.num_vertices + 1) * int(largest)
    if longest < np.iinfo(np.int32).max:
        return np.dtype(np.int32)
    if longest > np.iinfo(np.int64).max:
        raise GraphError("paths may be longer than 64 bits hold; use weights of float64")
    return np.dtype(np.int64)

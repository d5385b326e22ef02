"""Shortest paths from one vertex, from the nearest of several, or from each, along weighted edges.

Method: delta-stepping. Each edge proposes the distance of its source and its own weight, the
smallest proposal stays, and vertices are served in buckets of distance. With a target the search
stops when the target's bucket is done. Then every distance up to that of the target is final;
larger ones are taken back, so that the answer does not depend on buckets.

References
----------
Meyer, Sanders: Delta-stepping, a parallelizable shortest path algorithm (J. Algorithms 2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.algorithms.bfs import bfs
from broadfront.algorithms.distances import check_lengths, infinity, widened, working_dtype
from broadfront.algorithms.tight_tree import find_parents
from broadfront.clock import Allowance
from broadfront.errors import OptionError
from broadfront.execution.batch import run_each
from broadfront.execution.options import Options
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.given import flag, number
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.operators.describe import Advance, Field
from broadfront.report.record import joined
from broadfront.report.result import path
from broadfront.report.rows import Search, positions


def through_edge(source, neighbor, edge, state):
    """Propose the distance of the source and the weight of the edge."""
    return state.distance[source] + state.weight[edge]


def one_further(source, neighbor, edge, state):
    """Propose the distance of the source and one."""
    return state.distance[source] + 1


def nearest_first(vertex, state):
    """Serve the nearest first."""
    return state.distance[vertex]


def target_of(state):
    """Stop when this vertex is settled."""
    return state.target


@cache
def shortest_paths(dtype: np.dtype[Any], width: float | None, to_target: bool = False) -> Program:
    """Return the program for distances of a dtype."""
    distance = Field(dtype, fill=infinity(dtype), combine="min")
    goal = target_of if to_target else None
    step = Advance(
        through_edge, into="distance", priority=nearest_first, width=width, goal=goal,
        synchronous=False,
    )  # fmt: skip
    parameters = ["target"] if to_target else []
    return Program({"distance": distance}, step=[step], parameters=parameters, name="sssp")


HOPS = Program(
    {"distance": Field(np.int64, fill=infinity(np.dtype(np.int64)), combine="min")},
    step=[Advance(one_further, into="distance", priority=nearest_first, synchronous=False)],
    name="sssp",
)
"""Distances where every edge weighs 1."""


@dataclass(frozen=True, repr=False, eq=False)
class ShortestPaths(Search):
    """Distances from the nearest source; with ``each=True`` a row for each source.

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

    vertex_columns: ClassVar[tuple[str, ...]] = ("parent",)

    distance: NDArray[Any]
    reached: NDArray[np.bool_]
    parent: NDArray[Any] | None
    _tree: NDArray[Any] | None
    _limits: dict[str, Any]

    @cached_property
    def _parents(self) -> NDArray[Any]:
        if self._tree is not None:
            return self._tree
        if self.graph.weights is None:
            return bfs(self.graph, self.graph.labels_of(self.sources), **self._limits).parent
        limits = {**self._limits, "execution": None}
        answer = find_parents(self.graph, self.sources, self.distance, False, **limits)
        return answer["parent"]

    def path_to(self, target: object) -> list[Any]:
        """Return the labels on a shortest path from a source to `target`; empty if unreached.

        Unless parents were asked for, the first call finds them.
        """
        return path(self.alone()._parents, self.graph, target)

    def mask(self) -> NDArray[Any]:
        """Return which vertices were reached."""
        return self.reached

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return distance and, where asked for, parent."""
        columns = {"distance": self.distance}
        return columns if self.parent is None else {**columns, "parent": self.parent}

    def summary(self) -> list[str]:
        """Return how far it came."""
        furthest = self.distance[self.reached].max(initial=0)
        return [f"{self.reach(int(np.count_nonzero(self.reached)))}, the furthest at {furthest:,}"]

    def check(self) -> None:
        """Check that no edge shortens a path and that every distance is the length of one."""
        from broadfront.verify import verify_sssp

        verify_sssp(self.graph, self.sources, self.distance, self.reached, self.parent)


def sssp(
    graph: Graph,
    source: object,
    *,
    each: bool = False,
    target: object = None,
    parents: bool = False,
    width: float | None = None,
    **options: Unpack[Options],
) -> ShortestPaths:
    """Find the shortest paths from a vertex, from the nearest of several, or from each of them.

    Without weights every edge weighs 1. Negative weights are refused, and so is a path that is
    longer than the dtype of the weights holds. No path takes an edge of infinite weight.

    Parameters
    ----------
    source, each
        A vertex, or a list of vertices, by label: the nearest counts or, with ``each=True``, every
        one by itself, in a row of the answer.
    target
        Stop when the distance of this vertex is known: what is no further is answered, and vertices
        further away stay unreached.
    parents
        Find the tree of shortest paths too.
    width
        The width of a bucket of distances; by default the graph decides.
    options
        As in `broadfront.bfs`.

    Examples
    --------
    >>> import broadfront as bf
    >>> graph = bf.from_edges([0, 0, 1, 2], [1, 2, 2, 3], weight=[4, 9, 3, 5])
    >>> found = bf.sssp(graph, 0)
    >>> found.distance, found.path_to(2)
    (array([ 0,  4,  7, 12]), [0, 1, 2])
    >>> bf.sssp(graph, 0, target=2).reached
    array([ True,  True,  True, False])
    """
    expect_graph(graph)
    each, parents = flag(each, "each"), flag(parents, "parents")
    if width is not None and not number(width, "width") > 0:
        raise OptionError(f"width={width} is not a positive number")
    limits: dict[str, Any] = dict(options)
    if graph.never_branches and graph.weights is None and not (each or parents) and target is None:
        return _along_paths(graph, positions(graph, source, each), limits)
    if graph.weights is None:
        found = bfs(graph, source, each=each, target=target, **options)
        return ShortestPaths(
            graph, found.report, found.sources, each, found.target,
            *widened(found.depth, found.depth >= 0), found.parent if parents else None,
            found.parent, limits,
        )  # fmt: skip
    sources = positions(graph, source, each)
    goal = None if target is None else graph.vertex(target)
    dtype = working_dtype(graph)
    tree = None
    with Allowance(options.get("time_limit")) as left:
        answer = (run_each if each else run)(
            shortest_paths(dtype, width, goal is not None), graph, frontier=sources,
            init={"distance": dict.fromkeys(sources.tolist(), 0)},
            parameters={} if goal is None else {"target": goal},
            **{**limits, "time_limit": left()},
        )  # fmt: skip
        distance, record = answer["distance"], answer.record
        rows = np.atleast_2d(distance)
        check_lengths(graph, rows if goal is None else rows[rows[:, goal] == infinity(dtype)])
        if goal is not None:
            distance[distance > distance[..., goal, None]] = infinity(dtype)
        if parents:
            rest = {**limits, "time_limit": left(), "execution": None}
            second = find_parents(graph, sources, distance, each, **rest)
            tree, record = second["parent"], joined([record, second.record])
    distance, reached = widened(distance, distance != infinity(dtype))
    return ShortestPaths(graph, record, sources, each, goal, distance, reached, tree, tree, limits)


def _along_paths(
    graph: Graph, sources: NDArray[np.int64], options: dict[str, Any]
) -> ShortestPaths:
    """Search by buckets where every edge weighs 1 and nothing branches: a level is one vertex."""
    start = {"distance": dict.fromkeys(sources.tolist(), 0)}
    answer = run(HOPS, graph, frontier=sources, init=start, **options)
    distance = answer["distance"]
    reached = distance != infinity(distance.dtype)
    return ShortestPaths(
        graph, answer.record, sources, False, None, distance, reached, None, None, options
    )

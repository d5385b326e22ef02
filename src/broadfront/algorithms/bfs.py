"""Breadth-first search: how many edges from the source, and along which tree.

Method: a frontier advances along its edges, each proposing its depth and one more; the smallest
proposal stays. A vertex wants proposals until it has a depth, which is what lets the operator pull.
The parent is whoever's proposal stayed or, on request, the neighbour of smallest id one level up.

Invariant: unreached is the largest uint32, which read as int32 is the -1 of the answer.

References
----------
Beamer, Asanović, Patterson: Direction-optimizing breadth-first search (SC 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Allowance
from broadfront.execution.batch import run_each
from broadfront.execution.options import Options
from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.given import flag
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance, Compute, Field, Filter
from broadfront.report.record import joined
from broadfront.report.result import path
from broadfront.report.rows import Search, positions

UNREACHED = 0xFFFFFFFF


def one_hop_further(source, neighbor, edge, state):
    """Propose the depth of the source and one more."""
    return state.depth[source] + 1


def unreached(vertex, state):
    """Tell whether a vertex has no depth yet."""
    return state.depth[vertex] == UNREACHED


def find_parent(vertex, state):
    """Find the smallest incoming neighbour one level up."""
    depth = state.depth[vertex]
    if depth == 0:
        state.parent[vertex] = state.ids[vertex]
    elif depth != UNREACHED:
        smallest = state.num_vertices
        for edge in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
            neighbor = state.in_targets[edge]
            if state.depth[neighbor] == depth - 1:
                smallest = min(smallest, state.ids[neighbor])
        state.parent[vertex] = smallest


def look_for_target(vertex, state):
    """Note whether a vertex is the target."""
    if state.ids[vertex] == state.target:
        state.found[0] = 1


def target_is_further(vertex, state):
    """Keep the frontier unless the target is in it."""
    return state.found[0] == 0


def target_found(state):
    """Tell whether the search may stop early."""
    return state.found[0] != 0


FIELDS = {
    "depth": Field(np.uint32, fill=UNREACHED, combine="min"),
    "parent": Field("vertex", fill=-1),
}
HOP = Advance(
    one_hop_further, into="depth", cond=unreached, record_source="parent", synchronous=False
)
LOOK = Compute(look_for_target, over="frontier")
BFS = Program(FIELDS, step=[HOP], name="bfs")
BFS_TO_TARGET = Program(
    {**FIELDS, "found": Field(np.int32, combine="max", length=1)},
    phases=[
        Phase([LOOK, Filter(target_is_further)], counts=False),
        Phase([HOP, LOOK], until=target_found),
    ],
    parameters=["target"],
    name="bfs",
)
SMALLEST_PARENTS = Program(
    FIELDS, step=[Compute(find_parent)], unordered=True, name="smallest parents"
)


@dataclass(frozen=True, repr=False, eq=False)
class BreadthFirst(Search):
    """Depths and parents; with ``each=True`` a row for each source.

    Attributes
    ----------
    sources
        The positions of the vertices it started from.
    depth
        int32, edges from the nearest source, -1 where unreached.
    parent
        The vertex before, by position; -1 where unreached, a source is its own.
    """

    vertex_columns: ClassVar[tuple[str, ...]] = ("parent",)

    depth: NDArray[np.int32]
    parent: NDArray[Any]

    def path_to(self, target: object) -> list[Any]:
        """Return the labels on a shortest path from a source to `target`; empty if unreached."""
        return path(self.alone().parent, self.graph, target)

    def mask(self) -> NDArray[Any]:
        """Return which vertices were reached."""
        return self.depth >= 0

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return depth and parent."""
        return {"depth": self.depth, "parent": self.parent}

    def summary(self) -> list[str]:
        """Return how far it came."""
        reached = int(np.count_nonzero(self.depth >= 0))
        deepest = int(self.depth.max(initial=-1))
        return [f"{self.reach(reached)}, at most {deepest:,} edges away"]

    def check(self) -> None:
        """Check Graph500's five rules."""
        from broadfront.verify import verify_bfs

        verify_bfs(self.graph, self.sources, self.depth, self.parent)


def bfs(
    graph: Graph,
    source: object,
    *,
    each: bool = False,
    target: object = None,
    deterministic: bool = False,
    **options: Unpack[Options],
) -> BreadthFirst:
    """Search breadth-first from a vertex, from the nearest of several, or from each of them.

    Parameters
    ----------
    source
        A vertex, or a list of vertices, by label. Of a list, the nearest counts.
    each
        Search from each vertex of the list by itself: answers have a row per source, in the order
        of the list, and ``result[i]`` is the search from source i.
    target
        Stop when this vertex is reached: what is no deeper is answered, and deeper vertices stay
        unreached.
    deterministic
        Of several possible parents take the one of smallest position, at the price of another pass;
        otherwise any.
    options
        Where it runs and how long it may: ``threads``, ``devices``, ``partitioner``, ``relabel``,
        ``memory_limit``, ``time_limit``, ``progress``; see `broadfront.Options`.

    Examples
    --------
    >>> import broadfront as bf
    >>> graph = bf.from_edges(["a", "a", "b", "c"], ["b", "c", "d", "d"])
    >>> found = bf.bfs(graph, "a")
    >>> found.depth
    array([0, 1, 1, 2], dtype=int32)
    >>> found.path_to("d")
    ['a', 'b', 'd']
    >>> bf.bfs(graph, ["a", "b"], each=True).depth
    array([[ 0,  1,  1,  2],
           [-1,  0, -1,  1]], dtype=int32)
    """
    each, deterministic = flag(each, "each"), flag(deterministic, "deterministic")
    sources = positions(graph, source, each)
    goal = None if target is None else graph.vertex(target)
    program = BFS if goal is None else BFS_TO_TARGET
    names = sources.tolist()
    start: dict[str, Any] = {
        "depth": dict.fromkeys(names, 0), "parent": dict(zip(names, names, strict=True))
    }  # fmt: skip
    rest: dict[str, Any] = dict(options)
    time_limit = rest.pop("time_limit", None)
    numbers = {} if goal is None else {"target": goal}
    go = run_each if each else run
    with Allowance(time_limit) as left:
        answer = go(
            program, graph, frontier=sources, init=start, parameters=numbers, time_limit=left(),
            **rest,
        )  # fmt: skip
        depth, parent, record = answer["depth"], answer["parent"], answer.record
        if deterministic:
            rest.pop("execution", None)
            second = go(
                SMALLEST_PARENTS, graph, frontier=sources, init={"depth": depth},
                time_limit=left(), **rest,
            )  # fmt: skip
            parent, record = second["parent"], joined([record, second.record])
    return BreadthFirst(graph, record, sources, each, goal, depth.view(np.int32), parent)

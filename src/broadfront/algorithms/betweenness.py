"""Betweenness centrality: the share of all shortest paths that lead through a vertex.

Method (Brandes): from each source, levels; paths are counted from level to level outwards, and what
lies beyond a vertex is shared among the paths to it from level to level inwards. Unweighted, the
levels are depths. Weighted, they are the most arcs on any shortest path, so that each arc of such a
path (a tight arc) leads to a later level.

Paths soon outnumber what float64 holds (over 10^600 between the corners of a grid of 1000 x 1000).
A count is ``paths * 2 ** (512 * power)``; powers are looked at once some count has passed 2^256.

Invariant: ``paths`` and ``share`` are zero until their level is done, so an offer of a neighbour in
the same or a later level is zero, and depths need not be read.

References
----------
Brandes: A faster algorithm for betweenness centrality (J. Mathematical Sociology 25, 2001).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.algorithms.bfs import UNREACHED, one_hop_further, positions, unreached
from broadfront.algorithms.sssp import shortest_paths
from broadfront.clock import Clock
from broadfront.errors import GraphError, OptionError, TimeLimitError
from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.kernel import inner
from broadfront.operators.describe import Advance, Field, Functor, Levels, Operator
from broadfront.progress import Listener, listening, report
from broadfront.report.record import Record
from broadfront.report.result import Result

MANY, LESS = 2.0**256, 2.0**-512

# ---------------------------------------------------------------------- functors


@inner
def lowered(value, powers):
    """Return `value` as it counts where the unit is larger by so many powers."""
    if powers == 0:
        return value
    return value * LESS if powers == 1 else 0.0


def many_paths(state):
    """Tell whether some count has a power."""
    return state.many[0] != 0


def keep_paths(vertex, total, state):
    """Keep a count of paths, in a larger unit if there are very many."""
    if total >= MANY:
        total *= LESS
        state.power[vertex] += 1
        state.many[0] = 1
    state.paths[vertex] = 1.0 if state.depth[vertex] == 0 else total


def keep_share(vertex, total, state):
    """Keep what a path to the vertex has a share of: the vertex and all beyond it."""
    beyond = state.paths[vertex] * total
    state.share[vertex] = (1.0 + beyond) / state.paths[vertex]
    if state.depth[vertex] != 0:
        state.raw[vertex] += beyond


def brandes(reach: Operator, tight: Functor, given: Mapping[str, Field]) -> Program:
    """Return the program; ``tight(tail, head, edge, state)`` tells if a path may take an arc."""
    tight = inner(tight)

    def paths_through(neighbor, vertex, edge, state):
        return state.paths[neighbor] if tight(neighbor, vertex, edge, state) else 0.0

    def very_many_paths(vertex, state):
        total, power = 0.0, 0
        for edge in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
            tail = state.in_targets[edge]
            if state.paths[tail] != 0.0 and tight(tail, vertex, edge, state):
                higher = state.power[tail] - power
                if higher > 0:
                    total = lowered(total, higher)
                    power += higher
                total += lowered(state.paths[tail], max(0, -higher))
        state.power[vertex] = power
        return total

    def share_of(neighbor, vertex, edge, state):
        return state.share[neighbor] if tight(vertex, neighbor, edge, state) else 0.0

    def share_of_very_many(vertex, state):
        total = 0.0
        for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
            head = state.targets[edge]
            if state.share[head] != 0.0 and tight(vertex, head, edge, state):
                total += lowered(state.share[head], state.power[head] - state.power[vertex])
        return total

    number = Field(np.float64)
    fields = {"paths": number, "power": Field(np.int32), "many": Field(np.int64, length=1, combine="max"),
              "share": number, "raw": number}  # fmt: skip
    outwards = Levels(
        paths_through, keep_paths, by="depth", when=many_paths, instead=very_many_paths
    )
    inwards = Levels(
        share_of, keep_share, descending=True, when=many_paths, instead=share_of_very_many
    )
    phases = [Phase([reach]), Phase([outwards]), Phase([inwards])]
    return Program({**given, **fields}, phases=phases)


def always(tail, head, edge, state):
    """Let any arc to the next depth be on a shortest path."""
    return True


def adds_up(tail, head, edge, state):
    """Tell whether an arc makes up the difference in distance of its ends."""
    return state.distance[tail] + state.weight[edge] == state.distance[head]


def one_arc_more(source, neighbor, edge, state):
    """Propose one arc more along arcs that add up."""
    if state.distance[source] + state.weight[edge] != state.distance[neighbor]:
        return -1
    if state.distance[source] != state.distance[neighbor]:
        return state.depth[source] + 1
    if source != neighbor:
        state.lost[0] = 1
    return -1


UNWEIGHTED = brandes(
    Advance(one_hop_further, into="depth", while_=unreached),
    always,
    {"depth": Field(np.uint32, fill=UNREACHED, combine="min")},
)


@cache
def weighted_brandes(dtype: np.dtype[Any]) -> Program:
    """Return the program that is given distances of a dtype."""
    given = {
        "depth": Field(np.int32, fill=-1, combine="max"),
        "distance": Field(dtype),
        "lost": Field(np.int32, length=1),
    }
    return brandes(Advance(one_arc_more, into="depth"), adds_up, given)


# ---------------------------------------------------------------------- the call


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

    def story(self) -> list[str]:
        """Return the number of sources, and the first vertex."""
        told = f"shortest paths from {len(self.sources):,} vertices"
        if len(self.centrality) == 0:
            return [told]
        best = int(np.argmax(self.centrality))
        return [f"{told}; the first is {self.labels[best]} with {self.centrality[best]:.3g}"]

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
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Listener | None = None,
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
    threads, time_limit, progress
        As in `broadfront.bfs`.

    Examples
    --------
    >>> import broadfront as bf
    >>> path = bf.from_edges(["a", "b", "c"], ["b", "c", "d"], directed=False)
    >>> bf.betweenness(path, normalized=False).centrality
    array([0., 2., 2., 0.])
    """
    roots = _positions(graph, sources, seed)
    heavy = weighted and graph.weights is not None
    dtype = _distance_dtype(graph) if heavy else None
    clock = Clock()
    raw = np.zeros(graph.num_vertices)
    records: list[Record] = []
    with listening(progress):
        for done, root in enumerate(roots.tolist()):
            report("betweenness", done, len(roots))
            left = None if time_limit is None else max(0.0, time_limit - clock.seconds)
            options = {"frontier": [root], "threads": threads, "time_limit": left}
            try:
                raw, record = _from_one(graph, root, dtype, raw, options)
            except TimeLimitError:
                raise TimeLimitError(f"time_limit={time_limit} s is over") from None
            records.append(record)
        report("betweenness", len(roots), len(roots))
    if not records:
        records = [run(UNWEIGHTED, graph, threads=threads).record]
    centrality = raw * _scale(graph, roots, normalized)
    return Betweenness(graph, _joined(records), centrality, roots, normalized, weighted)


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
    return positions(graph, list(sources))


def _distance_dtype(graph: Graph) -> np.dtype[Any]:
    """Return the dtype to add up distances in; refuse weights that are not positive."""
    weights = graph.weights
    assert weights is not None
    smallest, largest = graph.weight_bounds
    if smallest <= 0 and len(weights):
        arc = int(np.argmax(weights <= 0))
        tail, head = graph.labels[[graph.sources()[arc], graph.targets[arc]]].tolist()
        raise GraphError(
            f"shortest paths are counted over positive weights; {tail} -> {head} weighs "
            f"{weights[arc]}"
        )
    if weights.dtype.kind == "f":
        return np.dtype(np.float64)
    if (graph.num_vertices + 1) * int(largest) > np.iinfo(np.int64).max:
        raise GraphError("paths may be longer than 64 bits hold; use weights of float64")
    return np.dtype(np.int64)


def _from_one(
    graph: Graph, root: int, dtype: np.dtype[Any] | None, raw: Any, options: dict[str, Any]
) -> tuple[NDArray[np.float64], Record]:
    """Add what the paths from one vertex are worth to `raw`."""
    start: dict[str, Any] = {"depth": {root: 0}, "raw": raw}
    if dtype is None:
        answer = run(UNWEIGHTED, graph, start=start, **options)
        return answer["raw"], answer.record
    program = shortest_paths(dtype, None)
    found = run(program, graph, start={"distance": {root: 0}}, **options)
    start["distance"] = found["distance"]
    answer = run(weighted_brandes(dtype), graph, start=start, **options)
    if answer["lost"][0]:
        raise GraphError("weights are too far apart: adding some to a distance does not change it")
    return answer["raw"], _joined([found.record, answer.record])


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


def _joined(records: Sequence[Record]) -> Record:
    """Return one record of several runs, one after the other."""
    together: dict[str, Any] = {}
    for name in (field.name for field in fields(Record)):
        values = [getattr(record, name) for record in records]
        if isinstance(values[0], np.ndarray):
            together[name] = np.concatenate(values)
        else:
            together[name] = max(values) if name in ("threads", "workspace_bytes") else sum(values)
    return Record(**together)

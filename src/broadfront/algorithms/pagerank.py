"""PageRank: how often a walker is at each vertex who follows edges and sometimes jumps.

Method: power iteration by pulling. Each vertex gives its rank in equal shares to its neighbours (by
weight on request); who has no way out gives to everyone as a jump does. Shares are written once a
vertex and read once an edge, from one array into another and back, so an iteration reads nothing
that it writes.

Invariant: sums run in the order of neighbours and of blocks of vertices, so the ranks have the same
bits for any number of threads.

References
----------
Page, Brin, Motwani, Winograd: The PageRank citation ranking (1999).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import GraphError, OptionError
from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.kernel import inner
from broadfront.operators.describe import Compute, Field, Reduce
from broadfront.progress import Listener
from broadfront.report.result import Result


def count_ways_out(vertex, state):
    """Start at the jump's vector, and give it away in shares."""
    state.strength[vertex] = state.offsets[vertex + 1] - state.offsets[vertex]
    return share_out(vertex, state.jump[vertex], state.first, state)


def weigh_ways_out(vertex, state):
    """Do as `count_ways_out`, where an edge takes by its weight."""
    total = 0.0
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        total += state.weight[edge]
    state.strength[vertex] = total
    return share_out(vertex, state.jump[vertex], state.first, state)


@inner
def share_out(vertex, rank, shares, state):
    """Set the share that each edge of a vertex takes; return what finds no way out."""
    state.rank[vertex] = rank
    if state.strength[vertex] > 0:
        shares[vertex] = rank / state.strength[vertex]
        return 0.0
    shares[vertex] = 0.0
    return rank


@inner
def move(vertex, total, shares, state):
    """Set a vertex' next rank; return how much it changed, and what finds no way out."""
    kept = state.stuck[0] * state.keeps_stuck
    rank = state.damping * (total + kept * state.jump[vertex])
    rank += (1.0 - state.damping) * state.jump[vertex]
    change = abs(rank - state.rank[vertex])
    return change, share_out(vertex, rank, shares, state)


def offer_first(neighbor, vertex, edge, state):
    """Offer a share."""
    return state.first[neighbor]


def offer_second(neighbor, vertex, edge, state):
    """Offer a share."""
    return state.second[neighbor]


def offer_first_weighted(neighbor, vertex, edge, state):
    """Offer a share for each unit of weight."""
    return state.first[neighbor] * state.weight[edge]


def offer_second_weighted(neighbor, vertex, edge, state):
    """Offer a share for each unit of weight."""
    return state.second[neighbor] * state.weight[edge]


def fill_second(vertex, total, state):
    """Move, and leave the shares in the second array."""
    return move(vertex, total, state.second, state)


def fill_first(vertex, total, state):
    """Move, and leave the shares in the first array."""
    return move(vertex, total, state.first, state)


def settled(state):
    """Tell whether the ranks stand still, or enough iterations are over."""
    state.iterations[0] += 1
    return state.change[0] < state.tolerance or state.iterations[0] >= state.most_iterations


def _program(start: Any, offer_even: Any, offer_odd: Any) -> Program:
    sums = ("change", "stuck")
    there = Reduce(offer_even, fill_second, sums=sums)
    back = Reduce(offer_odd, fill_first, sums=sums)
    return Program(
        fields={
            "rank": Field(np.float64),
            "strength": Field(np.float64),
            "first": Field(np.float64),
            "second": Field(np.float64),
            "jump": Field(np.float64),
            "stuck": Field(np.float64, length=1),
            "change": Field(np.float64, length=1),
            "iterations": Field(np.int64, length=1),
        },
        parameters=["damping", "tolerance", "most_iterations", "keeps_stuck"],
        phases=[
            Phase([Compute(start, sums=("stuck",))]),
            Phase([there, back], until=settled, alternate=True),
        ],
    )


PAGERANK = _program(count_ways_out, offer_first, offer_second)
WEIGHTED_PAGERANK = _program(weigh_ways_out, offer_first_weighted, offer_second_weighted)


@dataclass(frozen=True, repr=False, eq=False)
class PageRank(Result):
    """Ranks that sum to 1.

    Attributes
    ----------
    rank
        float64, the share of each vertex.
    iterations
        How many there were.
    converged
        Whether the last changed less than `tol` in all.
    """

    rank: NDArray[np.float64]
    iterations: int
    converged: bool
    settings: Mapping[str, Any]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the rank of each vertex."""
        return {"rank": self.rank}

    def story(self) -> list[str]:
        """Return how it ended, and the first vertex."""
        ended = "converged" if self.converged else "stopped"
        if len(self.rank) == 0:
            return [f"{ended} after {self.iterations} iterations"]
        best = int(np.argmax(self.rank))
        first = f"the first is {self.labels[best]} with {self.rank[best]:.3g}"
        return [f"{ended} after {self.iterations} iterations; {first}"]

    def verify(self) -> None:
        """Check that the ranks sum to 1 and that another step hardly changes them."""
        from broadfront.verify import verify_pagerank

        verify_pagerank(
            self.graph,
            self.rank,
            converged=self.converged,
            iterations=self.iterations,
            **self.settings,
        )


def pagerank(
    graph: Graph,
    damping: float = 0.85,
    tol: float = 1e-6,
    max_iterations: int = 100,
    personalization: ArrayLike | Mapping[Any, float] | None = None,
    weighted: bool = False,
    dangling: str = "redistribute",
    *,
    threads: int | None = None,
    time_limit: float | None = None,
    progress: Listener | None = None,
) -> PageRank:
    """Rank vertices by where a walker is who follows edges and now and then jumps.

    Parameters
    ----------
    damping
        The chance to follow an edge and not to jump.
    tol
        Stop when an iteration changes the ranks by less than this, added up.
    max_iterations
        Stop after so many in any case; `converged` tells which.
    personalization
        Where jumps go: an array of weights, one per vertex, or weights by label; by default
        everywhere alike.
    weighted
        Follow edges by their weights.
    dangling
        ``"redistribute"``: who has no way out jumps; ``"drop"``: that share is lost, as in some
        other systems, and ranks sum to less than 1.
    threads, time_limit, progress
        As in `broadfront.bfs`.

    Examples
    --------
    >>> import broadfront as bf
    >>> bf.pagerank(bf.from_edges([0, 1, 2], [1, 2, 1])).rank.round(3)
    array([0.05 , 0.486, 0.464])
    """
    if not 0 <= damping <= 1:
        raise OptionError(f"damping={damping} is not in 0..1")
    if max_iterations < 1:
        raise OptionError(f"max_iterations={max_iterations} is not a positive number")
    if dangling not in ("redistribute", "drop"):
        raise OptionError(f"dangling={dangling!r}: expected 'redistribute' or 'drop'")
    if weighted:
        _check_weights(graph)
    jump = _jump(graph, personalization)
    answer = run(
        WEIGHTED_PAGERANK if weighted else PAGERANK,
        graph,
        start={"jump": jump},
        parameters={
            "damping": float(damping),
            "tolerance": float(tol),
            "most_iterations": max_iterations,
            "keeps_stuck": float(dangling == "redistribute"),
        },
        threads=threads,
        time_limit=time_limit,
        progress=progress,
    )
    settings = {
        "damping": damping,
        "tol": tol,
        "personalization": None if personalization is None else jump,
        "dangling": dangling,
        "weighted": weighted,
    }
    converged = bool(answer["change"][0] < tol)
    iterations = int(answer["iterations"][0])
    return PageRank(graph, answer.record, answer["rank"], iterations, converged, settings)


def _jump(graph: Graph, personalization: ArrayLike | Mapping[Any, float] | None) -> NDArray[Any]:
    count = graph.num_vertices
    if personalization is None:
        return np.full(count, 1.0 / max(1, count))
    if isinstance(personalization, Mapping):
        jump = np.zeros(count)
        for name, value in personalization.items():
            jump[graph.vertex(name)] = value
    else:
        jump = np.array(personalization, np.float64)
    if jump.shape != (count,):
        raise OptionError(f"personalization has shape {jump.shape}; expected ({count},)")
    if not np.all(np.isfinite(jump)) or np.any(jump < 0) or (count and jump.sum() <= 0):
        raise OptionError("personalization must be weights of at least 0 that are not all 0")
    return jump / jump.sum() if count else jump


def _check_weights(graph: Graph) -> None:
    if graph.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    if graph.weight_bounds[0] < 0:
        raise GraphError("PageRank needs weights of at least 0")

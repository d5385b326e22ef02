"""PageRank: how often a walker is at each vertex who follows edges and sometimes jumps.

Method: power iteration by pulling. A vertex offers its rank in equal shares to its neighbours (by
weight on request); who has no way out gives to everyone as a jump does. Offers are all made before
any rank is written, so ranks are kept once: 16 bytes a vertex with the offers.

Invariant: sums run in an order that the graph decides, over blocks of vertices in theirs, so the
ranks have the same bits for any number of threads.

References
----------
Page, Brin, Motwani, Winograd: The PageRank citation ranking (1999).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.algorithms.distances import weighed
from broadfront.algorithms.residual_push import pushed
from broadfront.errors import GraphError, OptionError
from broadfront.execution.asynchronous.settings import requested
from broadfront.execution.options import Options
from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.given import count, flag, is_word, number, numbers
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.operators.describe import Compute, Field, Functor, Operator, Reduce
from broadfront.report.result import Result


def share(neighbor, state):
    """Offer an equal part of a vertex' rank to each that it has an edge to."""
    ways = state.offsets[neighbor + 1] - state.offsets[neighbor]
    return state.rank[neighbor] / ways if ways > 0 else 0.0


def share_by_weight(neighbor, vertex, edge, state):
    """Offer a part of a vertex' rank that goes by the weight of the edge."""
    return state.share[neighbor] * state.weight[edge]


def cut_shares(vertex, state):
    """Set what a vertex gives for each unit of weight."""
    strength = state.strength[vertex]
    state.share[vertex] = state.rank[vertex] / strength if strength > 0 else 0.0


def to_any(vertex, state):
    """Return how likely a jump goes to a vertex, where it goes to all alike."""
    return state.jump[0]


def to_this(vertex, state):
    """Return how likely a jump goes to a vertex."""
    return state.jump[vertex]


class Moves(NamedTuple):
    """How ranks begin and move on, each without and with weights."""

    begin: Functor
    move: Functor
    begin_by_weight: Functor
    move_by_weight: Functor


def moves(jump_to: Functor) -> Moves:
    """Return the functors for jumps that go where `jump_to` says."""

    def begin(vertex, state):
        """Start where jumps go; return what of it finds no way out."""
        state.rank[vertex] = jump_to(vertex, state)
        ways = state.offsets[vertex + 1] - state.offsets[vertex]
        return state.rank[vertex] if ways == 0 else 0.0

    def begin_by_weight(vertex, state):
        """Do as `begin` by weights, and keep their sum."""
        state.rank[vertex] = jump_to(vertex, state)
        total = 0.0
        for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
            total += state.weight[edge]
        state.strength[vertex] = total
        return state.rank[vertex] if total == 0 else 0.0

    def moved(vertex, total, state):
        """Set a vertex' next rank; return it, and how much it changed."""
        here = 1.0 - state.damping + state.damping * state.keeps_stuck * state.stuck[0]
        rank = state.damping * total + here * jump_to(vertex, state)
        change = abs(rank - state.rank[vertex])
        state.rank[vertex] = rank
        return rank, change

    def move(vertex, total, state):
        """Set a vertex' next rank; return how much it changed, and what finds no way out."""
        rank, change = moved(vertex, total, state)
        ways = state.offsets[vertex + 1] - state.offsets[vertex]
        return change, rank if ways == 0 else 0.0

    def move_by_weight(vertex, total, state):
        """Do as `move` by weights."""
        rank, change = moved(vertex, total, state)
        return change, rank if state.strength[vertex] == 0 else 0.0

    return Moves(begin, move, begin_by_weight, move_by_weight)


def settled(state):
    """Tell whether the ranks stand still, or enough iterations are over."""
    state.iterations[0] += 1
    return state.change[0] < state.tolerance or state.iterations[0] >= state.most_iterations


def _program(weighted: bool, personal: bool) -> Program:
    sums = ("change", "stuck")
    fields = {
        "rank": Field(np.float64),
        "jump": Field(np.float64, length=None if personal else 1),
        "stuck": Field(np.float64, length=1),
        "change": Field(np.float64, length=1),
        "iterations": Field(np.int64, length=1),
    }
    functors = moves(to_this if personal else to_any)
    first = Compute(functors.begin, sums=("stuck",))
    step: list[Operator] = [Reduce(share, functors.move, sums=sums)]
    if weighted:
        fields |= {"strength": Field(np.float64), "share": Field(np.float64)}
        first = Compute(functors.begin_by_weight, sums=("stuck",))
        step = [Compute(cut_shares), Reduce(share_by_weight, functors.move_by_weight, sums=sums)]
    return Program(
        fields,
        parameters=["damping", "tolerance", "most_iterations", "keeps_stuck"],
        phases=[Phase([first], counts=False), Phase(step, until=settled)],
        unordered=True,
        name="pagerank",
    )


ITERATIONS = 100
"""At most so many by default; enough for the default tolerance and damping."""

WEAKEST, STRONGEST = float(np.finfo(np.float64).tiny), 1e290
"""Between these a rank divided by a sum of weights neither overflows nor loses digits."""

ROUNDING = 1e-15
"""Changes below this may be rounding, which does not decrease."""

PROGRAMS = {kind: _program(*kind) for kind in itertools.product((False, True), repeat=2)}
"""By whether edges have weights, and whether jumps go everywhere alike or not."""


@dataclass(frozen=True, repr=False, eq=False)
class PageRank(Result):
    """Ranks that sum to 1.

    Attributes
    ----------
    rank
        float64, the share of each vertex.
    iterations
        How many there were; 0 where residuals were pushed asynchronously.
    converged
        Whether the last changed the ranks by less than `tol`, total.
    change
        By how much the last changed the ranks: the L1 norm of the difference. Where there were no
        iterations, how much one more would change them at most.
    """

    rank: NDArray[np.float64]
    iterations: int
    converged: bool
    change: float
    settings: Mapping[str, Any]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the rank of each vertex."""
        return {"rank": self.rank}

    def summary(self) -> list[str]:
        """Return how it ended, and the first vertex."""
        lines = [f"converged after {self.iterations:,} iterations"]
        if self.report.work is not None:
            lines = [f"converged after {self.report.work.served:,} pushes of residuals"]
        if not self.converged:
            damping, tol = self.settings["damping"], self.settings["tol"]
            lines = [f"stopped after {self.iterations:,} iterations, the last of which changed the "
                     f"ranks by {self.change:.2g}, and tol is {tol:.2g}"]  # fmt: skip
            more = steps_below(tol / max(self.change, tol, 1e-300), damping)
            if more is not None and tol >= ROUNDING:
                lines.append(f"max_iterations={self.iterations + more} is enough")
        if len(self.rank):
            best = int(np.argmax(self.rank))
            lines.append(
                f"the first is {self.graph.labels_of([best])[0]} with {self.rank[best]:.3g}"
            )
        return ["; ".join(lines)]

    def totals(self) -> dict[str, Any]:
        """Return the totals of the report, and how it ended."""
        return {**super().totals(), "converged": self.converged, "change": self.change}

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
    max_iterations: int | None = None,
    personalization: ArrayLike | Mapping[Any, float] | None = None,
    weighted: bool = False,
    dangling: str = "redistribute",
    **options: Unpack[Options],
) -> PageRank:
    """Rank vertices by where a walker is who follows edges and now and then jumps.

    Parameters
    ----------
    damping
        The chance to follow an edge and not to jump.
    tol
        Stop when an iteration changes the ranks by less than this, added up.
    max_iterations
        Stop after so many in any case; `converged` tells which, and `change` how far it came. By
        default 100, which is enough for the default `tol` and `damping`; where these need more, as
        many as are enough for any graph: the first k with ``2 * damping**k < tol``.
    personalization
        Where jumps go: an array of weights, one per vertex, or weights by label; by default
        everywhere alike.
    weighted
        Follow edges by their weights.
    dangling
        ``"redistribute"``: who has no way out jumps; ``"drop"``: that share is lost, as in some
        other systems, and ranks sum to less than 1.
    options
        As in `broadfront.bfs`. ``execution="async"`` pushes residuals instead of going from
        iteration to iteration, until one more would change the ranks by less than `tol`.

    Examples
    --------
    >>> import broadfront as bf
    >>> bf.pagerank(bf.from_edges([0, 1, 2], [1, 2, 1])).rank.round(3)
    array([0.05 , 0.486, 0.464])
    """
    expect_graph(graph)
    damping, tol, weighted = (
        number(damping, "damping"),
        number(tol, "tol"),
        flag(weighted, "weighted"),
    )
    if not 0 <= damping <= 1:
        raise OptionError(f"damping={damping} is not in 0..1")
    limited = max_iterations is not None
    if max_iterations is None:
        max_iterations = max(ITERATIONS, steps_below(tol / 2, damping) or 0)
    max_iterations = count(max_iterations, "max_iterations")
    if not (is_word(dangling, "redistribute") or is_word(dangling, "drop")):
        raise OptionError(f"dangling={dangling!r}: expected 'redistribute' or 'drop'")
    if weighted:
        _check_weights(graph)
    personal = personalization is not None
    jump = _jump(graph, personalization)
    settings = {
        "damping": damping,
        "tol": tol,
        "personalization": jump if personal else None,
        "dangling": dangling,
        "weighted": weighted,
    }
    if requested(options.get("execution")) is not None:
        _refuse_iterations(limited)
        found = pushed(
            graph, jump, damping=damping, tol=tol, weighted=weighted,
            redistribute=dangling == "redistribute", **options,
        )  # fmt: skip
        return PageRank(graph, found.record, found.rank, 0, True, found.change, settings)
    answer = run(
        PROGRAMS[weighted, personal],
        graph,
        init={"jump": jump},
        parameters={
            "damping": float(damping),
            "tolerance": float(tol),
            "most_iterations": max_iterations,
            "keeps_stuck": float(dangling == "redistribute"),
        },
        **options,
    )
    converged = bool(answer["change"][0] < tol)
    iterations = int(answer["iterations"][0])
    change = float(answer["change"][0])
    return PageRank(graph, answer.record, answer["rank"], iterations, converged, change, settings)


def _refuse_iterations(limited: bool) -> None:
    if limited:
        raise OptionError(
            "execution='async' has no iterations: leave max_iterations out, or run it with "
            "execution='bsp'"
        )


def steps_below(share: float, damping: float) -> int | None:
    """Return after how many iterations a change is sure to be below a share of itself.

    Each changes the ranks by at most `damping` times what the one before did. None where that is
    never, or nobody knows when.
    """
    if share <= 0 or damping >= 1 or math.isnan(share):
        return None
    if share > 1 or damping <= 0:
        return 1
    return math.floor(math.log(share) / math.log(damping)) + 1


def _jump(graph: Graph, personalization: ArrayLike | Mapping[Any, float] | None) -> NDArray[Any]:
    count = graph.num_vertices
    if personalization is None:
        return np.array([1.0 / max(1, count)])
    if isinstance(personalization, Mapping):
        jump = np.zeros(count)
        values = numbers(list(personalization.values()), jump.dtype, "personalization")
        jump[[graph.vertex(name) for name in personalization]] = values
    else:
        jump = numbers(personalization, np.dtype(np.float64), "personalization")
    if jump.shape != (count,):
        raise OptionError(f"personalization has shape {jump.shape}; expected ({count},)")
    if not np.all(np.isfinite(jump)) or np.any(jump < 0) or (count and not jump.any()):
        raise OptionError("personalization must be weights of at least 0 that are not all 0")
    if count == 0:
        return jump
    jump = np.ldexp(jump, -np.frexp(jump.max())[1])  # no digit changes, and the sum is finite
    shares: NDArray[Any] = jump / jump.sum()
    return shares


def _check_weights(graph: Graph) -> None:
    if graph.weights is None:
        raise GraphError("weighted=True, but the graph has no weights")
    smallest, largest = graph.weight_bounds
    if smallest < 0 or np.isinf(largest):
        wrong = graph.weights < 0 if smallest < 0 else np.isinf(graph.weights)
        raise GraphError(f"PageRank needs finite weights of at least 0; {weighed(graph, wrong)}")
    if smallest >= WEAKEST and float(largest) * graph.max_degree <= STRONGEST:
        return
    (vertex,) = graph.kept("vertex of unusable strength", lambda: _unusable(graph))
    if vertex is not None:
        name = graph.labels_of([vertex])[0]
        raise GraphError(
            f"the weights of the edges that leave {name} add up to less than {WEAKEST:.1e} or more "
            f"than {STRONGEST:.0e}: multiply all weights by one number"
        )


def _unusable(graph: Graph) -> tuple[int | None]:
    """Return the first vertex whose weights add up to too much, or to nearly nothing."""
    assert graph.weights is not None
    if graph.weights.dtype.kind != "f":
        return (None,)
    strength = np.bincount(graph.sources(), graph.weights, graph.num_vertices)
    wrong = np.flatnonzero((strength > STRONGEST) | ((strength > 0) & (strength < WEAKEST)))
    return (int(wrong[0]) if len(wrong) else None,)

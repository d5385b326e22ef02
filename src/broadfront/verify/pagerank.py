"""Checks PageRank: the ranks are a fixed point, as nearly as was asked for.

Method: one power step, pushed along the arcs, from the given ranks. A step multiplies the L1
distance of two vectors by the damping at most. Ranks that changed by less than ``tol`` in their
last iteration therefore change by less than ``damping * tol`` in one more; ranks stopped after
``k`` iterations, from any start that sums to 1 or less, by at most ``2 * damping ** k``. The
distance to the true ranks is at most ``1 / (1 - damping)`` times that.

Invariant: to the bound comes what rounding may add to two such steps, no more: a sum of ``k`` terms
zero or more is off by ``k`` units of rounding of its value at most.

References
----------
Langville, Meyer: Deeper inside PageRank (Internet Mathematics 1, 2004), for the
contraction. Higham: Accuracy and stability of numerical algorithms (2002), section 4.2, for sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import OptionError, VerificationError
from broadfront.given import count, flag, is_one_of, number, numbers
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.verify.rules import answer, broken_vertex, first, name_of

Array = NDArray[Any]

SUM_TOLERANCE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}
STEP_ROUNDINGS = 8  # of one rank apart from its sum: divide, damp, teleport, compare


def verify_pagerank(
    graph: Graph,
    rank: ArrayLike,
    damping: float,
    tol: float,
    personalization: ArrayLike | None = None,
    dangling: str = "redistribute",
    weighted: bool = False,
    converged: bool = True,
    iterations: int | None = None,
) -> None:
    """Check that ranks are zero or more, sum to 1, and hardly change in one more iteration.

    Parameters
    ----------
    rank
        float64 or float32.
    tol
        What the last L1 change was below, if `converged`.
    personalization
        A number per vertex, zero or more, of any positive sum; uniform by default.
    dangling
        "redistribute" gives the rank of vertices without a way out to the personalization; "drop"
        loses it, and then the sum is 1 at most.
    weighted
        Whether rank leaves a vertex in proportion to the weights of its arcs. A vertex whose
        weights are all zero has no way out.
    converged, iterations
        Ranks that did not converge are held to the bound of their `iterations`, if given.

    Raises
    ------
    VerificationError
        Names the broken rule and the first offending vertex, or the one that changes most.

    Examples
    --------
    >>> import broadfront as bf
    >>> from broadfront.verify import verify_pagerank
    >>> graph = bf.generate("cycle:4")
    >>> verify_pagerank(graph, [0.25, 0.25, 0.25, 0.25], damping=0.85, tol=1e-6)
    >>> verify_pagerank(graph, [0.2, 0.3, 0.2, 0.3], damping=0.85, tol=1e-6)
    Traceback (most recent call last):
    ...
    broadfront.errors.VerificationError: one more iteration changes little: L1 change 0.37, ...
    """
    damping, tol = number(damping, "damping"), number(tol, "tol")
    weighted, converged = flag(weighted, "weighted"), flag(converged, "converged")
    if not is_one_of(dangling, ("redistribute", "drop")):
        raise OptionError(f"dangling {dangling!r} is neither 'redistribute' nor 'drop'")
    rank = answer(graph, "rank", rank, np.float64, np.float32)
    if graph.num_vertices == 0:
        return
    _check_values(graph, rank, dangling)
    if converged:
        most = damping * tol
    elif iterations is not None:
        most = 2 * damping ** count(iterations, "iterations")
    else:
        return
    goal = _preference(graph, personalization)
    _check_step(graph, rank, damping, most, goal, dangling, weighted)


def _check_values(graph: Graph, rank: Array, dangling: str) -> None:
    wrong = first(~((rank >= 0) & (rank < np.inf)))
    if wrong is not None:
        rule = "ranks are numbers, zero or more"
        raise broken_vertex(graph, rule, wrong, f"rank {rank[wrong]}")
    total = float(rank.sum(dtype=np.float64))
    over = total - 1 if dangling == "drop" else abs(total - 1)
    if over > SUM_TOLERANCE[rank.dtype]:
        rule = "ranks sum to 1 at most" if dangling == "drop" else "ranks sum to 1"
        raise VerificationError(rule, f"sum {total!r}")


def _preference(graph: Graph, personalization: ArrayLike | None) -> Array:
    if personalization is None:
        return np.full(graph.num_vertices, 1 / graph.num_vertices)
    wanted = numbers(personalization, np.dtype(np.float64), "personalization")
    if wanted.shape != (graph.num_vertices,) or not wanted.min() >= 0 or not wanted.sum() > 0:
        raise OptionError("personalization is a number per vertex, zero or more, not all zero")
    normal: Array = wanted / wanted.sum()
    return normal


def _check_step(
    graph: Graph, rank: Array, damping: float, most: float, goal: Array, dangling: str,
    weighted: bool,
) -> None:  # fmt: skip
    sent = np.zeros(graph.num_vertices)
    terms = np.zeros(graph.num_vertices)
    lost, roundings = _send(
        graph.offsets, graph.targets, graph.weights if weighted else None, rank, sent, terms
    )
    if dangling == "redistribute":
        sent += lost * goal
        roundings += lost * graph.num_vertices
    roundings += float(terms @ sent) + STEP_ROUNDINGS
    change = np.abs(damping * sent + (1 - damping) * goal - rank)
    total = float(change.sum())
    bound = most + 2 * float(np.finfo(rank.dtype).eps) * roundings
    if total > bound:
        vertex = int(np.argmax(change))
        raise VerificationError(
            "one more iteration changes little",
            f"L1 change {total:.6g}, at most {bound:.6g} expected; vertex "
            f"{name_of(graph, vertex)!r} changes most, by {change[vertex]:.6g}",
        )


@kernel
def _send(offsets, targets, weights, rank, sent, terms):
    lost = 0.0
    roundings = 0.0
    for tail in range(len(rank)):
        degree = offsets[tail + 1] - offsets[tail]
        total = float(degree)
        if weights is not None:
            total = 0.0
            for arc in range(offsets[tail], offsets[tail + 1]):
                total += weights[arc]
            roundings += degree * rank[tail]
        if total == 0:
            lost += rank[tail]
            continue
        for arc in range(offsets[tail], offsets[tail + 1]):
            share = rank[tail] / total
            if weights is not None:
                share *= weights[arc]
            sent[targets[arc]] += share
            terms[targets[arc]] += 1
    return lost, roundings

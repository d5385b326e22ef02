"""PageRank by pushing residuals, for devices that never meet: `pagerank(execution="async")`.

Method: rank begins at zero, and the residual where jumps go. A vertex that is served takes its
residual, counts it as rank, and hands `damping` of it on to those that it has edges to. A residual
of at most `epsilon` waits for more. Who has no way out hands on nothing; where that rank should
jump, all ranks are divided by their sum in the end, which is the same since jumps go where the
residual began.

Invariant: what rank x is short of the answer is the damped walk from the residuals r, whatever the
order. One more iteration from x + r, of sum s, changes it by at most ``2 * damping * sum(r) / s``
once it is divided by s, and by ``damping * sum(r)`` where it is not. `epsilon` keeps that below
``damping * tol``, which is what the last iteration of the bulk-synchronous program vouches for.

References
----------
Andersen, Chung, Lang: Local graph partitioning using PageRank vectors (FOCS 2006), for pushing.
Whang, Lenharth, Dhillon, Pingali: Scalable data-driven PageRank (Euro-Par 2015), for graphs.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.execution.options import Options
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance, Compute, Field, Functor
from broadfront.report.record import Record

Array = NDArray[Any]


def take(vertex, state):
    """Count the residual as rank; set what each neighbour is given of it."""
    taken = state.residual[vertex]
    state.residual[vertex] = 0.0
    state.rank[vertex] += taken
    ways = state.offsets[vertex + 1] - state.offsets[vertex]
    state.share[vertex] = state.damping * taken / ways if ways > 0 else 0.0


def take_by_weight(vertex, state):
    """Do as `take`; the share is for each unit of weight."""
    taken = state.residual[vertex]
    state.residual[vertex] = 0.0
    state.rank[vertex] += taken
    strength = state.strength[vertex]
    state.share[vertex] = state.damping * taken / strength if strength > 0 else 0.0


def hand_on(source, neighbor, edge, state):
    """Give every neighbour the same."""
    return state.share[source]


def hand_on_by_weight(source, neighbor, edge, state):
    """Give every neighbour by the weight of the edge."""
    return state.share[source] * state.weight[edge]


def passes(vertex, before, after, state):
    """Tell whether a residual is worth handing on."""
    return after > state.epsilon


def _program(taking: Functor, functor: Functor, *more: str) -> Program:
    fields = {name: Field(np.float64) for name in ("rank", "share", *more)}
    fields["residual"] = Field(np.float64, combine="sum")
    return Program(
        fields,
        parameters=["damping", "epsilon"],
        step=[
            Compute(taking, over="frontier"),
            Advance(functor, into="residual", activate=passes, synchronous=False),
        ],
        name="pagerank",
    )


PUSH = _program(take, hand_on)
PUSH_BY_WEIGHT = _program(take_by_weight, hand_on_by_weight, "strength")


class Pushed(NamedTuple):
    """Ranks, and by how much one more iteration changes them at most."""

    rank: Array
    change: float
    record: Record


def pushed(
    graph: Graph,
    jump: Array,
    *,
    damping: float,
    tol: float,
    weighted: bool,
    redistribute: bool,
    **options: Unpack[Options],
) -> Pushed:
    """Return the ranks of walkers who jump to vertices as `jump` says, which sums to 1."""
    if damping == 1:
        raise OptionError(
            "execution='async': with damping=1 nobody jumps, and there is nothing to push: "
            "run it with execution='bsp'"
        )
    if not tol > 0:
        raise OptionError(
            f"execution='async': tol={tol}, and residuals are pushed until they are below it: "
            "give a tol above 0, or run it with execution='bsp'"
        )
    count = graph.num_vertices
    begin = np.broadcast_to((1.0 - damping) * jump, (count,)).astype(np.float64)
    strength = _strength(graph) if weighted else graph.degrees
    epsilon = _epsilon(damping, tol, count, redistribute, bool((strength == 0).any()))
    init = {"residual": begin}
    if weighted:
        init["strength"] = strength
    answer = run(
        PUSH_BY_WEIGHT if weighted else PUSH, graph, frontier=begin > epsilon, init=init,
        parameters={"damping": float(damping), "epsilon": epsilon}, **options,
    )  # fmt: skip
    rank = answer["rank"] + answer["residual"]
    change = damping * float(answer["residual"].sum())
    total = float(rank.sum())
    if redistribute and total > 0:
        rank /= total
        change *= 2 / total
    return Pushed(rank, change, answer.record)


def _epsilon(damping: float, tol: float, count: int, redistribute: bool, stuck: bool) -> float:
    """Return the residual of a vertex that may be left, so that all together suffice for `tol`.

    The sum of ranks is at least ``1 - damping``. Where nobody is stuck it is short of 1 by the
    residuals that were handed on over ``1 - damping``: by a quarter at most, if they are so small.
    """
    each = tol / max(1, count)
    if not redistribute:
        return each
    return each * (1.0 - damping) / 2 if stuck else min(each, (1.0 - damping) / max(1, count)) / 4


def _strength(graph: Graph) -> Array:
    """Return the sum of the weights of each vertex' edges, once for a graph."""
    (found,) = graph.kept(
        "strength",
        lambda: (np.bincount(graph.sources(), graph.weights, graph.num_vertices),),
    )
    strength: Array = found
    return strength

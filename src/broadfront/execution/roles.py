"""The roles that operators give to the arguments of functors: own vertex, neighbour, edge, state.

What a functor touches (`broadfront.execution.access`) follows from them.
"""

from __future__ import annotations

from broadfront.operators.describe import (
    Advance,
    Compute,
    Filter,
    Functor,
    Intersect,
    Levels,
    Once,
    Operator,
    Reduce,
    Unite,
)

OWN, NEAR, ELSEWHERE = "own", "near", "elsewhere"
"""Whose place: the vertex that the functor is called for, a neighbour of it, or who knows."""
EDGE, DERIVED = "edge", "derived"
"""Numbers that differ from device to device as those of vertices do: of edges, and what is computed
from any of them."""
LOCAL = (OWN, NEAR, EDGE, DERIVED)
STATE = "state"
NUMBER = None


def roles_of(operator: Operator) -> list[tuple[Functor | None, tuple[str | None, ...]]]:
    """Return the functors of an operator with the roles of their arguments."""
    vertex, offer = (OWN, STATE), (NEAR, OWN, EDGE, STATE)
    match operator:
        case Advance():
            return [
                (operator.functor, (OWN, NEAR, EDGE, STATE)),
                (operator.cond, (NEAR, STATE)),
                (operator.priority, vertex),
                (operator.activate, (OWN, NUMBER, NUMBER, STATE)),
            ]
        case Compute() | Filter():
            return [(operator.functor, vertex)]
        case Reduce(of_neighbor=True):
            return [(operator.functor, vertex), (operator.apply, (OWN, NUMBER, STATE))]
        case Reduce():
            return [(operator.functor, offer), (operator.apply, (OWN, NUMBER, STATE))]
        case Levels():
            return [
                (operator.gather, offer), (operator.apply, (OWN, NUMBER, STATE)),
                (operator.when, (STATE,)), (operator.instead, vertex),
            ]  # fmt: skip
        case Intersect(each="edge"):
            return [(operator.functor, (OWN, NEAR, EDGE, NUMBER, STATE))]
        case Intersect(each="triangle"):
            return [(operator.functor, (NEAR, NEAR, NEAR, STATE))]
        case Intersect():
            return [(operator.functor, (OWN, NUMBER, STATE))]
        case Unite():
            return [
                (operator.functor, (OWN, NEAR, EDGE, STATE)),
                (operator.functor, (NEAR, OWN, EDGE, STATE)),
            ]
        case Once():
            return [(operator.functor, (STATE,))]

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
"""Whose place: the vertex that the functor is called for, a neighbour of it, or any other."""
EDGE, IN_EDGE, EITHER_EDGE = "edge", "in edge", "either edge"
"""Edges of the own vertex: among those that leave, those that come, or the one or the other."""
EDGES = (EDGE, IN_EDGE, EITHER_EDGE)
STATE = "state"
NUMBER = None

Roles = tuple[str | None, ...]


def roles_of(operator: Operator) -> list[tuple[Functor | None, Roles]]:
    """Return the functors of an operator with the roles of their arguments."""
    vertex, offer = (OWN, STATE), (NEAR, OWN, edge_of(operator), STATE)
    match operator:
        case Advance():
            return [
                (operator.functor, (OWN, NEAR, edge_of(operator), STATE)),
                (operator.cond, (NEAR, STATE)),
                (operator.priority, vertex),
                (operator.activate, (OWN, NUMBER, NUMBER, STATE)),
                (operator.goal, (STATE,)),
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


def edge_of(operator: Operator) -> str:
    """Return among which edges an operator finds those that it hands to its functor."""
    match operator:
        case Advance(may_pull=True):
            return EITHER_EDGE
        case Advance(along="in") | Reduce(along="in") | Levels(descending=False):
            return IN_EDGE
    return EDGE


def weights_of(functor: Functor, operator: Operator) -> str:
    """Return to which edges ``state.weight`` belongs in a functor of an operator.

    `EITHER_EDGE` stands for that of the edge that it is handed alone, whatever its side.
    """
    match operator:
        case Advance() if functor is operator.functor:
            return edge_of(operator)
        case Advance() if functor is operator.cond or operator.along == "in":
            return EITHER_EDGE if operator.may_pull or operator.along == "in" else EDGE
        case Reduce(functor=offering, of_neighbor=False) if functor is offering:
            return edge_of(operator)
        case Levels(descending=False) if functor in (operator.gather, operator.instead):
            return IN_EDGE
    return EDGE


def returns_count(functor: Functor, operator: Operator) -> bool:
    """Tell whether it matters what a functor of an operator returns."""
    match operator:
        case Compute():
            return bool(operator.sums)
        case Reduce():
            return functor is operator.functor or bool(operator.sums)
        case Levels():
            return functor is not operator.apply
        case Intersect() | Once():
            return False
    return True

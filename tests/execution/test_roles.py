"""The roles that operators give to the arguments of functors."""

from __future__ import annotations

from typing import Any

from broadfront.operators.describe import (
    Advance,
    Compute,
    Filter,
    Functor,
    Levels,
    Once,
    Operator,
    Reduce,
)
from broadfront.operators.roles import (
    EDGE,
    EITHER_EDGE,
    IN_EDGE,
    NEAR,
    NUMBER,
    OWN,
    STATE,
    Call,
)


def of_vertex(vertex: int, state: Any) -> Any:
    return state.a[vertex]


def of_edge(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.a[source] + state.weight[edge]


def alone(state: Any) -> None:
    state.total[0] = state.sum[0]


def takes(vertex: int, total: Any, state: Any) -> None:
    state.a[vertex] = total


def call_of(functor: Functor, operator: Operator) -> Call:
    return next(call for call in operator.calls if call.functor is functor)


def test_roles_of_operators() -> None:
    assert Compute(of_vertex).roles == [(of_vertex, (OWN, STATE))]
    assert Filter(of_vertex).roles == [(of_vertex, (OWN, STATE))]
    assert Once(alone).roles == [(alone, (STATE,))]
    assert Advance(of_edge, into="a").roles[0] == (of_edge, (OWN, NEAR, EDGE, STATE))
    assert Reduce(of_vertex, takes).roles[0] == (of_vertex, (OWN, STATE))
    offering, taking = Reduce(of_edge, takes).roles
    assert offering == (of_edge, (NEAR, OWN, IN_EDGE, STATE))
    assert taking == (takes, (OWN, NUMBER, STATE))


def test_an_advance_that_may_pull_has_edges_of_either_side() -> None:
    pulls = Advance(of_edge, into="a", cond=of_vertex)
    assert pulls.roles[:2] == [
        (of_edge, (OWN, NEAR, EITHER_EDGE, STATE)), (of_vertex, (NEAR, STATE)),
    ]  # fmt: skip
    pushes = Advance(of_edge, into="a", cond=of_vertex, direction="push")
    assert pushes.roles[0] == (of_edge, (OWN, NEAR, EDGE, STATE))


def test_weights_belong_to_the_side_along_which_a_functor_is_called() -> None:
    assert call_of(of_edge, Advance(of_edge, into="a")).weights == EDGE
    assert call_of(of_edge, Advance(of_edge, into="a", cond=of_vertex)).weights == EITHER_EDGE
    reduce = Reduce(of_edge, takes)
    assert [call_of(of_edge, reduce).weights, call_of(takes, reduce).weights] == [IN_EDGE, EDGE]
    up, down = (Levels(of_edge, takes, by="a", descending=down) for down in (False, True))
    assert [call_of(of_edge, up).weights, call_of(of_edge, down).weights] == [IN_EDGE, EDGE]


def test_whether_it_matters_what_a_functor_returns() -> None:
    assert call_of(of_edge, Advance(of_edge, into="a")).counts
    assert not call_of(of_vertex, Compute(of_vertex)).counts
    assert call_of(of_vertex, Compute(of_vertex, sums=("total",))).counts
    assert not call_of(takes, Reduce(of_edge, takes)).counts

"""The roles that operators give to the arguments of functors."""

from __future__ import annotations

from typing import Any

from broadfront.execution.roles import (
    EDGE,
    EITHER_EDGE,
    IN_EDGE,
    NEAR,
    NUMBER,
    OWN,
    STATE,
    returns_count,
    roles_of,
    weights_of,
)
from broadfront.operators.describe import Advance, Compute, Filter, Levels, Once, Reduce


def of_vertex(vertex: int, state: Any) -> Any:
    return state.a[vertex]


def of_edge(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.a[source] + state.weight[edge]


def alone(state: Any) -> None:
    state.total[0] = state.sum[0]


def takes(vertex: int, total: Any, state: Any) -> None:
    state.a[vertex] = total


def test_roles_of_operators() -> None:
    assert roles_of(Compute(of_vertex)) == [(of_vertex, (OWN, STATE))]
    assert roles_of(Filter(of_vertex)) == [(of_vertex, (OWN, STATE))]
    assert roles_of(Once(alone)) == [(alone, (STATE,))]
    assert roles_of(Advance(of_edge, into="a"))[0] == (of_edge, (OWN, NEAR, EDGE, STATE))
    assert roles_of(Reduce(of_vertex, takes))[0] == (of_vertex, (OWN, STATE))
    offering, taking = roles_of(Reduce(of_edge, takes))
    assert offering == (of_edge, (NEAR, OWN, IN_EDGE, STATE))
    assert taking == (takes, (OWN, NUMBER, STATE))


def test_an_advance_that_may_pull_has_edges_of_either_side() -> None:
    pulls = Advance(of_edge, into="a", cond=of_vertex)
    assert roles_of(pulls)[:2] == [
        (of_edge, (OWN, NEAR, EITHER_EDGE, STATE)), (of_vertex, (NEAR, STATE)),
    ]  # fmt: skip
    pushes = Advance(of_edge, into="a", cond=of_vertex, direction="push")
    assert roles_of(pushes)[0] == (of_edge, (OWN, NEAR, EDGE, STATE))


def test_weights_belong_to_the_side_along_which_a_functor_is_called() -> None:
    assert weights_of(of_edge, Advance(of_edge, into="a")) == EDGE
    assert weights_of(of_edge, Advance(of_edge, into="a", cond=of_vertex)) == EITHER_EDGE
    reduce = Reduce(of_edge, takes)
    assert [weights_of(of_edge, reduce), weights_of(takes, reduce)] == [IN_EDGE, EDGE]
    up, down = (Levels(of_edge, takes, by="a", descending=down) for down in (False, True))
    assert [weights_of(of_edge, up), weights_of(of_edge, down)] == [IN_EDGE, EDGE]


def test_whether_it_matters_what_a_functor_returns() -> None:
    assert returns_count(of_edge, Advance(of_edge, into="a"))
    assert not returns_count(of_vertex, Compute(of_vertex))
    assert returns_count(of_vertex, Compute(of_vertex, sums=("total",)))
    assert not returns_count(takes, Reduce(of_edge, takes))

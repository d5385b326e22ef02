"""What crosses between devices for a program, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Once, Phase, Program, Reduce, atomics
from broadfront.algorithms.bfs import BFS, HOP
from broadfront.execution.plan import Plan, planned
from problems import K_CORE, LABEL_PROPAGATION


def plan_of(program: Program) -> Plan:
    settled = program.on(np.dtype(np.int32))
    return planned(settled, program.state_names)


def own(vertex, state):  # type: ignore[no-untyped-def]
    state.a[vertex] += 1


def counts(vertex, state):  # type: ignore[no-untyped-def]
    return state.a[vertex]


def from_neighbors(vertex, state):  # type: ignore[no-untyped-def]
    total = 0
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        total += state.a[state.targets[edge]]
    state.b[vertex] = total


def from_source(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.a[source]


def asks_neighbor(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.a[neighbor] + state.b[neighbor]


def sets_neighbor(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    state.b[neighbor] = 1
    return 0


def row_of_neighbor(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.offsets[neighbor]


def counts_by_atomics(vertex, state):  # type: ignore[no-untyped-def]
    atomics.add(state.total, 0, 1)


def lowers_by_atomics(vertex, state):  # type: ignore[no-untyped-def]
    atomics.minimum(state.total, 0, state.a[vertex])


def enough(state):  # type: ignore[no-untyped-def]
    return state.total[0] > 5


def looks_at_a_vertex(state):  # type: ignore[no-untyped-def]
    return state.a[3] > 5


def offers(neighbor, state):  # type: ignore[no-untyped-def]
    return state.a[neighbor]


def takes(vertex, total, state):  # type: ignore[no-untyped-def]
    state.a[vertex] = total


A, B = Field(np.float64), Field(np.float64)
TOTAL = Field(np.float64, length=1)


def test_a_search_sends_proposals_and_the_frontier_only() -> None:
    plan = plan_of(BFS)
    assert plan.copies == {"depth", "parent"}
    assert plan.before[HOP] == set()
    assert plan.with_frontier[HOP] == {"depth"}
    assert plan.agreed[HOP] == ()


def test_copies_are_refreshed_when_they_have_become_stale() -> None:
    change, look = Compute(own), Compute(from_neighbors)
    plan = plan_of(Program({"a": A, "b": B}, step=[change, look]))
    assert (plan.before[change], plan.before[look]) == (set(), {"a"})
    assert plan.copies == {"a"}
    twice = plan_of(Program({"a": A, "b": B}, phases=[Phase([look, change], limit=3)]))
    assert twice.before[look] == {"a"}


def test_what_only_owners_ask_for_is_never_sent() -> None:
    plan = plan_of(Program({"a": A}, step=[Compute(own), Compute(counts)]))
    assert plan.copies == set()
    assert all(not names for names in plan.before.values())


def test_label_propagation_sends_labels_before_they_are_listened_to() -> None:
    plan = plan_of(LABEL_PROPAGATION)
    listen, adopt = LABEL_PROPAGATION.all_phases[0].step
    assert plan.copies == {"label"}
    assert (plan.before[listen], plan.before[adopt]) == ({"label"}, set())
    assert [shared.combine for shared in plan.agreed[adopt]] == ["sum"]


def test_sums_are_agreed_upon() -> None:
    add = Compute(counts, sums=("total",))
    plan = plan_of(Program({"a": A, "total": TOTAL}, step=[add]))
    (shared,) = plan.agreed[add]
    assert (shared.combine, shared.real, shared.element) == ("sum", True, 0)


def test_a_shared_minimum_is_agreed_upon() -> None:
    least = Compute(lowers_by_atomics)
    total = Field(np.int64, length=1, combine="min")
    plan = plan_of(Program({"a": A, "total": total}, step=[least]))
    (shared,) = plan.agreed[least]
    assert (shared.combine, shared.real) == ("min", False)


def test_offers_of_a_reduce_cross_by_themselves() -> None:
    step = Reduce(offers, takes)
    plan = plan_of(Program({"a": A}, phases=[Phase([step], limit=5)]))
    assert plan.copies == set()
    assert plan.before[step] == set()


def test_sums_into_ghosts_begin_at_nothing() -> None:
    push = Advance(from_source, into="b")
    fields = {"a": A, "b": Field(np.float64, combine="sum")}
    plan = plan_of(Program(fields, step=[push]))
    assert not any(plan.emptied.values())
    assert not any(plan_of(K_CORE).emptied.values())


REFUSED: list[tuple[dict[str, Field], dict[str, Any], str]] = [
    ({"a": A, "b": Field(np.float64, combine="min")},
     {"step": [Advance(row_of_neighbor, into="b")]}, "reads the rows of another vertex"),
    ({"a": A, "total": TOTAL}, {"step": [Compute(counts_by_atomics)]},
     "sets 'total', which all vertices share"),
    ({"a": A, "total": TOTAL}, {"phases": [Phase([Compute(own)], until=looks_at_a_vertex)]},
     "looks_at_a_vertex touches 'a' of single vertices"),
    ({"a": A, "total": TOTAL}, {"step": [Compute(own), Once(looks_at_a_vertex)]},
     "looks_at_a_vertex touches 'a' of single vertices"),
    ({"a": Field(np.float64, combine="min"), "b": B},
     {"step": [Advance(sets_neighbor, into="a")]}, "sets 'b' of another vertex"),
    ({"a": Field(np.float64, combine="sum"), "b": B},
     {"step": [Advance(asks_neighbor, into="a", synchronous=False)]},
     "adds up proposals and is asked of neighbours"),
    ({"a": A, **{f"t{place}": TOTAL for place in range(2)},
      "total": Field(np.float64, length=99, combine="min")},
     {"step": [Compute(lowers_by_atomics)]}, "99 shared values, more than"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "program", "message"), REFUSED, ids=[row[2] for row in REFUSED])
def test_what_has_no_meaning_on_many_devices_is_refused(
    fields: dict[str, Field], program: dict[str, Any], message: str
) -> None:
    wrong = Program(fields, **program)
    with pytest.raises(bf.OptionError, match=message):
        bf.run(wrong, bf.generate("path:5"), frontier=[0], devices=2)


def test_until_may_ask_for_sums() -> None:
    phase = Phase([Compute(counts, sums=("total",))], until=enough)
    assert plan_of(Program({"a": A, "total": TOTAL}, phases=[phase])).copies == set()

"""Programs whose answer would depend on the order of calls are refused, wherever they run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import atomics
from broadfront.execution.refusals import refuse_everywhere, refuse_on_many
from broadfront.operators.describe import Operator

GRAPH = bf.generate("path:6")
FIELDS = {
    "x": bf.Field(np.int64, combine="max"),
    "y": bf.Field(np.int64, combine="max"),
    "best": bf.Field(np.int64, length=1, combine="max"),
}
EVERYWHERE: list[dict[str, Any]] = [{"devices": "python"}, {}, {"devices": 2}]


def raises_best(vertex, state):
    state.best[0] = max(state.best[0], state.x[vertex])


def raises_best_atomically(vertex, state):
    atomics.maximum(state.best, 0, state.x[vertex])


def notes(vertex, state):
    if state.x[vertex] > 3:
        state.best[0] = 1


def asks_and_notes(vertex, state):
    if state.best[0] == 0:
        state.x[vertex] = 1
        state.best[0] = 1


def marks_neighbor(source, neighbor, edge, state):
    state.y[neighbor] = state.x[source]
    return 1


def marks_neighbor_always_alike(source, neighbor, edge, state):
    state.y[neighbor] = 7
    return 1


def marks_both(source, neighbor, edge, state):
    state.y[source] = state.x[source]
    state.y[neighbor] = 7
    return 1


def marks_neighbor_atomically(source, neighbor, edge, state):
    atomics.maximum(state.y, neighbor, state.x[source])
    return 1


def adds_to_neighbor(source, neighbor, edge, state):
    atomics.add(state.y, neighbor, 1)
    return 1


def passes_on(vertex, state):
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.x[vertex] = max(state.x[vertex], state.x[state.targets[edge]])


def passes_on_and_stays(vertex, state):
    passes_on(vertex, state)
    return True


def listens(vertex, state):
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.y[vertex] = max(state.y[vertex], state.x[state.targets[edge]])


def offers(neighbor, vertex, edge, state):
    return state.x[neighbor]


def offers_to_all(neighbor, state):
    return state.x[neighbor]


def takes(vertex, total, state):
    state.x[vertex] = total


def stores(vertex, total, state):
    state.y[vertex] = total


def sets_own_by_edge(source, neighbor, edge, state):
    state.y[source] = state.x[neighbor]
    return 1


def counts_own(source, neighbor, edge, state):
    state.y[source] += 1
    return 1


def sets_own_by_branch(source, neighbor, edge, state):
    state.y[source] = 1 if state.x[neighbor] > 3 else state.x[source]
    return 1


def sets_own_to_either(source, neighbor, edge, state):
    if state.x[neighbor] > 3:
        state.y[source] = 1
    else:
        state.y[source] = 2
    return 1


def store_there(vertex, number, state):
    state.y[vertex] = number


def sets_own_by_helper(source, neighbor, edge, state):
    store_there(source, state.x[neighbor], state)
    return 1


def sets_own_and_asks(source, neighbor, edge, state):
    before = state.y[source]
    state.y[source] = 7
    return before


def sets_own_and_asks_neighbor(source, neighbor, edge, state):
    state.y[source] = 7
    return state.y[neighbor]


def offers_and_sets(neighbor, vertex, edge, state):
    state.y[vertex] = state.ids[neighbor]
    return 1


def degree(vertex, state):
    return state.offsets[vertex + 1] - state.offsets[vertex]


def sets_own_alike(source, neighbor, edge, state):
    state.y[source] = 2 * state.x[source] + degree(source, state)
    return 1


def sets_own_now_and_then(source, neighbor, edge, state):
    if state.x[neighbor] > 3:
        state.y[source] = 5
    return 1


OTHER_FOR_EACH = r"sets state\.y of its own vertex to something else for each edge"
REFUSED: list[tuple[Operator, str]] = [
    (bf.Compute(raises_best), r"sets state\.best, .*atomics\.maximum"),
    (bf.Compute(asks_and_notes), r"reads state\.best, which other calls in the same Compute set"),
    (bf.Advance(marks_neighbor, into="x"), r"sets state\.y, .*into='y'"),
    (bf.Advance(marks_both, into="x"), r"sets state\.y, .*into='y'"),
    (bf.Compute(passes_on), r"reads state\.x, which other calls in the same Compute set"),
    (bf.Filter(passes_on_and_stays), r"in the same Filter"),
    (bf.Advance(sets_own_by_edge, into="x"), OTHER_FOR_EACH),
    (bf.Advance(counts_own, into="x"), OTHER_FOR_EACH),
    (bf.Advance(sets_own_by_branch, into="x"), OTHER_FOR_EACH),
    (bf.Advance(sets_own_to_either, into="x"), OTHER_FOR_EACH),
    (bf.Advance(sets_own_by_helper, into="x"), OTHER_FOR_EACH),
    (bf.Reduce(offers_and_sets, takes, 0, "max"), OTHER_FOR_EACH),
    (bf.Advance(sets_own_and_asks, into="x"), r"reads state\.y, .* the same Advance set"),
    (bf.Advance(sets_own_and_asks_neighbor, into="x"), r"reads state\.y, .* the same Advance"),
    (bf.Reduce(offers, takes, 0, "max"), r"reads state\.x, which other calls in the same Reduce"),
]
ACCEPTED: list[Operator] = [
    bf.Compute(raises_best_atomically), bf.Compute(notes), bf.Compute(listens),
    bf.Advance(marks_neighbor_always_alike, into="x"),
    bf.Advance(marks_neighbor_atomically, into="x"), bf.Reduce(offers_to_all, takes, 0, "max"),
    bf.Reduce(offers, stores, 0, "max"), bf.Advance(sets_own_alike, into="x"),
    bf.Advance(sets_own_now_and_then, into="x"),
]  # fmt: skip


@pytest.mark.parametrize("where", EVERYWHERE, ids=["python", "one", "two"])
@pytest.mark.parametrize(("operator", "message"), REFUSED, ids=lambda each: type(each).__name__)
def test_races_are_refused(operator: Operator, message: str, where: dict[str, Any]) -> None:
    program = bf.Program(FIELDS, step=[operator])
    with pytest.raises(bf.FunctorError, match=rf"test_races\.py, line \d+: functor .*{message}"):
        bf.run(program, GRAPH, frontier=[0], **where)


@pytest.mark.parametrize("operator", ACCEPTED, ids=range(len(ACCEPTED)))
def test_what_is_no_race_is_not_refused(operator: Operator) -> None:
    program = bf.Program(FIELDS, step=[operator], unordered=True)
    refuse_everywhere(program)
    refuse_on_many(program, relabel=True)


def test_an_atomic_that_the_combine_does_not_match() -> None:
    program = bf.Program(FIELDS, step=[bf.Advance(adds_to_neighbor, into="x")])
    refuse_everywhere(program)
    with pytest.raises(bf.OptionError, match=r"meet by combine='max': use atomics\.maximum"):
        bf.run(program, GRAPH, frontier=[0], devices=2)


def kills_neighbors(vertex, state):
    if state.ids[vertex] % 3 == 0:
        for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
            state.alive[state.targets[edge]] = 0


def lowers(vertex, state):
    if state.ids[vertex] == 2:
        state.best[0] = 5


def now_this_now_that(source, neighbor, edge, state):
    if state.x[source] > 3:
        state.y[neighbor] = 7
    else:
        state.y[neighbor] = 8
    return 1


def in_one_set(source, neighbor, edge, state):
    return state.c[source] == state.c[neighbor]


PARTS = [
    {"devices": devices, "partitioner": partitioner}
    for devices in (2, 3, 4)
    for partitioner in ("random", "range", "static")
]


def test_a_number_that_the_combine_takes_is_the_same_everywhere() -> None:
    alive = bf.Field(np.int64, fill=1, combine="min")
    program = bf.Program({"alive": alive}, step=[bf.Compute(kills_neighbors)])
    for where in [*EVERYWHERE, *PARTS]:
        assert bf.run(program, GRAPH, **where)["alive"].tolist() == [1, 0, 0, 1, 0, 1][:6]


@pytest.mark.parametrize("combine", ["max", "sum", "or", "any"])
def test_a_number_that_the_combine_may_not_take_is_refused_on_several(combine: str) -> None:
    alive = bf.Field(np.int64, fill=1, combine=combine)
    program = bf.Program({"alive": alive}, step=[bf.Compute(kills_neighbors)], unordered=True)
    refuse_everywhere(program)
    with pytest.raises(bf.BroadfrontError, match=r"line \d+: .*sets state.alive to 0"):
        refuse_on_many(program, True)


def test_a_shared_value_is_not_lowered_on_several() -> None:
    best = bf.Field(np.int64, fill=10, length=1, combine="max")
    program = bf.Program({"best": best}, step=[bf.Compute(lowers)])
    refuse_everywhere(program)
    with pytest.raises(bf.BroadfrontError, match="sets state.best to 5"):
        refuse_on_many(program, True)


def test_two_numbers_race() -> None:
    program = bf.Program(FIELDS, step=[bf.Advance(now_this_now_that, into="x")])
    with pytest.raises(bf.BroadfrontError, match="sets state.y, which other calls"):
        refuse_everywhere(program)


def test_sets_that_come_to_be_are_not_looked_at() -> None:
    program = bf.Program({"c": bf.Field("vertex")}, step=[bf.Unite("c", in_one_set)])
    for where in EVERYWHERE:
        with pytest.raises(bf.BroadfrontError, match="which the Unite sets meanwhile"):
            bf.run(program, GRAPH, **where)

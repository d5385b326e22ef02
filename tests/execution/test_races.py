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


def marks_neighbor_atomically(source, neighbor, edge, state):
    atomics.maximum(state.y, neighbor, state.x[source])
    return 1


def adds_to_neighbor(source, neighbor, edge, state):
    atomics.add(state.y, neighbor, 1)
    return 1


def passes_on(vertex, state):
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.x[vertex] = max(state.x[vertex], state.x[state.targets[edge]])


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


REFUSED: list[tuple[Operator, str]] = [
    (bf.Compute(raises_best), r"sets state\.best, .*atomics\.maximum"),
    (bf.Compute(asks_and_notes), r"reads state\.best, which other calls in the same Compute set"),
    (bf.Advance(marks_neighbor, into="x"), r"sets state\.y, .*into='y'"),
    (bf.Compute(passes_on), r"reads state\.x, which other calls in the same Compute set"),
    (bf.Filter(passes_on), r"in the same Filter"),
    (bf.Reduce(offers, takes, 0, "max"), r"reads state\.x, which other calls in the same Reduce"),
]
ACCEPTED: list[Operator] = [
    bf.Compute(raises_best_atomically), bf.Compute(notes), bf.Compute(listens),
    bf.Advance(marks_neighbor_always_alike, into="x"),
    bf.Advance(marks_neighbor_atomically, into="x"), bf.Reduce(offers_to_all, takes, 0, "max"),
    bf.Reduce(offers, stores, 0, "max"),
]  # fmt: skip


@pytest.mark.parametrize("where", EVERYWHERE, ids=["python", "one", "two"])
@pytest.mark.parametrize(("operator", "message"), REFUSED, ids=lambda each: type(each).__name__)
def test_races_are_refused(operator: Operator, message: str, where: dict[str, Any]) -> None:
    program = bf.Program(FIELDS, step=[operator])
    with pytest.raises(bf.FunctorError, match=rf"test_races\.py, line \d+: functor .*{message}"):
        bf.run(program, GRAPH, frontier=[0], **where)


@pytest.mark.parametrize("operator", ACCEPTED, ids=range(len(ACCEPTED)))
def test_what_is_no_race_is_not_refused(operator: Operator) -> None:
    program = bf.Program(FIELDS, step=[operator])
    refuse_everywhere(program)
    refuse_on_many(program, relabel=True)


def test_an_atomic_that_the_combine_does_not_match() -> None:
    program = bf.Program(FIELDS, step=[bf.Advance(adds_to_neighbor, into="x")])
    refuse_everywhere(program)
    with pytest.raises(bf.OptionError, match=r"meet by combine='max': use atomics\.maximum"):
        bf.run(program, GRAPH, frontier=[0], devices=2)

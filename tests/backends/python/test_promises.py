"""A promise that does not hold is found out by `checked=True` in plain Python; others pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.errors import FunctorError
from problems import PROBLEMS
from zoo import ZOO

CHECKED = {"devices": "python", "checked": True}


def fold(vertex: int, state: Any) -> None:
    state.folded[vertex] = 0
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.folded[vertex] = 3 * state.folded[vertex] % 1000 + state.arc[edge]


def add(vertex: int, state: Any) -> None:
    state.folded[vertex] = 0
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.folded[vertex] += (
            state.arc[edge] + state.weight[edge] * state.rank[state.targets[edge]]
        )


def run_fold(functor: Any, unordered: bool, **where: Any) -> Any:
    fields = {"folded": bf.Field(np.int64), "arc": bf.Field(np.int64, per="edge")}
    program = bf.Program(fields, step=[bf.Compute(functor)], unordered=unordered, name="fold")
    graph = bf.from_edges([0, 0, 0, 1, 2], [1, 2, 3, 3, 0], weight=[1, 2, 3, 4, 5])
    graph = graph.with_vertex_data(rank=[1, 10, 100, 1000])
    return bf.run(program, graph, init={"arc": np.array([7, 1, 5, 2, 4])}, **where)


def test_edges_in_another_order_make_a_difference() -> None:
    with pytest.raises(FunctorError, match=r"unordered=True, .*folded\[0\] is 71 in"):
        run_fold(fold, True, **CHECKED)
    expected = run_fold(fold, False, **CHECKED)
    assert expected["folded"].tolist() == run_fold(fold, False, devices=2)["folded"].tolist()
    for where in (CHECKED, {"devices": 2}):
        answer = run_fold(add, True, **where)
        assert answer["folded"].tolist() == [3223, 4002, 9, 0]
        assert answer["arc"].tolist() == [7, 1, 5, 2, 4]


def hand_on(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.label[source]


def labels(**phase: Any) -> bf.Program:
    advance = bf.Advance(hand_on, into="label", synchronous=False)
    return bf.Program(
        {"label": bf.Field(np.int64, combine="max")}, phases=[bf.Phase([advance], **phase)]
    )


def test_proposals_as_they_come_make_a_difference() -> None:
    begin: dict[str, Any] = {"frontier": range(5), "init": {"label": np.arange(5)}}
    path = bf.generate("path:5")
    assert bf.run(labels(), path, **begin, **CHECKED)["label"].tolist() == [4] * 5
    with pytest.raises(FunctorError, match=r"functor hand_on promises synchronous=False"):
        bf.run(labels(limit=1), path, **begin, **CHECKED)
    found = bf.run(labels(limit=1), path, **begin, devices="python")
    assert found["label"].tolist() == [1, 2, 3, 4, 4]


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_the_library_promises_holds(name: str) -> None:
    problem = PROBLEMS[name]
    for animal in ("duplicates", "loops and duplicates", "islands"):
        graph = problem.graph(ZOO[animal])
        if problem.suits(graph):
            problem.solve(graph, **CHECKED)

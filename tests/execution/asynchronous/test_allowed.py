"""What may run asynchronously; everything else is refused, with what to do instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.algorithms.bfs import BFS, BFS_TO_TARGET, HOP
from broadfront.algorithms.components import COMPONENTS, MIN_LABEL
from broadfront.algorithms.residual_push import PUSH, passes, take
from broadfront.algorithms.residual_push import hand_on as push_on
from broadfront.algorithms.sssp import shortest_paths
from broadfront.execution.asynchronous.allowed import asynchronous
from broadfront.operators.describe import Advance, Compute, Field
from reachability import REACHABILITY
from widest_path import WIDEST_PATH

PATH = bf.generate("path:6")
START = {"depth": {0: 0}, "parent": {0: 0}}


def hand_on(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.x[source]


def further_down(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.x[source] - 1


def is_unset(vertex, state):  # type: ignore[no-untyped-def]
    return state.x[vertex] == 99


def difference(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.x[neighbor] - state.x[source]


def counts(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    bf.atomics.add(state.seen, source, 1)
    return state.x[source]


def in_which_iteration(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.iteration


def if_it_grew(vertex, before, after, state):  # type: ignore[no-untyped-def]
    return after > before


def program(functor: Any, combine: Any = "min", **options: Any) -> bf.Program:
    fields = {"x": Field(np.int64, fill=99, combine=combine), "seen": Field(np.int64)}
    return bf.Program(fields, step=[Advance(functor, into="x", **options)])


@pytest.mark.parametrize(
    "given", [MIN_LABEL, REACHABILITY, WIDEST_PATH, shortest_paths(np.dtype(np.int64), None)],
    ids=["labels", "reachability", "widest path", "shortest paths"],
)  # fmt: skip
def test_programs_that_run_as_they_are(given: bf.Program) -> None:
    assert asynchronous(given, PATH, [0], {}) is given


def test_deltas_run_as_they_are() -> None:
    assert asynchronous(PUSH, PATH, [0], {}) is PUSH


def test_a_search_by_levels_runs_without_its_condition() -> None:
    found = asynchronous(BFS, PATH, [0], START)
    assert found.operators == (replace(HOP, cond=None),)
    assert asynchronous(BFS, PATH, [0], START) is found


@pytest.mark.parametrize(
    ("init", "frontier"),
    [({"depth": {0: 0, 3: 1}}, [0, 3]), ({"depth": {0: 0, 4: 7}}, [0]), ({}, [0])],
    ids=["different values", "a value elsewhere", "no value"],
)
def test_levels_that_do_not_begin_alike_are_refused(init: Any, frontier: Any) -> None:
    with pytest.raises(bf.OptionError, match="goes by levels"):
        bf.run(BFS, PATH, frontier=frontier, init=init, devices=2, execution="async")


def takes_nothing(vertex, state):  # type: ignore[no-untyped-def]
    state.share[vertex] = state.residual[vertex]


def hands_on_what_was_taken(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.residual[source]


def asks_neighbors(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.share[neighbor]


def deltas(taking: Any = take, functor: Any = push_on, **options: Any) -> bf.Program:
    """Return PageRank by residuals with something else in it."""
    given = {"activate": passes, "synchronous": False, **options}
    step = [Compute(taking, over="frontier"), Advance(functor, into="residual", **given)]
    return replace(PUSH, step=step)


REFUSED = {
    "a sum that is not taken": (deltas(takes_nothing), "does not take what state.residual"),
    "what was taken": (deltas(functor=hands_on_what_was_taken), "which was taken"),
    "what neighbours have": (deltas(functor=asks_neighbors), "of a neighbour"),
    "a sum without a promise": (deltas(synchronous=None), "hand on deltas"),
    "a sum without an end": (deltas(activate=None), "hand on deltas"),
    "a Compute before a minimum": (
        bf.Program({"x": Field(np.int64, combine="min"), "share": Field(np.int64)},
                   step=[Compute(lambda vertex, state: None, over="frontier"),
                         Advance(hand_on, into="x")]), "is for sums by deltas",
    ),
    "a sum": (program(hand_on, "sum"), "adds up proposals"),
    "a monoid that counts": (
        program(hand_on, bf.Monoid(lambda one, other: one + other, 0)), "adds up proposals"
    ),
    "several phases": (BFS_TO_TARGET, "several operators or phases"),
    "no Advance": (COMPONENTS, "is of Unite"),
    "a limit": (
        bf.Program({"x": Field(np.int64, combine="min")},
                   phases=[bf.Phase([Advance(hand_on, into="x")], limit=3)]), "limit= or until=",
    ),
    "activate": (program(hand_on, activate=if_it_grew), "has activate="),
    "synchronous": (program(hand_on, synchronous=True), "synchronous=True"),
    "iterations": (program(in_which_iteration), "there are no iterations"),
    "a functor that writes": (program(counts), "sets state.seen"),
    "a field per edge": (
        bf.Program({"x": Field(np.int64, combine="min"), "kept": Field(np.int64, per="edge")},
                   step=[Advance(hand_on, into="x")]), "a field per edge",
    ),
    "no proof": (program(difference), "it is not certain"),
    "a promise for levels only": (
        program(further_down, cond=is_unset, synchronous=False), "it is not certain"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(given: bf.Program, why: str) -> None:
    numbers = dict.fromkeys(given.parameters, 0.5)
    with pytest.raises(bf.OptionError, match=why) as caught:
        bf.run(given, PATH, frontier=[0], parameters=numbers, devices=2, execution="async")
    assert "bsp" in str(caught.value)


def test_a_goal_is_refused() -> None:
    graph = bf.generate("path:6:weights=1-9")
    with pytest.raises(bf.OptionError, match="has goal="):
        bf.sssp(graph, 0, target=3, devices=2, execution="async")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"execution": "later"}, "expected 'bsp', 'async'"),
        ({"execution": "async", "devices": "python"}, "is synchronous"),
        ({"execution": "async", "memory_limit": 1 << 30}, "takes no memory_limit"),
    ],
    ids=["a word", "in Python", "a memory limit"],
)
def test_options_that_do_not_go_together(options: Any, why: str) -> None:
    with pytest.raises(bf.OptionError, match=why):
        bf.bfs(PATH, 0, **options)


@pytest.mark.parametrize("given", [{"packet": 0}, {"slots": 0}, {"band": -1}, {"fused": 1}])
def test_settings_that_there_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(bf.OptionError, match=next(iter(given))):
        bf.Async(**given)

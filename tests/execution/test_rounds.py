"""Whole algorithms as one program each: phases that repeat until nobody is left.

Strong components by colours (as in the examples), the core number of every vertex, and Luby's
independent set, checked against NetworkX and by their properties, and the same on any number of
devices.
"""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from hypothesis import given, settings

import broadfront as bf
from strong_components import strong_components
from zoo import ZOO, Animal, edges

WHERE: list[dict[str, Any]] = [
    {"threads": 1}, {"threads": 2}, {"devices": 2, "partitioner": "range"},
    {"devices": 3, "partitioner": "random"}, {"devices": 4, "partitioner": "biased"},
]  # fmt: skip


def nobody_left(state):
    return state.left[0] == 0


# ---------------------------------------------------------------------- strong components


def check_strong(graph: bf.Graph, places: list[dict[str, Any]] = WHERE) -> None:
    groups = nx.strongly_connected_components(nx.DiGraph(graph.to_networkx()))
    expected = np.empty(graph.num_vertices, np.int64)
    for group in groups:
        expected[list(group)] = max(group)
    for where in [{"devices": "python"}, *places]:
        found = strong_components(graph, **where)
        np.testing.assert_array_equal(found, expected, str(where))


def test_strong_components() -> None:
    for animal in ZOO.values():
        check_strong(animal._replace(weight=None).graph())
    check_strong(bf.from_edges(*np.random.default_rng(5).integers(0, 300, (2, 700))), WHERE[1:])


@settings(max_examples=15, deadline=None)
@given(edges(weighted=False))
def test_strong_components_of_any_graph(animal: Animal) -> None:
    check_strong(animal.graph(), [WHERE[0], WHERE[3]])


# ---------------------------------------------------------------------- core numbers


def is_weak(vertex, state):
    return state.core[vertex] < 0 and state.degree[vertex] < state.k[0]


def drop(vertex, state):
    state.core[vertex] = state.k[0] - 1


def take_one(source, neighbor, edge, state):
    return -1


def falls_out(vertex, before, after, state):
    return before >= state.k[0] > after


def next_k(state):
    state.k[0] += 1


def one_if_there(vertex, state):
    return 1 if state.core[vertex] < 0 else 0


CORES = bf.Program(
    fields={
        "degree": bf.Field(np.int64, combine="sum"),
        "core": bf.Field(np.int64, fill=-1),
        "k": bf.Field(np.int64, fill=1, length=1),
        "left": bf.Field(np.int64, length=1),
    },
    phases=[
        bf.Repeat(
            [
                bf.Phase([bf.Filter(is_weak, over="vertices"), bf.Compute(drop, over="frontier")]),
                bf.Phase([
                    bf.Advance(take_one, into="degree", activate=falls_out),
                    bf.Compute(drop, over="frontier"),
                ]),
                bf.Phase([bf.Once(next_k), bf.Compute(one_if_there, sums=("left",))]),
            ],
            until=nobody_left,
        )
    ],
)  # fmt: skip
"""For k = 1, 2, ... those with fewer than k neighbours drop out, until nobody is there."""


def simple(animal: Animal) -> bf.Graph:
    return animal._replace(weight=None).graph(directed=False, simple=True)


def check_cores(graph: bf.Graph, places: list[dict[str, Any]] = WHERE) -> None:
    cores = nx.core_number(graph.to_networkx())
    expected = [cores[vertex] for vertex in range(graph.num_vertices)]
    for where in [{"devices": "python"}, *places]:
        found = bf.run(CORES, graph, init={"degree": graph.degrees}, **where)["core"]
        np.testing.assert_array_equal(found, expected, str(where))


def test_core_numbers() -> None:
    for animal in ZOO.values():
        check_cores(simple(animal))
    check_cores(bf.generate("kron:8:simple=yes"))


@settings(max_examples=15, deadline=None)
@given(edges(weighted=False))
def test_core_numbers_of_any_graph(animal: Animal) -> None:
    check_cores(simple(animal), [WHERE[0], WHERE[3]])


# ---------------------------------------------------------------------- independent sets

UNDECIDED, CHOSEN, OUT = 0, 1, 2


def draw(vertex, state):
    state.draw[vertex] = bf.random(7, state.ids[vertex], state.round[0])
    state.best[vertex] = -1.0


def is_undecided(vertex, state):
    return state.status[vertex] == UNDECIDED


def show(source, neighbor, edge, state):
    return state.draw[source]


def wins(vertex, state):
    return state.status[vertex] == UNDECIDED and state.draw[vertex] > state.best[vertex]


def choose(vertex, state):
    state.status[vertex] = CHOSEN


def leave(source, neighbor, edge, state):
    return OUT


def next_round(state):
    state.round[0] += 1


def one_if_undecided(vertex, state):
    return 1 if state.status[vertex] == UNDECIDED else 0


INDEPENDENT = bf.Program(
    fields={
        "status": bf.Field(np.int64, fill=UNDECIDED, combine="max"),
        "draw": bf.Field(np.float64),
        "best": bf.Field(np.float64, combine="max"),
        "round": bf.Field(np.int64, length=1),
        "left": bf.Field(np.int64, length=1),
    },
    phases=[
        bf.Repeat(
            [
                bf.Phase([bf.Compute(draw), bf.Filter(is_undecided, over="vertices")]),
                bf.Phase([bf.Advance(show, into="best", cond=is_undecided)], limit=1),
                bf.Phase([bf.Filter(wins, over="vertices"), bf.Compute(choose, over="frontier")]),
                bf.Phase([bf.Advance(leave, into="status", cond=is_undecided)], limit=1),
                bf.Phase([bf.Once(next_round), bf.Compute(one_if_undecided, sums=("left",))]),
            ],
            until=nobody_left,
        )
    ],
)
"""Everybody draws a number; the largest around is chosen, and its neighbours are out."""


def check_independent(graph: bf.Graph, places: list[dict[str, Any]] = WHERE) -> None:
    expected = bf.run(INDEPENDENT, graph, devices="python")["status"]
    chosen = set(np.flatnonzero(expected == CHOSEN).tolist())
    for vertex in range(graph.num_vertices):
        near = chosen & set(graph.neighbors(vertex).tolist())
        assert bool(near) != (vertex in chosen)
    for where in places:
        found = bf.run(INDEPENDENT, graph, **where)["status"]
        np.testing.assert_array_equal(found, expected, str(where))


def test_independent_sets() -> None:
    for animal in ZOO.values():
        check_independent(simple(animal))
    check_independent(bf.generate("kron:8:simple=yes"))


@settings(max_examples=15, deadline=None)
@given(edges(weighted=False))
def test_independent_sets_of_any_graph(animal: Animal) -> None:
    check_independent(simple(animal), [WHERE[0], WHERE[3]])

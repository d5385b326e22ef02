"""Fields with an element per edge: set by programs, and an answer, wherever these run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, FunctorError, OptionError, Phase, Program, Reduce

RANDOM = np.random.default_rng(8)
SOURCE, TARGET = RANDOM.integers(0, 20, (2, 60))
WEIGHT = RANDOM.integers(1, 9, 60)

everywhere = pytest.mark.parametrize(
    "where",
    [
        {"devices": "python"},
        {"threads": 2},
        {"devices": 2, "partitioner": "range"},
        {"devices": 3, "partitioner": "random"},
        {"devices": 4, "partitioner": "static", "relabel": False},
    ],
    ids=["python", "one", "two", "three", "four"],
)


def relax(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    state.taken[edge] += 1
    return state.far[source] + state.weight[edge]


def rank_in_row(vertex, state):  # type: ignore[no-untyped-def]
    least = state.far[vertex]
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.slack[edge] = least + state.weight[edge] - state.far[state.targets[edge]]


def offer(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
    state.slack[edge] = 2 * state.slack[edge]
    return state.slack[edge]


def keep(vertex, total, state):  # type: ignore[no-untyped-def]
    state.total[vertex] = total


PROGRAM = Program(
    fields={
        "far": Field(np.int64, fill=99, combine="min"),
        "total": Field(np.float64),
        "taken": Field(np.int32, fill=-1, per="edge"),
        "slack": Field(np.float64, per="edge"),
    },
    phases=[
        Phase([Advance(relax, into="far")]),
        Phase([Compute(rank_in_row)]),
        Phase([Reduce(offer, keep, along="out")]),
    ],
)


@pytest.mark.parametrize("directed", [True, False])
@everywhere
def test_a_value_per_edge(where: dict[str, Any], directed: bool) -> None:
    graph = bf.from_edges(SOURCE, TARGET, WEIGHT, num_vertices=20, directed=directed)
    answer = bf.run(
        PROGRAM, graph, frontier=[3], init={"far": {3: 0}, "taken": {0: 7}}, **where
    )  # fmt: skip
    far, taken, frontier = np.full(20, 99), np.full(graph.num_arcs, -1), {3}
    far[3], taken[0] = 0, 7
    origin = graph.sources()
    while frontier:
        arcs = [arc for arc in range(graph.num_arcs) if origin[arc] in frontier]
        taken[arcs] += 1
        before = far.copy()
        np.minimum.at(far, graph.targets[arcs], before[origin[arcs]] + graph.weights[arcs])
        frontier = set(np.flatnonzero(far != before).tolist())
    slack = 2.0 * (far[origin] + graph.weights - far[graph.targets])
    assert answer["far"].tolist() == far.tolist()
    assert answer["taken"].tolist() == taken.tolist()
    assert answer["slack"].tolist() == slack.tolist()
    assert answer["total"].tolist() == np.bincount(origin, slack, 20).tolist()


def at_a_vertex(vertex, state):  # type: ignore[no-untyped-def]
    state.slack[vertex] = 1


def of_a_vertex(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.far[edge]


def incoming(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
    return state.slack[edge]


def of_others(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    for other in range(state.offsets[source], state.offsets[source + 1]):
        state.slack[other] = state.weight[edge]
    return 1


def first_of_all(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return np.int64(state.slack[0])


def uniting(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    state.slack[edge] = 1
    return True


@pytest.mark.parametrize("where", [{"devices": "python"}, {}, {"devices": 2}])
@pytest.mark.parametrize(
    ("operator", "words"),
    [
        (Compute(at_a_vertex), "at_a_vertex touches state.slack at a vertex"),
        (Advance(of_a_vertex, into="far"), r"of_a_vertex touches state.far at an edge.*per='edge'"),
        (Reduce(incoming, keep), "incoming touches state.slack at an incoming edge.*along='out'"),
        (Advance(of_others, into="far"), "of_others sets state.slack, which other calls"),
        (bf.Unite("far", uniting), "uniting sets state.slack, but a Unite asks"),
    ],
)
def test_other_places_are_refused(operator: Any, words: str, where: dict[str, Any]) -> None:
    graph = bf.from_edges(SOURCE, TARGET, WEIGHT, num_vertices=20)
    program = Program(PROGRAM.fields, step=[operator])
    with pytest.raises(FunctorError, match=rf"test_edge_fields.py, line \d+: functor {words}"):
        bf.run(program, graph, frontier=[3], **where)


def test_single_edges_are_read_on_one_device_alone() -> None:
    graph = bf.from_edges(SOURCE, TARGET, WEIGHT, num_vertices=20)
    program = Program(PROGRAM.fields, step=[Advance(first_of_all, into="far")])
    with pytest.raises(FunctorError, match="no edge of its vertex, which another device may own"):
        bf.run(program, graph, frontier=[3], devices=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"per": "arc"}, "expected 'vertex' or 'edge'"),
        ({"per": "edge", "combine": "min"}, "a field per edge has none"),
        ({"per": "edge", "length": 2}, "leave length and width out"),
        ({"per": "edge", "width": 2}, "leave length and width out"),
    ],
)
def test_fields_that_there_cannot_be(options: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        Field(np.int64, **options)


def test_an_advance_needs_a_field_of_vertices() -> None:
    with pytest.raises(OptionError, match="is per edge; here it needs an element per vertex"):
        Program({"d": Field(np.int64, per="edge")}, step=[Advance(relax, into="d")])

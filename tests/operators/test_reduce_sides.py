"""Reductions along arcs and against them, against products with the matrix of the graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import broadfront as bf
from problems import with_weights
from zoo import ZOO, Animal, edges

WHERE = [
    {"devices": "python"}, {"threads": 1}, {"threads": 2},
    *({"devices": count, "partitioner": how} for count, how in
      [(2, "range"), (3, "random"), (4, "biased")]),
]  # fmt: skip


def plain(neighbor, state):
    return state.value[neighbor]


def weighted(neighbor, vertex, edge, state):
    return state.value[neighbor] * state.weight[edge] + state.other[vertex]


def keep_ahead(vertex, total, state):
    state.ahead[vertex] = total
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.leaving[vertex] += state.weight[edge]


def keep_ahead_weighted(vertex, total, state):
    state.ahead_weighted[vertex] = total
    return total


def keep_behind(vertex, total, state):
    state.behind[vertex] = total


def keep_behind_weighted(vertex, total, state):
    state.behind_weighted[vertex] = total


NAMES = ("value", "other", "ahead", "leaving", "ahead_weighted", "behind", "behind_weighted")
BOTH_SIDES = bf.Program(
    {name: bf.Field(np.float64) for name in NAMES} | {"all": bf.Field(np.float64, length=1)},
    step=[
        bf.Reduce(plain, keep_ahead, along="out"),
        bf.Reduce(weighted, keep_ahead_weighted, along="out", sums=("all",)),
        bf.Reduce(plain, keep_behind),
        bf.Reduce(weighted, keep_behind_weighted),
    ],
)
OUTWARDS = bf.Program(
    {name: bf.Field(np.float64) for name in NAMES} | {"all": bf.Field(np.float64, length=1)},
    step=[bf.Reduce(weighted, keep_ahead_weighted, along="out", sums=("all",))],
)


def matrices(graph: bf.Graph) -> tuple[np.ndarray, np.ndarray]:
    """Return the arcs from each vertex to each as a matrix of ones, and of weights."""
    ones = np.zeros((graph.num_vertices, graph.num_vertices))
    weights = ones.copy()
    ones[graph.sources(), graph.targets] = 1
    weights[graph.sources(), graph.targets] = graph.weights
    return ones, weights


def check_sides(animal: Animal) -> None:
    graph = with_weights(animal).graph()
    value, other = np.random.default_rng(1).random((2, graph.num_vertices))
    ones, weights = matrices(graph)
    expected = {
        "ahead": ones @ value,
        "ahead_weighted": weights @ value + ones.sum(1) * other,
        "behind": ones.T @ value,
        "behind_weighted": weights.T @ value + ones.sum(0) * other,
        "leaving": weights.sum(1),
    }
    alone = None
    for where in WHERE:
        found = bf.run(BOTH_SIDES, graph, init={"value": value, "other": other}, **where)
        for name, right in expected.items():
            np.testing.assert_allclose(found[name], right, rtol=1e-12, err_msg=f"{name} {where}")
        np.testing.assert_allclose(found["all"][0], expected["ahead_weighted"].sum(), rtol=1e-12)
        if "threads" in where:
            alone = alone or found
            for name in expected:
                np.testing.assert_array_equal(found[name], alone[name], name)


def test_both_sides_of_the_zoo() -> None:
    for animal in ZOO.values():
        check_sides(animal)


@settings(max_examples=15, deadline=None)
@given(edges())
def test_both_sides_of_any_graph(animal: Animal) -> None:
    check_sides(animal)


def test_outgoing_neighbours_need_no_incoming_arcs() -> None:
    rows = bf.generate("rmat:9:directed=true")
    graph = bf.from_edges(rows.sources(), rows.targets, 1.0 + rows.targets % 5)
    value, other = np.random.default_rng(1).random((2, graph.num_vertices))
    ones, weights = matrices(graph)
    for where in WHERE[1:]:
        found = bf.run(OUTWARDS, graph, init={"value": value, "other": other}, **where)
        expected = weights @ value + ones.sum(1) * other
        np.testing.assert_allclose(found["ahead_weighted"], expected, rtol=1e-12)
        by_itself = where.get("partitioner") == "biased"  # which looks at both sides
        assert by_itself or not graph.has_transpose


def test_wrong_sides() -> None:
    with pytest.raises(bf.OptionError, match="along='up': expected 'in' or 'out'"):
        bf.Reduce(plain, keep_ahead, along="up")
    with pytest.raises(bf.OptionError, match="layout='tiles' is for along='in'"):
        bf.Reduce(plain, keep_ahead, along="out", layout="tiles")

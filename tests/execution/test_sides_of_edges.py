"""Outgoing and incoming edges, and their weights: right on every device, or refused on all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
import zoo
from broadfront.errors import FunctorError

EVERYWHERE: list[dict[str, Any]] = [
    {"devices": "python"},
    {"threads": 1},
    *(
        {"devices": devices, "partitioner": partitioner}
        for devices in (2, 3, 4)
        for partitioner in ("random", "range", "static")
    ),
]
GRAPH = bf.from_edges([0, 2, 1, 3, 3], [1, 1, 3, 0, 2], weight=[1.0, 2.0, 4.0, 8.0, 16.0])


def strengths(vertex: int, state: Any) -> None:
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.out[vertex] += state.weight[edge] * state.x[state.targets[edge]]
    for edge in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
        state.back[vertex] += state.in_weight[edge] * state.x[state.in_targets[edge]]


real = bf.Field(np.float64)
STRENGTHS = bf.Program(
    {"x": real, "out": real, "back": real}, step=[bf.Compute(strengths)], unordered=True
)


@pytest.mark.parametrize("name", [name for name in zoo.ZOO if zoo.ZOO[name].weight] + ["random"])
def test_weights_of_both_sides(name: str) -> None:
    graph = GRAPH if name == "random" else zoo.ZOO[name].graph()
    x = np.arange(graph.num_vertices) + 1.0
    matrix = graph.to_scipy()
    for where in EVERYWHERE:
        for relabel in [None] if "partitioner" not in where else [None, False]:
            ids = {} if relabel is None else {"relabel": relabel}
            found = bf.run(STRENGTHS, graph, init={"x": x}, **where, **ids)
            np.testing.assert_allclose(found["out"], matrix @ x)
            np.testing.assert_allclose(found["back"], matrix.T @ x)


def wrong_side(vertex: int, state: Any) -> None:
    for edge in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
        state.y[vertex] += state.weight[edge]


def wrong_targets(neighbor: int, vertex: int, edge: int, state: Any) -> Any:
    return state.targets[edge]


def out_of_place(neighbor: int, vertex: int, edge: int, state: Any) -> Any:
    total = 0.0
    for other in range(state.offsets[vertex], state.offsets[vertex + 1]):
        total += state.weight[other]
    return total


def number_of_edge(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return edge


def keep(vertex: int, total: Any, state: Any) -> None:
    state.y[vertex] = total


def wanting(vertex: int, state: Any) -> Any:
    return state.y[vertex] < 0


REFUSED = {
    "incoming": (bf.Compute(wrong_side), r"line \d+: .* state\.in_weight\[edge\]"),
    "targets": (bf.Reduce(wrong_targets, keep), "in_offsets, in_targets and in_weight"),
    "weights": (bf.Reduce(out_of_place, keep), "by a Compute before"),
    "pull": (bf.Advance(number_of_edge, into="y", cond=wanting), "direction='push'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_other_side_is_refused(name: str) -> None:
    step, said = REFUSED[name]
    program = bf.Program({"y": bf.Field(np.float64, combine="max")}, step=[step])
    for where in EVERYWHERE:
        with pytest.raises(FunctorError, match=said):
            bf.run(program, GRAPH, frontier=[0], **where)

"""Numbers of vertices that functors store, propose, compare and compute with: the same everywhere.

Devices keep the ids of the graph for such programs by themselves, and say so if they may not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import broadfront as bf
import zoo
from broadfront.errors import FunctorError
from broadfront.execution.refusals import needs_ids

PARTS = [
    {"devices": devices, "partitioner": partitioner}
    for devices in (2, 3, 4)
    for partitioner in ("random", "range", "static")
]


def twice(number: Any) -> Any:
    return 2 * number


def look(vertex: int, state: Any) -> int:
    lower, best, place = 0, -1, 0
    first = state.offsets[vertex]
    for edge in range(first, state.offsets[vertex + 1]):
        neighbor = state.targets[edge]
        if neighbor < vertex:
            lower += 1
        if neighbor == vertex:
            lower += 100
        best = max(best, neighbor)
        place += (edge - first) * state.x[neighbor]
    state.lower[vertex] = lower
    state.best[vertex] = best
    state.place[vertex] = place + twice(vertex)
    return vertex % 3


def smaller_end(source: int, neighbor: int, edge: int, state: Any) -> Any:
    if source > neighbor + 1:
        return state.least[source]
    return min(source, neighbor) + 0 * state.least[source]


def offer(neighbor: int, vertex: int, edge: int, state: Any) -> Any:
    return neighbor if neighbor < vertex else 0


def keep(vertex: int, total: Any, state: Any) -> None:
    state.offers[vertex] = total


def is_even(vertex: int, state: Any) -> bool:
    return vertex % 2 == 0


def mark(vertex: int, state: Any) -> None:
    state.even[vertex] = 1


number = bf.Field(np.int64)
NUMBERS = bf.Program(
    fields={
        "x": number, "lower": number, "best": number, "place": number, "even": number,
        "offers": number, "rest": bf.Field(np.int64, length=1),
        "least": bf.Field(np.int64, fill=1000, combine="min"),
    },
    phases=[
        bf.Phase([bf.Compute(look, sums=("rest",)), bf.Reduce(offer, keep, identity=0)]),
        bf.Phase([bf.Filter(is_even), bf.Compute(mark, over="frontier")]),
        bf.Phase([bf.Advance(smaller_end, into="least")]),
    ],
)  # fmt: skip


def same_everywhere(graph: bf.Graph, parts: list[dict[str, Any]]) -> None:
    size = graph.num_vertices
    how: dict[str, Any] = {"frontier": range(size), "init": {"x": np.arange(size) * 7 % 5}}
    python = bf.run(NUMBERS, graph, **how, devices="python")
    for where in [{}, *parts]:
        found = bf.run(NUMBERS, graph, **how, **where)
        for name, expected in python.fields.items():
            np.testing.assert_array_equal(found[name], expected, f"{name} with {where}")


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_zoo(name: str) -> None:
    animal = zoo.ZOO[name]._replace(weight=None)
    same_everywhere(animal.graph(), PARTS if animal.num_vertices < 20 else PARTS[:3])


@settings(max_examples=15, deadline=None)
@given(zoo.edges(weighted=False))
def test_any_graph(animal: zoo.Animal) -> None:
    same_everywhere(animal.graph(), PARTS[::2])


def test_new_numbers_are_refused() -> None:
    with pytest.raises(FunctorError, match=r"compares .* state\.ids\[vertex\]"):
        bf.run(NUMBERS, bf.generate("path:6"), frontier=[0], devices=2, relabel=True)


def last_in_row(vertex: int, state: Any) -> None:
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.x[vertex] = state.ids[state.targets[edge]]


def test_the_order_of_edges_needs_ids() -> None:
    step = [bf.Compute(last_in_row)]
    assert needs_ids(bf.Program({"x": number}, step=step))
    assert not needs_ids(bf.Program({"x": number}, step=step, unordered=True))
    with pytest.raises(FunctorError, match="line .*goes through the edges .*unordered=True"):
        bf.run(bf.Program({"x": number}, step=step), bf.generate("path:6"), devices=2, relabel=True)


def test_ids_are_kept_only_where_they_are_needed() -> None:
    def further(source: int, neighbor: int, edge: int, state: Any) -> Any:
        return state.x[source] + 1

    graph = bf.generate("path:6")
    hops = bf.Program({"x": bf.Field(np.int64, 99, "min")}, step=[bf.Advance(further, into="x")])
    how: dict[str, Any] = {"frontier": [0], "init": {"x": {0: 0}}, "devices": 2}
    small = bf.run(hops, graph, **how).record.peak_bytes
    assert small == bf.run(hops, graph, **how, relabel=True).record.peak_bytes
    assert small < bf.run(hops, graph, **how, relabel=False).record.peak_bytes

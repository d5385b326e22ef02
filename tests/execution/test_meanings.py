"""Which numbers that functors use differ from device to device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from broadfront import atomics
from broadfront.execution.access import COMPARED, INDEXED, RETURNED, STORED, access
from broadfront.execution.meanings import DERIVED, FAR_EDGE
from broadfront.operators.roles import EDGE, EITHER_EDGE, IN_EDGE, NEAR, OWN, STATE, Roles

TABLE = np.arange(9)


def uses(functor: Any, roles: Roles = (OWN, STATE)) -> set[tuple[str, str, str]]:
    return {use[:3] for use in access(functor, roles).uses}


def along(functor: Any, edge: str = EDGE) -> set[tuple[str, str, str]]:
    return uses(functor, (OWN, NEAR, edge, STATE))


def looked_up(what: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """Leave out where numbers find what belongs to them."""
    own = ("a", "b", "offsets", "targets", "in_offsets", "in_targets", "weight", "ids")
    return {use for use in what if use[0] != INDEXED or use[1] not in own}


def degree(vertex: int, state: Any) -> None:
    state.a[vertex] = state.offsets[vertex + 1] - state.offsets[vertex]
    state.b[vertex] = state.ids[vertex] + 1 < state.num_vertices


def walks(vertex: int, state: Any) -> None:
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        neighbor = state.targets[edge]
        if neighbor != vertex and state.a[neighbor] < state.a[vertex]:
            state.b[vertex] += state.weight[edge]


def pairs(vertex: int, state: Any) -> None:
    last = state.offsets[vertex + 1]
    for edge in range(state.offsets[vertex], last):
        for other in range(edge + 1, last):
            state.b[vertex] += state.a[state.targets[other]]


def test_degrees_equality_and_ids_are_the_same_everywhere() -> None:
    assert looked_up(uses(degree)) == set()
    assert looked_up(uses(walks)) == set()
    assert looked_up(uses(pairs)) == {(COMPARED, "", DERIVED)}


def adds_nothing(vertex: int, state: Any) -> None:
    state.a[vertex] = vertex + 0


def orders(source: int, neighbor: int, edge: int, state: Any) -> int:
    return 1 if source < neighbor else 0


def smallest(source: int, neighbor: int, edge: int, state: Any) -> int:
    return min(source, neighbor)


def is_the_first(vertex: int, state: Any) -> None:
    state.a[vertex] = vertex == 0


def not_the_first(vertex: int, state: Any) -> None:
    if vertex:
        state.a[vertex] = 1


def counts_to(vertex: int, state: Any) -> None:
    for place in range(vertex):
        state.b[vertex] += state.a[place]


def from_table(vertex: int, state: Any) -> None:
    state.a[vertex] = TABLE[(vertex + 3) % 6]


def by_atomic(source: int, neighbor: int, edge: int, state: Any) -> int:
    atomics.minimum(state.a, neighbor, source)
    return 0


def by_own_array(vertex: int, state: Any) -> None:
    few = np.zeros(2, np.int64)
    few[0] = vertex
    state.a[vertex] = few[0]


def by_own_list(vertex: int, state: Any) -> None:
    few = [1]
    few.append(vertex)
    state.a[vertex] = few[1]


def passed(number: Any) -> Any:
    return 2 * number


def by_helper(vertex: int, state: Any) -> None:
    state.a[vertex] = passed(vertex)


def in_a_tuple(vertex: int, state: Any) -> Any:
    return 1, vertex


def rank_in_row(vertex: int, state: Any) -> None:
    first = state.offsets[vertex]
    for edge in range(first, state.offsets[vertex + 1]):
        state.a[vertex] = edge - first


@pytest.mark.parametrize(
    ("functor", "expected"),
    [
        (adds_nothing, {(STORED, "a", DERIVED)}),
        (is_the_first, {(COMPARED, "", OWN)}),
        (not_the_first, {(COMPARED, "", OWN)}),
        (counts_to, {(COMPARED, "", OWN)}),
        (from_table, {(INDEXED, ".TABLE", DERIVED)}),
        (by_own_array, {(STORED, ".", OWN)}),
        (by_own_list, {(COMPARED, "", OWN)}),
        (by_helper, {(STORED, "a", DERIVED)}),
        (in_a_tuple, {(RETURNED, "", OWN)}),
        (rank_in_row, {(STORED, "a", DERIVED)}),
    ],
)
def test_numbers_of_vertices_are_followed(functor: Any, expected: set[Any]) -> None:
    assert looked_up(uses(functor)) == expected


def test_numbers_of_vertices_are_followed_along_edges() -> None:
    assert along(orders) == {(COMPARED, "", OWN), (COMPARED, "", NEAR)}
    assert (RETURNED, "", DERIVED) in along(smallest)
    assert (STORED, "a", OWN) in along(by_atomic)


def stores_edge(source: int, neighbor: int, edge: int, state: Any) -> int:
    state.a[source] = edge
    return edge + 7


def edge_from_table(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return TABLE[edge] + state.weight[edge]


def another_edge(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.weight[edge + 1]


def test_numbers_of_edges() -> None:
    assert along(stores_edge) == {
        (INDEXED, "a", OWN), (STORED, "a", EDGE), (RETURNED, "", FAR_EDGE),
    }  # fmt: skip
    assert (INDEXED, ".TABLE", EITHER_EDGE) in along(edge_from_table, EITHER_EDGE)
    roles = (OWN, NEAR, IN_EDGE, STATE)
    assert access(edge_from_table, roles).reads == {("weight", IN_EDGE)}
    assert access(another_edge, roles).reads == {("weight", "elsewhere")}


def test_uses_have_a_line() -> None:
    (use,) = (use for use in access(adds_nothing, (OWN, STATE)).uses if use.what == STORED)
    assert use.place == f"{__file__}, line {adds_nothing.__code__.co_firstlineno + 1}"

"""What functors touch, and at whose place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import atomics
from broadfront.execution.access import Access, access
from broadfront.kernel import inner
from broadfront.operators.roles import ELSEWHERE, NEAR, OWN, STATE

# ruff: noqa: ANN001, ANN201
VERTEX = (OWN, STATE)
EDGE = (OWN, NEAR, "edge", STATE)


def touch(functor, roles) -> tuple[set, set]:  # type: ignore[no-untyped-def]
    found = access(functor, roles)
    return set(found.reads), set(found.writes)


def of_both_ends(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.a[source] + state.b[neighbor] + state.weight[edge]


def sets_own(vertex, state):  # type: ignore[no-untyped-def]
    state.a[vertex] = 2 * state.b[vertex]


def sets_neighbor(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    state.a[neighbor] = 1


def adds_in_place(vertex, state):  # type: ignore[no-untyped-def]
    state.a[vertex] += 1


def test_own_and_near() -> None:
    reads, writes = touch(of_both_ends, EDGE)
    assert {("a", OWN), ("b", NEAR)} <= reads
    assert writes == set()
    assert touch(sets_own, VERTEX) == ({("b", OWN)}, {("a", OWN)})
    assert touch(sets_neighbor, EDGE) == (set(), {("a", NEAR)})
    assert touch(adds_in_place, VERTEX) == ({("a", OWN)}, {("a", OWN)})


def looks_around(vertex, state):  # type: ignore[no-untyped-def]
    best = state.a[vertex]
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        neighbor = state.targets[edge]
        best = min(best, state.a[neighbor])
    state.b[vertex] = best


def reads_rows_of_neighbors(vertex, state):  # type: ignore[no-untyped-def]
    count = 0
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        neighbor = state.targets[edge]
        count += state.offsets[neighbor + 1] - state.offsets[neighbor]
    return count


def test_loops_over_ones_own_rows() -> None:
    reads, writes = touch(looks_around, VERTEX)
    rows = {place for name, place in reads if name == "offsets"}
    assert rows == {OWN}
    assert {("a", OWN), ("a", NEAR)} <= reads
    assert writes == {("b", OWN)}
    reads, _ = touch(reads_rows_of_neighbors, VERTEX)
    assert {place for name, place in reads if name == "offsets"} > {OWN}


def two_steps_away(vertex, state):  # type: ignore[no-untyped-def]
    return state.a[state.b[vertex]]


def by_arithmetic(vertex, state):  # type: ignore[no-untyped-def]
    state.a[vertex - 1] = 0


def first_of_all(vertex, state):  # type: ignore[no-untyped-def]
    return state.a[0]


def test_anything_else_is_elsewhere() -> None:
    assert touch(two_steps_away, VERTEX)[0] == {("b", OWN), ("a", ELSEWHERE)}
    assert touch(by_arithmetic, VERTEX)[1] == {("a", ELSEWHERE)}
    assert touch(first_of_all, VERTEX)[0] == {("a", ELSEWHERE)}


def through_aliases(vertex, state):  # type: ignore[no-untyped-def]
    here, values = vertex, state.a
    values[here] = state.b[np.int64(here)]


def one_or_the_other(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    place = source if state.a[source] > 0 else neighbor
    return state.b[place]


def moves_on(vertex, state):  # type: ignore[no-untyped-def]
    place = vertex
    while state.a[place] > 0:
        place = state.a[place]
    return place


def test_aliases_branches_and_loops() -> None:
    assert touch(through_aliases, VERTEX) == ({("b", OWN)}, {("a", OWN)})
    assert touch(one_or_the_other, EDGE)[0] == {("a", OWN), ("b", OWN), ("b", NEAR)}
    assert ("a", OWN) in touch(moves_on, VERTEX)[0]
    assert ("a", ELSEWHERE) in touch(moves_on, VERTEX)[0]


@inner
def value_at(values, place):  # type: ignore[no-untyped-def]
    return values[place]


@inner
def put(state, place, value):  # type: ignore[no-untyped-def]
    state.b[place] = value


@inner
def same_place(place):  # type: ignore[no-untyped-def]
    return place


def plainly_called(place, state):  # type: ignore[no-untyped-def]
    return state.c[place]


@inner
def countdown(values, place, left):  # type: ignore[no-untyped-def]
    if left == 0:
        return values[place]
    return countdown(values, place, left - 1)


def by_helpers(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    put(state, source, value_at(state.a, neighbor))
    return state.a[same_place(source)]


def by_recursion(vertex, state):  # type: ignore[no-untyped-def]
    return countdown(state.a, vertex, 3)


def test_helpers_are_followed() -> None:
    assert touch(by_helpers, EDGE) == ({("a", NEAR), ("a", OWN)}, {("b", OWN)})
    assert ("a", OWN) in touch(by_recursion, VERTEX)[0]


def by_atomics(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    atomics.add(state.a, neighbor, 1)
    atomics.minimum(state.b, source, 1)
    atomics.store(state.d, source, 1)
    return atomics.load(state.c, neighbor)


def test_atomics() -> None:
    reads, writes = touch(by_atomics, EDGE)
    assert writes == {("a", NEAR), ("b", OWN), ("d", OWN)}
    assert ("c", NEAR) in reads


def by_names(vertex, state):  # type: ignore[no-untyped-def]
    put(value=state.a[vertex], place=vertex, state=state)


def from_tuples(vertex, state):  # type: ignore[no-untyped-def]
    a, b, c, d = state.a, state.b, state.c, vertex
    a[d] = c[vertex]
    for values in (a, b):
        values[vertex] = 1


def one_or_a_constant(vertex, state):  # type: ignore[no-untyped-def]
    place = vertex
    if state.b[vertex] > 0:
        place = 1
    state.a[place] = 0


def test_arguments_by_name_and_tuples() -> None:
    assert touch(by_names, VERTEX) == ({("a", OWN)}, {("b", OWN)})
    reads, writes = touch(from_tuples, VERTEX)
    assert {name for name, _ in writes} >= {"a", "b"}
    assert ("c", OWN) in reads
    assert touch(one_or_a_constant, VERTEX)[1] == {("a", OWN), ("a", ELSEWHERE)}


def hands_on_all(vertex, state):  # type: ignore[no-untyped-def]
    return str(state)


def test_a_state_that_is_handed_to_strangers_is_refused() -> None:
    with pytest.raises(bf.OptionError, match="gives its state to str"):
        access(hands_on_all, VERTEX)


def gives_away(vertex, state):  # type: ignore[no-untyped-def]
    return str(state.a)


def test_an_array_that_is_handed_to_strangers_is_touched_anywhere() -> None:
    assert touch(gives_away, VERTEX) == ({("a", ELSEWHERE)}, {("a", ELSEWHERE)})


def test_accesses_add_up() -> None:
    one = Access(frozenset({("a", OWN)}), frozenset())
    other = Access(frozenset(), frozenset({("b", NEAR)}))
    assert one | other == Access(one.reads, other.writes)


class Chain:
    """Leads to another one, for ever, and has a method."""

    @property
    def further(self) -> Any:
        return Chain()

    def step(self, vertex: int) -> int:
        return vertex + 1


CHAIN = Chain()


def of_a_method(vertex: int, state: Any) -> None:
    for _ in range(3):
        state.x[vertex] = CHAIN.step(vertex)


def along_a_chain(vertex: int, state: Any) -> None:
    chain = CHAIN
    for _ in range(3):
        chain = chain.further
    state.x[vertex] = 1


@pytest.mark.parametrize("functor", [of_a_method, along_a_chain])
def test_attributes_of_objects_come_to_an_end(functor: Any) -> None:
    assert access(functor, (OWN, STATE)).writes == {("x", OWN)}

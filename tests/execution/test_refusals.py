"""Programs that would mean something else on several devices, or harm the graph, are refused.

Each is right on one device and in plain Python, and says on several what to write instead.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.errors import FunctorError

PATH = bf.generate("path:6")
TABLE = np.arange(6) * 100
PARTS = [
    {"devices": devices, "partitioner": partitioner}
    for devices in (2, 3, 4)
    for partitioner in ("random", "range", "static")
]
EVERYWHERE: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2}, {"devices": "python"}, *PARTS]


def program_of(functor: Any, **fields: bf.Field) -> bf.Program:
    return bf.Program({"y": bf.Field(np.int64), **fields}, step=[bf.Compute(functor)])


def through_a_field(vertex: int, state: Any) -> None:
    state.y[vertex] = state.x[state.p[vertex]]


def at_a_constant(vertex: int, state: Any) -> None:
    state.y[vertex] = state.x[0]


def from_a_captured_array(vertex: int, state: Any) -> None:
    state.y[vertex] = TABLE[vertex]


def from_a_captured_array_by_arithmetic(vertex: int, state: Any) -> None:
    state.y[vertex] = TABLE[(vertex + 3) % 6]


def from_a_shared_field(vertex: int, state: Any) -> None:
    state.y[vertex] = state.t[vertex]


def by_its_edges(vertex: int, state: Any) -> None:
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.y[vertex] += TABLE[edge % 6]


def stores_its_number(vertex: int, state: Any) -> None:
    state.y[vertex] = vertex


def at_a_constant_edge(vertex: int, state: Any) -> None:
    state.y[vertex] = state.targets[0]


def stores_its_edges(vertex: int, state: Any) -> None:
    state.y[vertex] = state.offsets[vertex + 1]


X = {"x": bf.Field(np.int64), "p": bf.Field(np.int64)}
START = {"x": np.arange(6) * 10 + 7, "p": np.array([5, 4, 3, 2, 1, 0])}
REFUSED = {
    "pointer": (program_of(through_a_field, **X), START, r"touches state\.x at a place"),
    "constant": (program_of(at_a_constant, **X), START, r"touches state\.x at a place"),
    "edges": (program_of(by_its_edges), {}, "indexes TABLE .*with_edge_data"),
    "an edge": (program_of(stores_its_edges), {}, r"an edge in state\.y, .*with_edge_data"),
    "constant edge": (program_of(at_a_constant_edge), {}, "at a place that is no edge of its"),
}
T = {"t": bf.Field(np.int64, length=6)}
KEPT = {
    "captured": (program_of(from_a_captured_array), {}, "indexes TABLE by the number of its ver"),
    "arithmetic": (program_of(from_a_captured_array_by_arithmetic), {}, "indexes TABLE"),
    "shared": (program_of(from_a_shared_field, **T), {"t": TABLE}, r"indexes state\.t by the num"),
    "number": (program_of(stores_its_number), {}, r"store state\.ids\[vertex\]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_one_device_can_mean(name: str) -> None:
    program, start, said = REFUSED[name]
    given: dict[str, Any] = {"init": start}
    one, python = (bf.run(program, PATH, **given, **at)["y"] for at in EVERYWHERE[1:3])
    np.testing.assert_array_equal(one, python)
    for where in PARTS:
        with pytest.raises(FunctorError, match=said) as caught:
            bf.run(program, PATH, **given, **where)
        assert str(caught.value).startswith(f"{__file__}, line ")


@pytest.mark.parametrize("name", KEPT)
def test_numbers_of_vertices_need_the_ids_of_the_graph(name: str) -> None:
    program, start, said = KEPT[name]
    python = bf.run(program, PATH, init=start, devices="python")["y"]
    for where in EVERYWHERE:
        np.testing.assert_array_equal(bf.run(program, PATH, init=start, **where)["y"], python)
    for where in PARTS:
        with pytest.raises(FunctorError, match=said) as caught:
            bf.run(program, PATH, init=start, relabel=True, **where)
        assert str(caught.value).startswith(f"{__file__}, line ")


def named(vertex: int, state: Any) -> None:
    state.y[vertex] = TABLE[state.ids[vertex]] + state.ids[vertex]


@pytest.mark.parametrize("where", EVERYWHERE)
def test_the_advice_works(where: dict[str, Any]) -> None:
    found = bf.run(program_of(named), PATH, **where)["y"]
    np.testing.assert_array_equal(found, np.arange(6) * 101)


def own(vertex: int, state: Any) -> None:
    state.label[vertex] = state.ids[vertex]


def hand_on(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.label[source]


def clear(vertex: int, state: Any) -> None:
    state.seen[vertex] = 0


def see(source: int, neighbor: int, edge: int, state: Any) -> int:
    return 1


@pytest.mark.parametrize("where", EVERYWHERE)
def test_copies_that_a_compute_has_spoiled_are_refreshed(where: dict[str, Any]) -> None:
    graph = bf.from_edges([0, 2, 4], [1, 3, 5], directed=False)
    phases = [bf.Phase([bf.Compute(own)]), bf.Phase([bf.Advance(hand_on, into="label")])]
    label = bf.Field("vertex", combine="min")
    found = bf.run(bf.Program({"label": label}, phases=phases), graph, frontier=range(6), **where)
    assert found["label"].tolist() == [0, 0, 2, 2, 4, 4]


@pytest.mark.parametrize("combine", ["max", "or"])
@pytest.mark.parametrize("where", EVERYWHERE)
def test_fields_that_are_reset_in_each_phase(where: dict[str, Any], combine: str) -> None:
    seen = bf.Field(np.int64, combine=combine)
    round_ = [bf.Phase([bf.Compute(clear)]), bf.Phase([bf.Advance(see, into="seen")], limit=1)]
    program = bf.Program({"seen": seen}, phases=[*round_, *round_])
    found = bf.run(program, PATH, frontier=range(6), **where)
    assert found["seen"].tolist() == [1] * 6


def test_nobody_writes_into_the_graph() -> None:
    def heavier(source: int, neighbor: int, edge: int, state: Any) -> Any:
        state.weight[edge] = 5.0
        return state.y[source] + 1

    def detour(vertex: int, state: Any) -> None:
        state.targets[state.offsets[vertex]] = 0

    graph = bf.from_edges([0, 1], [1, 2], weight=[1.0, 2.0])
    step: Any
    for step in (bf.Advance(heavier, into="y"), bf.Compute(detour)):
        program = bf.Program({"y": bf.Field(np.int64, fill=9, combine="min")}, step=[step])
        for where in EVERYWHERE:
            with pytest.raises(FunctorError, match="the graph"):
                bf.run(program, graph, frontier=[0], **where)
    assert graph.weights.tolist() == [1, 2]
    assert graph.targets.tolist() == [1, 2]


def double(number: Any) -> Any:
    return 2 * number


def twice_and_one(number: Any) -> Any:
    return double(number) + 1


@pytest.mark.parametrize("where", EVERYWHERE)
def test_plain_functions_are_compiled_along(where: dict[str, Any]) -> None:
    inside = twice_and_one

    def further(source: int, neighbor: int, edge: int, state: Any) -> Any:
        return inside(state.y[source]) + double(0)

    field = bf.Field(np.int64, fill=99, combine="min")
    program = bf.Program({"y": field}, step=[bf.Advance(further, into="y")])
    found = bf.run(program, PATH, frontier=[0], init={"y": {0: 0}}, **where)
    assert found["y"].tolist() == [0, 1, 3, 7, 15, 31]


def by_python(vertex: int, state: Any) -> None:
    state.y[vertex] = int(10 * random.random())


drawn = np.random.randint


def by_numpy(vertex: int, state: Any) -> None:
    state.y[vertex] = double(drawn(9))


@pytest.mark.parametrize("functor", [by_python, by_numpy])
@pytest.mark.parametrize("where", EVERYWHERE)
def test_random_numbers_are_those_of_the_library(functor: Any, where: dict[str, Any]) -> None:
    with pytest.raises(FunctorError, match=r"line \d+: a functor draws by .*use bf\.random\(seed"):
        bf.run(program_of(functor), PATH, **where)


def test_what_functors_close_over_may_change() -> None:
    scope: dict[str, Any] = {"STEP": 1, "TABLE": np.array([0, 10]), "shift": lambda: 0}
    exec("def far(vertex, state):\n    state.y[vertex] = STEP + TABLE[1]", scope)
    program = program_of(scope["far"])
    path = bf.generate("path:2")
    assert bf.run(program, path)["y"].tolist() == [11, 11]
    scope["STEP"] = 2
    assert bf.run(program, path)["y"].tolist() == [12, 12]
    scope["TABLE"][1] = 30
    assert bf.run(program, path)["y"].tolist() == [32, 32]
    scope["STEP"] = 1
    scope["TABLE"] = np.array([0, 10])
    assert bf.run(program, path)["y"].tolist() == [11, 11]


def test_a_variable_without_a_value_is_an_error_of_the_functor() -> None:
    def far(vertex: int, state: Any) -> None:
        state.y[vertex] = later

    with pytest.raises(FunctorError, match="far"):
        bf.run(program_of(far), PATH)
    later = 1


def scaled(vertex: int, state: Any, by: int = 2) -> None:
    state.y[vertex] = by * state.ids[vertex]


class Scale:
    def __call__(self, vertex: int, state: Any) -> None:
        state.y[vertex] = 2

    def apply(self, vertex: int, state: Any) -> None:
        state.y[vertex] = 2


@pytest.mark.parametrize(
    ("functor", "said"),
    [
        (partial(scaled, by=3), "place of a partial.* return scaled"),
        (Scale().apply, "a functor has no self"),
        (Scale(), "in place of an object that is called"),
        (len, "expected a function"),
        (7, "expected a function"),
    ],
)
def test_what_is_no_function_is_refused_when_the_program_is_made(functor: Any, said: str) -> None:
    with pytest.raises(FunctorError, match=rf"Compute\(functor=\.\.\.\) is .*{said}"):
        program_of(functor)


def test_names_with_underscores() -> None:
    names = ("max_", "a__b", "count", "index", "x1")

    def set_all(vertex: int, state: Any) -> None:
        state.max_[vertex] = 1
        state.a__b[vertex] = state.max_[vertex] + 1
        state.count[vertex] = state.k_
        state.index[vertex] = state.x1[vertex]

    fields = {name: bf.Field(np.int64) for name in names}
    program = bf.Program(fields, step=[bf.Compute(set_all)], parameters=["k_"])
    for where in EVERYWHERE:
        found = bf.run(program, PATH, parameters={"k_": 7}, init={"x1": {2: 5}}, **where)
        assert [found[name][2] for name in names] == [1, 2, 7, 5, 5]

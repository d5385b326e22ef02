"""Programs in plain Python: the same answers, every index checked, functors to look into."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import broadfront as bf
from broadfront import atomics
from broadfront.backends.python.state import fitting
from broadfront.errors import (
    BoundsError,
    FunctorError,
    OptionError,
    TimeLimitError,
    VertexError,
)
from problems import PROBLEMS, same
from zoo import ZOO

PYTHON = {"devices": "python"}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_problem_has_the_answer_of_one_device(name: str) -> None:
    problem = PROBLEMS[name]
    for animal in ZOO.values():
        graph = problem.graph(animal)
        if problem.suits(graph):
            same(problem, problem.solve(graph, **PYTHON), problem.solve(graph, threads=1))


@settings(max_examples=25, deadline=None)
@given(
    size=st.integers(1, 12),
    ends=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40),
    directed=st.booleans(),
    name=st.sampled_from(sorted(PROBLEMS)),
)
def test_drawn_graphs_have_the_answers_of_one_device(
    size: int, ends: list[tuple[int, int]], directed: bool, name: str
) -> None:
    problem = PROBLEMS[name]
    pairs = np.array(ends, np.int64).reshape(-1, 2) % size
    weight = 0.5 + np.arange(len(pairs)) % 5 if problem.weighted else None
    graph = bf.from_edges(
        pairs[:, 0], pairs[:, 1], weight=weight, num_vertices=size, directed=directed
    )
    same(problem, problem.solve(graph, **PYTHON), problem.solve(graph, threads=1))


@pytest.mark.parametrize("name", ZOO)
def test_triangles_by_edge_corner_and_vertex(name: str) -> None:
    graph = ZOO[name]._replace(directed=False, weight=None).graph(simple=True)
    assert bf.triangles(graph, **PYTHON).total == bf.triangles(graph).total
    np.testing.assert_array_equal(
        bf.triangles(graph, **PYTHON).per_vertex, bf.triangles(graph).per_vertex
    )


def test_common_neighbours_of_every_edge() -> None:
    def note(first: int, second: int, edge: int, common: int, state: Any) -> None:
        atomics.add(state.common, first, common)
        atomics.add(state.common, second, 100 * common)

    program = bf.Program({"common": bf.Field(np.int64)}, step=[bf.Intersect(note)])
    graph = bf.from_edges([0, 0, 1, 1, 2], [1, 2, 2, 3, 3], directed=False)
    np.testing.assert_array_equal(
        bf.run(program, graph, **PYTHON)["common"], bf.run(program, graph, threads=1)["common"]
    )


def hop(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.hops[source] + 1


def hops(functor: Any = hop, dtype: Any = np.int32, **more: Any) -> bf.Program:
    field = bf.Field(dtype, fill=99, combine="min")
    return bf.Program({"hops": field}, step=[bf.Advance(functor, into="hops", **more)])


FROM_0: dict[str, Any] = {"frontier": [0], "init": {"hops": {0: 0}}, **PYTHON}


def test_rows_of_many_sources() -> None:
    graph = bf.generate("path:4")
    start = {"hops": {0: 0, 2: 0}}
    found = bf.run_each(hops(), graph, frontier=[0, 2], init=start, **PYTHON)
    assert found["hops"].tolist() == [[0, 1, 2, 3], [2, 1, 0, 1]]
    assert bf.bfs(graph, [0, 3], each=True, **PYTHON).depth.tolist() == [[0, 1, 2, 3], [3, 2, 1, 0]]


def test_an_iteration_sees_only_those_before() -> None:
    program = bf.Program(
        {"hops": bf.Field(np.int32, fill=99, combine="min")},
        phases=[bf.Phase([bf.Advance(hop, into="hops")], limit=1)],
    )
    graph = bf.generate("path:5")
    start = {"hops": {0: 0}}
    found = bf.run(program, graph, frontier=range(5), init=start, **PYTHON)
    assert found["hops"].tolist() == [0, 1, 99, 99, 99]


def test_who_takes_several_proposals_enters_once() -> None:
    def one(source: int, neighbor: int, edge: int, state: Any) -> int:
        return 1

    def count(vertex: int, before: int, after: int, state: Any) -> bool:
        state.asked[vertex] += 1
        return after > before

    fields = {"got": bf.Field(np.int64, combine="sum"), "asked": bf.Field(np.int64)}
    step = [bf.Advance(one, into="got", activate=count)]
    program = bf.Program(fields, phases=[bf.Phase(step, limit=1)])
    found = bf.run(program, bf.generate("star:5"), frontier=range(5), **PYTHON)
    assert found["got"].tolist() == [4, 1, 1, 1, 1]
    assert found["asked"].tolist() == [1, 1, 1, 1, 1]
    assert found.frontier.tolist() == [0, 1, 2, 3, 4]


def test_the_record_has_a_row_per_iteration() -> None:
    record = bf.run(hops(), bf.generate("path:4"), **FROM_0).record
    assert record.iterations == 4
    assert record.frontier.tolist() == [1, 1, 1, 1]
    assert record.edges.tolist() == [1, 2, 2, 1]
    assert record.compile_seconds == 0


def test_functors_print_and_stop_for_a_debugger(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def talking(source: int, neighbor: int, edge: int, state: Any) -> Any:
        print(f"{source} to {neighbor}")  # noqa: T201
        breakpoint()
        return state.hops[source] + 1

    stops: list[Any] = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stops.append(sys._getframe(1).f_locals))
    bf.run(hops(talking), bf.generate("path:2"), **FROM_0)
    assert capsys.readouterr().out == "0 to 1\n1 to 0\n"
    assert [(seen["source"], seen["edge"]) for seen in stops] == [(0, 0), (1, 1)]


def test_an_index_outside_is_named_with_its_edge() -> None:
    def beyond(source: int, neighbor: int, edge: int, state: Any) -> Any:
        return state.hops[source + 5]

    graph = bf.from_edges(["a"], ["b"])
    with pytest.raises(BoundsError, match=r"beyond: state\.hops has 2 places, index 5") as caught:
        bf.run(hops(beyond), graph, **FROM_0)
    assert caught.value.__notes__ == ["in beyond at the edge a -> b"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("state.weight[edge]", "the graph has no weights"),
        ("state.depth[source]", "state has no depth; there are hops"),
        ("state.hops[0.0]", "an index is a whole number"),
        ("state.hops[-1]", "index -1"),
        ("3.5", "cannot hold 3.5: it is of int32"),
        ("2**31", "cannot hold 2147483648"),
        ("None", "without an answer"),
        ("[None][0]", "cannot hold None: expected a number"),
        ("float('nan')", "expected a number"),
        ("setattr(state, 'hops', 1)", "cannot be set as a whole"),
        ("state.targets.__setitem__(edge, 0)", "which functors only read"),
        ("state.hops.__setitem__(0, 1 << 40)", "cannot hold"),
    ],
)
def test_what_a_functor_may_not_do(words: str, said: str) -> None:
    scope: dict[str, Any] = {}
    exec(f"def functor(source, neighbor, edge, state):\n    return {words}", scope)
    with pytest.raises((FunctorError, BoundsError), match=said):
        bf.run(hops(scope["functor"]), bf.generate("path:2"), **FROM_0)


@pytest.mark.parametrize("value", [None, "2.5"])
def test_a_real_field_holds_no_nothing_and_no_text(value: Any) -> None:
    with pytest.raises(FunctorError, match=r"cannot hold .*: expected a number"):
        fitting(value, np.dtype(np.float64), "state.hops")


def test_division_by_zero_is_an_error_that_says_where() -> None:
    def divide(vertex: int, state: Any) -> None:
        state.hops[vertex] = 1 // (vertex - 1)

    program = bf.Program({"hops": bf.Field(np.int32)}, step=[bf.Compute(divide)])
    with pytest.raises(ZeroDivisionError) as caught:
        bf.run(program, bf.generate("path:3"), **PYTHON)
    assert caught.value.__notes__ == ["in divide at vertex 1"]


def test_a_total_that_does_not_fit_is_refused() -> None:
    def much(vertex: int, state: Any) -> int:
        return 1 << 62

    step = [bf.Compute(much, sums=("total",))]
    program = bf.Program({"total": bf.Field(np.int64, length=1)}, step=step)
    with pytest.raises(FunctorError, match=r"state\.total cannot hold"):
        bf.run(program, bf.generate("path:3"), **PYTHON)


def test_a_goal_that_is_no_vertex_is_refused() -> None:
    program = hops(priority=lambda vertex, state: state.hops[vertex], goal=lambda state: 7)
    with pytest.raises(VertexError, match="not a vertex"):
        bf.run(program, bf.generate("path:3"), **FROM_0)


@pytest.mark.parametrize("name", ["partitioner", "relabel", "memory_limit"])
def test_options_of_other_devices_are_refused(name: str) -> None:
    value = {"partitioner": "range", "relabel": False, "memory_limit": 1 << 30}[name]
    with pytest.raises(OptionError, match=name):
        bf.bfs(bf.generate("path:3"), 0, devices="python", **{name: value})


def test_a_time_limit_holds() -> None:
    def never(state: Any) -> bool:
        return False

    phase = bf.Phase([bf.Compute(lambda vertex, state: None)], until=never)
    program = bf.Program({"hops": bf.Field(np.int32)}, phases=[phase])
    with pytest.raises(TimeLimitError):
        bf.run(program, bf.generate("path:3"), time_limit=0.05, **PYTHON)


def test_each_run_sees_what_globals_are_now() -> None:
    scope: dict[str, Any] = {"STEP": 1}
    exec("def far(source, neighbor, edge, state):\n    return state.hops[source] + STEP", scope)
    program = hops(scope["far"])
    assert bf.run(program, bf.generate("path:3"), **FROM_0)["hops"].tolist() == [0, 1, 2]
    scope["STEP"] = 5
    assert bf.run(program, bf.generate("path:3"), **FROM_0)["hops"].tolist() == [0, 5, 10]


def test_atomics_are_plain_reads_and_writes() -> None:
    def touch_all(vertex: int, state: Any) -> None:
        before = atomics.add(state.x, vertex, 5) + atomics.minimum(state.x, vertex, 3)
        before += atomics.maximum(state.x, vertex, 4) + atomics.bitwise_or(state.x, vertex, 3)
        before += atomics.exchange(state.x, vertex, 9) + atomics.arrive(state.x, vertex)
        if atomics.compare_and_swap(state.x, vertex, 10, before):
            atomics.store(state.y, vertex, atomics.load(state.x, vertex))

    fields = {"x": bf.Field(np.int64, fill=1), "y": bf.Field(np.int64)}
    program = bf.Program(fields, step=[bf.Compute(touch_all)])
    for where in (PYTHON, {"threads": 1}):
        answer = bf.run(program, bf.generate("path:2"), **where)
        assert answer["x"].tolist() == answer["y"].tolist() == [1 + 6 + 3 + 4 + 7 + 9] * 2

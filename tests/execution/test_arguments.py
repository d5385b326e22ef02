"""Arguments and declarations are checked before compiled code sees them: no index goes astray."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import (
    Advance,
    Compute,
    Field,
    Intersect,
    Levels,
    OptionError,
    Phase,
    Program,
    Reduce,
    Unite,
)
from broadfront.algorithms.bfs import BFS, BFS_TO_TARGET, HOP

WHERE: list[dict[str, Any]] = [{}, {"devices": 2}, {"devices": 2, "relabel": False}]
GRAPH = bf.generate("path:6")
MASK = np.array([True, False, False, False, False, True])


def nothing(*arguments: Any) -> int:
    return 0


# ---------------------------------------------------------------------- frontiers and starts


@pytest.mark.parametrize("where", WHERE, ids=str)
@pytest.mark.parametrize(
    "start",
    [{0: 0, 10**9: 5}, {-1: 0}, {6: 0}, {0.5: 0}, {True: 0}, {"a": 0}, {0: 7.5}, {0: -1},
     {0: 2**32}, {0: "a"}, {0: [1, 2]}, [0, 1, 2], 5, np.arange(6) + 0.5, np.arange(6) - 1,
     np.arange(5), np.arange(12).reshape(2, 6)],
    ids=str,
)  # fmt: skip
def test_a_start_that_does_not_fit(start: Any, where: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=r"^init\['depth'\] "):
        bf.run(BFS, GRAPH, frontier=[0], init={"depth": start}, **where)


@pytest.mark.parametrize("where", WHERE, ids=str)
@pytest.mark.parametrize("place", [-1, 1, 10**9, 0.5])
def test_a_start_beyond_shared_values(place: Any, where: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=rf"init\['found'\] holds {place}, which is no position"):
        bf.run(
            BFS_TO_TARGET, GRAPH, frontier=[0], init={"found": {place: 1}},
            parameters={"target": 3}, **where,
        )  # fmt: skip


@pytest.mark.parametrize("where", WHERE, ids=str)
def test_starts_that_fit(where: dict[str, Any]) -> None:
    expected = bf.bfs(GRAPH, 0).depth.tolist()
    whole = np.array([0, *[0xFFFFFFFF] * 5])
    for start in ({0: 0}, {0.0: 0.0}, [(0, 0)], {np.int8(0): np.uint64(0)}, whole,
                  whole.astype(np.float64), whole.astype(object), whole.astype(">u8")):  # fmt: skip
        answer = bf.run(BFS, GRAPH, frontier=[0], init={"depth": start}, **where)
        assert answer["depth"].tolist() == expected


def test_a_start_is_not_written_to() -> None:
    whole = np.array([0, *[0xFFFFFFFF] * 5], np.uint32)
    kept = whole.copy()
    bf.run(BFS, GRAPH, frontier=[0], init={"depth": whole})
    assert whole.tolist() == kept.tolist()


@pytest.mark.parametrize("where", WHERE, ids=str)
def test_a_mask_is_the_vertices_where_it_is_true(where: dict[str, Any]) -> None:
    start = {"depth": {0: 0, 5: 0}}
    for frontier in (MASK, MASK.tolist(), [0, 5], [5.0, 0.0], np.array([5, 0], np.uint8)):
        answer = bf.run(BFS, GRAPH, frontier=frontier, init=start, **where)
        assert answer["depth"].tolist() == [0, 1, 2, 2, 1, 0]
        each = bf.run_each(BFS, GRAPH, frontier=np.sort(np.flatnonzero(MASK)), init=start, **where)
        by_mask = bf.run_each(BFS, GRAPH, frontier=MASK, init=start, **where)
        assert by_mask["depth"].tolist() == each["depth"].tolist()


@pytest.mark.parametrize("go", [bf.run, bf.run_each])
@pytest.mark.parametrize("where", WHERE, ids=str)
@pytest.mark.parametrize("frontier", [MASK[:5], [True], [6], [-1], [0.5], [[0]], "0", {0}], ids=str)
def test_a_frontier_that_is_none(frontier: Any, where: dict[str, Any], go: Any) -> None:
    with pytest.raises(OptionError, match="^the frontier "):
        go(BFS, GRAPH, frontier=frontier, **where)


def test_rows_that_do_not_fit() -> None:
    for start in ({0: 7.5}, {0: 2**32}, {1: 0}, 5, np.full((1, 6), -1), np.zeros(6)):
        with pytest.raises(OptionError, match=r"^init\['depth'\] "):
            bf.run_each(BFS, GRAPH, frontier=[0], init={"depth": start})


@pytest.mark.parametrize("where", WHERE, ids=str)
@pytest.mark.parametrize("value", ["3", None, [3], np.arange(2), 1j, 10**30, np.float16(3)])
def test_parameters_are_numbers(value: Any, where: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="parameter target="):
        bf.run(BFS_TO_TARGET, GRAPH, frontier=[0], parameters={"target": value}, **where)


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize(
    "options",
    [{"time_limit": "5"}, {"time_limit": -1}, {"time_limit": np.nan}, {"threads": "2"},
     {"threads": 1.5}, {"threads": True}, {"memory_limit": "1G"}, {"progress": 5},
     {"devices": 2.0}, {"devices": True}, {"devices": {"cpu"}}],
    ids=str,
)  # fmt: skip
def test_wrong_options(options: dict[str, Any], each: bool) -> None:
    (name,) = options
    with pytest.raises(OptionError, match=f"{name}="):
        bf.bfs(GRAPH, [0], each=each, **options)


def test_numbers_of_numpy_are_numbers() -> None:
    found = bf.bfs(
        GRAPH, 0, devices=np.int64(2), threads=np.uint8(1), time_limit=np.float32(60),
        memory_limit=1e9,
    )  # fmt: skip
    assert len(found.report.devices) == 2
    assert found.depth.tolist() == [0, 1, 2, 3, 4, 5]


# ---------------------------------------------------------------------- declarations


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"dtype": int, "length": 0}, "length=0"),
        ({"dtype": int, "length": -1}, "length=-1"),
        ({"dtype": int, "length": 1.5}, "length=1.5"),
        ({"dtype": bool}, "use np.uint8"),
        ({"dtype": np.float16}, "use np.float32"),
        ({"dtype": np.longdouble}, "use np.float32"),
        ({"dtype": ">i4"}, "use np.int32"),
        ({"dtype": complex}, "expected real numbers"),
        ({"dtype": "number"}, "'number'"),
        ({"dtype": np.float64, "combine": "or"}, "bits of integers"),
        ({"dtype": np.int8, "fill": 128}, "fill holds 128, which is no value of int8"),
        ({"dtype": np.int32, "fill": 0.5}, "fill holds 0.5"),
        ({"dtype": np.float32, "fill": 1e39}, "fill holds 1e"),
        ({"dtype": np.float32, "fill": "0"}, "fill is '0'"),
        ({"dtype": np.float32, "fill": [1, 2]}, "not one number"),
    ],
    ids=str,
)
def test_fields_that_cannot_be(declared: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Field(**declared)


def test_a_fill_that_ids_do_not_hold() -> None:
    program = Program({"far": Field("vertex", fill=2**40)}, step=[Compute(nothing)])
    with pytest.raises(OptionError, match="no value of int32"):
        bf.run(program, GRAPH)


DEPTH = Field(np.int32, combine="min")
ONE = Field(np.int64, combine="min", length=1)


@pytest.mark.parametrize(
    ("field", "operator", "message"),
    [
        (ONE, Advance(nothing, into="it"), "leave length out"),
        (
            Field("vertex", length=1),
            Advance(nothing, into="depth", record_source="it"),
            "leave length out",
        ),
        (
            Field(np.float64),
            Advance(nothing, into="depth", record_source="it"),
            r"Field\('vertex'\)",
        ),
        (Field(np.int8), Advance(nothing, into="depth", record_source="it"), r"Field\('vertex'\)"),
        (DEPTH, Advance(nothing, into="it", record_source="it"), "both into and record_source"),
        (DEPTH, Advance(nothing, into="it", priority=nothing, width=-1), "width=-1"),
        (DEPTH, Advance(nothing, into="it", priority=nothing, width=np.nan), "width=nan"),
        (Field(np.float64), Compute(nothing, sums=("it",)), "length=1"),
        (Field(np.float64, length=2), Compute(nothing, sums=("it",)), "length=1"),
        (Field(np.int8, length=1), Compute(nothing, sums=("it",)), "int8 may be too small"),
        (Field("vertex", length=1), Compute(nothing, sums=("it",)), "int32 may be too small"),
        (ONE, Compute(nothing, sums="it"), "expected a tuple"),  # type: ignore[arg-type]
        (Field(np.int64), Reduce(nothing, nothing, sums=("it",)), "length=1"),
        (Field(np.int32, length=1), Reduce(nothing, nothing, sums=("it",)), "int32 may be"),
        (Field(np.int64), Intersect(total="it"), "length=1"),
        (Field(np.uint32, length=1), Intersect(total="it"), "uint32 may be too small"),
        (ONE, Levels(nothing, nothing, by="it"), "leave length out"),
        (Field("vertex", length=1), Unite("it"), "leave length out"),
        (DEPTH, "advance", "is no operator"),
        (np.int32, HOP, "expected a Field"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_operators_that_cannot_be(field: Any, operator: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Program({"depth": DEPTH, "it": field}, step=[operator])


@pytest.mark.parametrize("name", ["class", "_a", "a b", "", 3, "ids", "in_weight"])
def test_names_that_a_state_cannot_have(name: Any) -> None:
    with pytest.raises(OptionError, match="cannot be the name"):
        Program({name: DEPTH}, step=[Compute(nothing)])


def test_names_are_there_once() -> None:
    with pytest.raises(OptionError, match="'it' is the name of two"):
        Program({"it": DEPTH}, step=[Compute(nothing)], parameters=["it"])


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_limits_of_phases(limit: Any) -> None:
    with pytest.raises(OptionError, match="limit="):
        Phase([Compute(nothing)], limit=limit)


def test_a_compute_is_over_vertices_or_the_frontier() -> None:
    with pytest.raises(OptionError, match="over='edges'"):
        Compute(nothing, over="edges")


# ---------------------------------------------------------------------- functors


def opens_a_file(vertex, state):  # type: ignore[no-untyped-def]
    with open("file"):
        state.depth[vertex] = 1


def imports(vertex, state):  # type: ignore[no-untyped-def]
    import math

    state.depth[vertex] = math.floor(0.5)


def yields(vertex, state):  # type: ignore[no-untyped-def]
    yield 1


async def waits(vertex, state):  # type: ignore[no-untyped-def]
    return 1


@pytest.mark.parametrize("where", WHERE[:2], ids=str)
@pytest.mark.parametrize("functor", [opens_a_file, imports])
def test_functors_that_do_not_compile_are_named(functor: Any, where: dict[str, Any]) -> None:
    program = Program({"depth": DEPTH}, step=[Compute(functor)])
    with pytest.raises(bf.FunctorError, match=f"functor {functor.__name__} does not compile"):
        bf.run(program, GRAPH, **where)


@pytest.mark.parametrize("functor", [yields, waits, len, None, 3, "count", [].append])
def test_functors_that_are_no_functions(functor: Any) -> None:
    with pytest.raises(bf.FunctorError, match=r"Compute\(functor=...\) is "):
        Program({"depth": DEPTH}, step=[Compute(functor)])
    if functor is not None:
        with pytest.raises(bf.FunctorError, match=r"Phase\(until=...\) is "):
            Phase([Compute(nothing)], until=functor)
        with pytest.raises(bf.FunctorError, match=r"Advance\(cond=...\) is "):
            Program({"depth": DEPTH}, step=[Advance(nothing, into="depth", cond=functor)])

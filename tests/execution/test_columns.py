"""Columns of edges and vertices in programs: the same on the reference, one device and several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Phase, Program, Reduce, Unite

LATE = 10_000
PARTITIONERS = ("random", "static", "metis")


def ride(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    if state.arrival[source] > state.departure[edge]:
        return LATE
    return state.departure[edge] + int(state.duration[edge])


def bounded(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return min(state.width[source], state.duration[edge] + state.height[neighbor])


def anybody(vertex, state):  # type: ignore[no-untyped-def]
    return True


def offer(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
    return state.duration[edge] * state.height[neighbor]


def take(vertex, total, state):  # type: ignore[no-untyped-def]
    state.load[vertex] = total + state.height[vertex]


def own_row(vertex, state):  # type: ignore[no-untyped-def]
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        state.row[vertex] += state.departure[edge] + state.height[state.targets[edge]]
    state.row[vertex] += state.iteration


def short(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.duration[edge] < 6


EVERYTHING = Program(
    fields={
        "arrival": Field(np.int64, fill=LATE, combine="min"),
        "width": Field(np.float64, combine="max"),
        "load": Field(np.float64),
        "row": Field(np.int64),
        "group": Field("vertex"),
    },
    phases=[
        Phase([Advance(ride, into="arrival")]),
        Phase([Reduce(offer, take)]),
        Phase([Compute(own_row), Unite("group", short)], limit=3),
        Phase([Compute(anybody)]),
    ],
    unordered=True,
    name="everything",
)
WIDEST = Program(
    fields={"width": Field(np.float64, combine="max")},
    step=[Advance(bounded, into="width", cond=anybody, direction="pull")],
    name="widest",
)


def trains(directed: bool) -> bf.Graph:
    """Return a timetable of chance, with parallel edges."""
    chance = np.random.default_rng(5)
    source, target = chance.integers(0, 40, (2, 160))
    source, target = np.append(source, source[:60]), np.append(target, target[:60])
    columns = {
        "departure": chance.integers(0, 60, 220).astype(np.int16),
        "duration": chance.integers(1, 12, 220).astype(np.float32),
        "unused": np.zeros(220),
    }
    graph = bf.from_edges(source, target, None, 42, directed, edge_data=columns, duplicates="keep")
    return graph.with_vertex_data(height=chance.integers(0, 9, 42).astype(np.uint8))


def ways(program: Program) -> list[dict[str, Any]]:
    """Return where a program is run; one is enough that keeps ids and asks incoming edges."""
    many = [
        {"devices": devices, "partitioner": name}
        for devices in (2, 3, 4) for name in PARTITIONERS
    ]  # fmt: skip
    kept = [{"devices": 3, "relabel": False}] if program is EVERYTHING else []
    return [{}, *many, *kept, {"devices": 1, "partitioner": "random"}]


@pytest.mark.parametrize("directed", [True, False])
def test_the_same_everywhere(directed: bool) -> None:
    graph = trains(directed)
    for program, field, first in ((EVERYTHING, "arrival", 0), (WIDEST, "width", 99.0)):
        start = int(np.argmax(graph.degrees))
        given: dict[str, Any] = {"frontier": [start], "init": {field: {start: first}}}
        expected = bf.run(program, graph, devices="python", **given)
        for way in ways(program):
            found = bf.run(program, graph, **given, **way)
            for name in program.fields:
                np.testing.assert_array_equal(found[name], expected[name], err_msg=f"{way}")
    assert (expected["width"] > 0).sum() > 20


def test_by_definition() -> None:
    graph = trains(directed=True)
    start = int(np.argmax(graph.degrees))
    answer = bf.run(EVERYTHING, graph, frontier=[start], init={"arrival": {start: 0}})
    frame, height = graph.to_pandas(), graph.vertex_data["height"]
    loads = frame["duration"] * height[frame["source"]]
    expected = height + np.bincount(frame["target"], loads, 42)
    np.testing.assert_allclose(answer["load"], expected)
    rows = frame["departure"].astype(int) + height[frame["target"]]
    np.testing.assert_array_equal(answer["row"], 3 * np.bincount(frame["source"], rows, 42) + 3)
    arrival = np.full(42, LATE)
    arrival[start] = 0
    for _ in range(42):
        ready = frame[arrival[frame["source"]] <= frame["departure"]]
        np.minimum.at(
            arrival, ready["target"], (ready["departure"] + ready["duration"]).astype(int)
        )
    np.testing.assert_array_equal(answer["arrival"], arrival)
    assert (arrival < LATE).sum() > 9


def test_what_nobody_names_is_not_handed_over() -> None:
    from broadfront.execution.columns import Columns, columns_read

    graph = trains(directed=False)
    assert columns_read(EVERYTHING, graph) == Columns(("departure", "duration"), ("height",))
    assert columns_read(WIDEST, graph) == Columns(("duration",), ("height",))


def test_a_field_hides_a_column() -> None:
    graph = bf.from_edges([0, 1], [1, 2], edge_data={"arrival": [7, 7], "departure": [5, 6],
                                                     "duration": [1, 2]})  # fmt: skip
    search = Program({"arrival": EVERYTHING.fields["arrival"]}, step=[Advance(ride, "arrival")])
    for way in ({"devices": "python"}, {}):
        answer = bf.run(search, graph, frontier=[0], init={"arrival": {0: 0}}, **way)  # type: ignore[arg-type]
        assert answer["arrival"].tolist() == [0, 6, 8]


def test_run_each_has_them() -> None:
    graph = trains(directed=True)
    search = Program({"arrival": EVERYTHING.fields["arrival"]}, step=[Advance(ride, "arrival")])
    both = bf.run_each(search, graph, frontier=[3, 4], init={"arrival": {3: 0, 4: 0}})
    for row, source in enumerate((3, 4)):
        one = bf.run(
            search, graph, frontier=[source], init={"arrival": {source: 0}}, devices="python"
        )
        np.testing.assert_array_equal(both["arrival"][row], one["arrival"])


def sets_column(vertex, state):  # type: ignore[no-untyped-def]
    state.height[vertex] = 1


def edge_of_vertex(vertex, state):  # type: ignore[no-untyped-def]
    state.row[vertex] = state.departure[vertex]


def height_of_edge(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.height[edge]


def incoming(vertex, state):  # type: ignore[no-untyped-def]
    for edge in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
        state.row[vertex] += state.departure[edge]


def first_height(vertex, state):  # type: ignore[no-untyped-def]
    state.row[vertex] = state.height[0]


def first_departure(vertex, state):  # type: ignore[no-untyped-def]
    state.row[vertex] = state.departure[0]


REFUSED = [
    (Compute(sets_column), "belongs to the graph", 1),
    (Compute(edge_of_vertex), "at a vertex, and it has a value per edge", 1),
    (Advance(height_of_edge, "row"), "at an edge, and it has a value per vertex", 1),
    (Compute(incoming), "use Reduce", 1),
    (Compute(first_height), "neither its vertex nor a neighbour", 2),
    (Compute(first_departure), "no edge of its vertex", 2),
]


@pytest.mark.parametrize(("operator", "complaint", "least"), REFUSED)
def test_what_is_refused(operator: Any, complaint: str, least: int) -> None:
    graph = trains(directed=True)
    program = Program({"row": Field(np.int64, combine="max")}, step=[operator])
    ways: list[dict[str, Any]] = [{"devices": 2}]
    ways += [{"devices": "python"}, {}] if least == 1 else []
    for way in ways:
        with pytest.raises(bf.FunctorError, match=complaint):
            bf.run(program, graph, frontier=[0], **way)


def test_an_edge_of_a_field_that_hides_a_column_is_refused() -> None:
    graph = bf.from_edges([0], [1], edge_data={"row": [1]})

    def meant(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
        return state.row[edge]

    program = Program({"row": Field(np.int64, combine="max")}, step=[Advance(meant, "row")])
    for devices in ("python", 1, 2):
        with pytest.raises(
            bf.FunctorError, match="hides the graph's column|has no element per edge"
        ):
            bf.run(program, graph, frontier=[0], devices=devices)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- along either side


def offer_of_edge(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
    return state.fare[edge] * state.zone[neighbor]


def kept_total(vertex, total, state):  # type: ignore[no-untyped-def]
    state.total[vertex] = total


def handed_on(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return state.fare[edge] * state.zone[source]


SIDES = [
    (bf.Reduce(offer_of_edge, kept_total, 0, "sum", along="out"), None, "out"),
    (bf.Reduce(offer_of_edge, kept_total, 0, "sum"), None, "in"),
    (bf.Advance(handed_on, into="total"), "sum", "in"),
    (bf.Advance(handed_on, into="total", along="in"), "sum", "out"),
]


@pytest.mark.parametrize(
    "where",
    [{"devices": "python"}, {}, {"devices": 2, "partitioner": "random"}, {"devices": 3}],
    ids=["python", "one", "two", "three"],
)
@pytest.mark.parametrize("case", SIDES, ids=["reduce-out", "reduce-in", "advance", "advance-in"])
@pytest.mark.parametrize("directed", [True, False])
def test_columns_of_the_side_that_an_operator_walks(case, where, directed):  # type: ignore[no-untyped-def]
    operator, combine, side = case
    random = np.random.default_rng(4)
    source, target = random.integers(0, 30, (2, 90))
    fare, zone = random.integers(1, 9, 90), random.integers(1, 5, 30)
    graph = bf.from_edges(
        source, target, num_vertices=30, directed=directed, edge_data={"fare": fare},
        duplicates="min",
    ).with_vertex_data(zone=zone)  # fmt: skip
    expected = np.zeros(30, np.int64)
    for vertex in range(30):
        for edge in range(graph.offsets[vertex], graph.offsets[vertex + 1]):
            other, price = graph.targets[edge], graph.edge_data["fare"][edge]
            if side == "out":
                expected[vertex] += price * zone[other]
            else:
                expected[other] += price * zone[vertex]
    program = bf.Program(
        {"total": bf.Field(np.int64, combine=combine)}, phases=[bf.Phase([operator], limit=1)]
    )
    answer = bf.run(program, graph, frontier=np.arange(30), **where)
    np.testing.assert_array_equal(answer["total"], expected)

"""Elements of several numbers, records and widths: on every device as in Python."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import broadfront as bf
import zoo
from broadfront.records import layout

BEST = np.dtype([("distance", np.float64), ("via", np.int64)])
SCORE = np.dtype([("score", np.float32), ("who", np.int16)])
FAR = (np.inf, np.iinfo(np.int64).max)


def closer(one, other):
    return one if one[0] < other[0] or (one[0] == other[0] and one[1] < other[1]) else other


def higher(one, other):
    return one if one[0] > other[0] or (one[0] == other[0] and one[1] > other[1]) else other


CLOSER = bf.Monoid(closer, FAR, idempotent=True)
HIGHER = bf.Monoid(higher, (-1.0, -1), idempotent=True)


def everyone(vertex, state):
    return True


def seen_by(source, neighbor, edge, state):
    return state.seen[source]


def not_the_first(vertex, state):
    return state.best[vertex][1] != -1


def is_near(vertex, state):
    return state.best[vertex][0] < np.inf


def through(source, neighbor, edge, state):
    distance, _ = state.best[source]
    return distance + state.cost[state.ids[neighbor] % 3], state.ids[source]


def three_times(source, neighbor, edge, state):
    return 1, 2, 0.5, 0, 4


def lower(source, neighbor, edge, state):
    first, second, third = state.low[source]
    return third, first, second


def rate(vertex, state):
    number = state.ids[vertex]
    state.rated[vertex] = (number * 7 % 5, number)


def offer(neighbor, vertex, edge, state):
    return state.rated[neighbor]


def store(vertex, total, state):
    state.heard[vertex] = total


ALL = bf.Phase([bf.Filter(everyone, over="vertices")])
PROGRAM = bf.Program(
    fields={
        "seen": bf.Field(np.uint64, width=4, combine="or"),
        "best": bf.Field(BEST, combine=CLOSER),
        "cost": bf.Field(np.float64, length=3),
        "counts": bf.Field(np.float32, width=5, combine="sum"),
        "low": bf.Field(np.int32, fill=(1000, 2000, 3000), width=3, combine="min"),
        "rated": bf.Field(SCORE, combine=HIGHER),
        "heard": bf.Field(SCORE),
    },
    phases=[
        bf.Phase([bf.Advance(seen_by, into="seen")]),
        bf.Phase([bf.Filter(everyone, over="vertices"), bf.Filter(is_near)]),
        bf.Phase([bf.Advance(through, into="best", cond=not_the_first)]),
        ALL,
        bf.Phase([bf.Advance(three_times, into="counts")], limit=2),
        ALL,
        bf.Phase([bf.Advance(lower, into="low")]),
        bf.Phase([bf.Compute(rate), bf.Reduce(offer, store, combine=HIGHER)]),
    ],
)
COST = np.array([1.0, 2.0, 4.0])
PLACES = [
    {"threads": 1}, {"threads": 2},
    {"devices": 2}, {"devices": 3, "partitioner": "range"}, {"devices": 4, "partitioner": "metis"},
    {"devices": 2, "partitioner": "biased", "relabel": False},
]  # fmt: skip


def first_of(graph):
    """Return how a graph begins: everyone sees itself, and the first vertex is the source."""
    size = graph.num_vertices
    vertices = np.arange(size)
    seen = np.zeros((size, 4), np.uint64)
    seen[vertices, vertices % 256 // 64] = np.uint64(1) << (vertices % 64).astype(np.uint64)
    low = np.stack([vertices * 3 % 7, vertices * 5 % 11, 90 - vertices], axis=1)
    return {"seen": seen, "best": {0: (0, -1)} if size else {}, "cost": COST, "low": low}


def ran(graph, **where):
    return bf.run(PROGRAM, graph, frontier=np.arange(graph.num_vertices), init=first_of(graph),
                  **where)  # fmt: skip


def check_all(graph, places):
    expected = ran(graph, devices="python")
    arcs = nx.MultiDiGraph()
    arcs.add_nodes_from(range(graph.num_vertices))
    arcs.add_edges_from((source, int(target)) for source in range(graph.num_vertices)
                        for target in graph.neighbors(source))  # fmt: skip
    for vertex in arcs:
        ancestors = {each % 256 for each in nx.ancestors(arcs, vertex) | {vertex}}
        bits = sum(int(word) << 64 * place for place, word in enumerate(expected["seen"][vertex]))
        assert bits == sum(1 << each for each in ancestors)
    check_best(arcs, expected["best"])
    for where in places:
        answer = ran(graph, **where)
        for name, array in expected.fields.items():
            assert answer[name].dtype == array.dtype
            np.testing.assert_array_equal(answer[name], array, f"{name} {where}")


def check_best(arcs, best):
    for _, target, data in arcs.edges(data=True):
        data["weight"] = COST[target % 3]
    distance = nx.single_source_dijkstra_path_length(arcs, 0) if 0 in arcs else {}
    for vertex in arcs:
        last = COST[vertex % 3]
        via = [source for source in arcs.predecessors(vertex)
               if distance.get(source, np.inf) + last == distance.get(vertex)]  # fmt: skip
        expected = (distance.get(vertex, np.inf), min(via, default=FAR[1]))
        assert best[vertex].item() == ((0.0, -1) if vertex == 0 else expected)


@pytest.mark.parametrize("name", [
    "star", "star inwards", "loops and duplicates", "path", "complete", "islands", "tail isolated",
    "empty", "one edge",
])  # fmt: skip
def test_elements_are_the_same_on_every_device(name):
    check_all(zoo.ZOO[name].graph(), PLACES)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(zoo.edges(), st.sampled_from(PLACES))
def test_elements_are_the_same_on_any_graph(animal, where):
    check_all(animal.graph(), [where])


def test_threads_that_meet_in_one_element_lose_nothing_of_it():
    graph = bf.generate("star:20001")
    expected = ran(graph, threads=1)
    assert (expected["seen"] == np.uint64(2**64 - 1)).all()
    for threads in (2, 4):
        answer = ran(graph, threads=threads)
        for name, array in expected.fields.items():
            np.testing.assert_array_equal(answer[name], array, name)


# ---------------------------------------------------------------------- other ways to run


def far_through(source, neighbor, edge, state):
    distance, _ = state.best[source]
    return distance + state.weight[edge], state.ids[source]


def distance_of(vertex, state):
    return state.best[vertex][0]


BY_PRIORITY = bf.Program(
    {"best": bf.Field(BEST, combine=CLOSER)},
    step=[bf.Advance(far_through, into="best", priority=distance_of, synchronous=False)],
)


def test_a_record_takes_a_priority():
    graph = bf.generate("kron:8:weights=1-9")
    expected = bf.sssp(graph, 3).distance
    init = {"best": {3: (0.0, -1)}}
    first = bf.run(BY_PRIORITY, graph, frontier=[3], init=init)["best"]
    reached = first["distance"] < np.inf
    assert first["distance"][reached].tolist() == expected[reached].tolist()
    for where in ({"devices": "python"}, {"threads": 2}, {"devices": 3, "partitioner": "range"}):
        again = bf.run(BY_PRIORITY, graph, frontier=[3], init=init, **where)["best"]
        assert again.tolist() == first.tolist()


def test_rows_of_elements_from_many_vertices():
    graph = bf.generate("path:5")
    hops = bf.Program(PROGRAM.fields, step=[bf.Advance(seen_by, into="seen")])
    init = {"seen": {0: (1, 0, 0, 0), 4: (0, 0, 0, 2**63)}}
    for where in ({}, {"devices": 2}):
        rows = bf.run_each(hops, graph, frontier=[0, 4], init=init, **where)["seen"]
        assert rows.shape == (2, 5, 4)
        assert (rows[0] == (1, 0, 0, 0)).all()
        assert (rows[1] == (0, 0, 0, 2**63)).all()


def test_elements_by_hand_and_with_checks():
    graph = bf.generate("path:3")
    search = bf.explore(graph, {"seen": PROGRAM.fields["seen"]})
    search["seen"][0] = (7, 0, 0, 1)
    assert search.advance([0], seen_by, into="seen").tolist() == [1]
    assert search["seen"].tolist() == [[7, 0, 0, 1], [7, 0, 0, 1], [0, 0, 0, 0]]
    small = bf.Program({"best": PROGRAM.fields["best"]}, step=[bf.Advance(outside, into="best")])
    with pytest.raises(bf.BoundsError, match=r"state\.best has 3 places, index 9"):
        bf.run(small, graph, frontier=[0], checked=True)


def outside(source, neighbor, edge, state):
    return state.best[source + 9]


# ---------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(("make", "text"), [
    (lambda: bf.Field(BEST, combine="min"), "use a Monoid"),
    (lambda: bf.Field(np.dtype([("a", "i8"), ("b", "i1"), ("c", "i8")])), "24 bytes: a record"),
    (lambda: bf.Field(np.uint64, width=7), "56 bytes: at most 48"),
    (lambda: bf.Field(np.uint64, width=3, combine=bf.Monoid(closer, (0, 0, 0))), "24 bytes"),
    (lambda: bf.Field(np.uint64, width=2, combine="any"), "single numbers"),
    (lambda: bf.Field(np.uint64, width=0), "width=0"),
    (lambda: bf.Field(np.uint64, width=2, length=3), "length="),
    (lambda: bf.Field("vertex", width=2), "of ids"),
    (lambda: bf.Field(BEST, width=2), "of records"),
    (lambda: bf.Field(np.dtype([("a", "f2")])), "use np.float32"),
    (lambda: bf.Field(np.int32, width=2, fill=(1, 2, 3)), "elements of 2 numbers"),
    (lambda: bf.Field(np.int32, width=2, fill=0.5), "holds 0.5"),
    (lambda: bf.Field(np.float32, width=2, combine="or"), "bits of integers"),
    (lambda: bf.Field(BEST, combine=bf.Monoid(closer, 0)), "elements of 2 numbers"),
    (lambda: program(bf.Levels(offer, store, by="wide")), "'wide' has several numbers"),
    (lambda: program(bf.Unite(into="wide")), "'wide' has several numbers"),
    (lambda: program(bf.Advance(seen_by, into="wide", priority=distance_of)), "no priority"),
    (lambda: program(bf.Advance(seen_by, into="wide", record_source="id")), "no priority and no"),
    (lambda: program(bf.Compute(rate, sums=("wide",))), "it must have length=1"),
    (lambda: bf.Reduce(everyone, store, combine=HIGHER), "at each edge"),
])  # fmt: skip
def test_elements_that_have_no_meaning_are_refused(make, text):
    with pytest.raises((bf.OptionError, bf.FunctorError), match=text):
        make()


def program(operator):
    wide = bf.Field(np.int64, width=2, combine="max")
    return bf.Program({"wide": wide, "id": bf.Field("vertex")}, step=[operator])


def test_what_an_array_cannot_hold_is_refused():
    graph = bf.generate("path:3")
    for name, value, text in [
        ("seen", np.zeros((3, 3)), "elements of 4"), ("seen", np.zeros((2, 4)), r"not \(3, 4\)"),
        ("seen", {1: 5}, "elements of 4"), ("best", {1: (0.0, 0.5)}, "holds 0.5"),
    ]:  # fmt: skip
        with pytest.raises(bf.OptionError, match=text):
            bf.run(PROGRAM, graph, frontier=[0], init={name: value}, devices="python")


def one_number(source, neighbor, edge, state):
    return 1


def of_reals(source, neighbor, edge, state):
    return 1.0, 2.0, 0.5


def of_places(source, neighbor, edge, state):
    return 0.5, source


@pytest.mark.parametrize(("functor", "into", "text"), [
    (one_number, "low", "one_number.*must be a tuple of 3 numbers|expected a tuple of 3"),
    (of_reals, "low", "of_reals.*float64, which does not go into a field of int32|cannot hold"),
])  # fmt: skip
def test_a_functor_that_returns_another_element_is_named(functor, into, text):
    wrong = bf.Program({into: PROGRAM.fields[into]}, step=[bf.Advance(functor, into=into)])
    for where in ({}, {"devices": "python"}):
        with pytest.raises(bf.FunctorError, match=text):
            bf.run(wrong, bf.generate("path:3"), frontier=[0], **where)


def test_the_number_of_a_vertex_in_a_tuple_is_noticed():
    program = bf.Program({"best": PROGRAM.fields["best"]}, step=[bf.Advance(of_places, "best")])
    with pytest.raises(bf.BroadfrontError, match="of_places"):
        bf.run(program, bf.generate("path:3"), frontier=[0], devices=2, relabel=True)


def test_values_are_aligned_and_filled_up():
    assert layout([8, 8]) == ((0, 8), 16)
    assert layout([4, 2]) == ((0, 4), 8)
    assert layout([1, 8]) == ((0, 8), 16)
    assert layout([4] * 5) == ((0, 4, 8, 12, 16), 24)

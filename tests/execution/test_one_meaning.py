"""What once was silently wrong is right or refused, on every back end and number of devices.

A test for each kind of mistake that new users made, as they made it. Declarations that cannot be
are refused before anything runs (`test_arguments`), and so are functors that are no functions
(`test_faults`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import atomics
from broadfront.errors import FunctorError, OptionError

ALONE = [{"devices": "python"}, {"threads": 1}, {"threads": 2}]
SEVERAL = [
    {"devices": devices, "partitioner": partitioner}
    for devices in (2, 3, 4)
    for partitioner in ("range", "random", "metis")
]
NAMES = [
    "python",
    "one",
    "two threads",
    *("{devices} {partitioner}".format(**at) for at in SEVERAL),
]

everywhere = pytest.mark.parametrize("where", [*ALONE, *SEVERAL], ids=NAMES)
alone = pytest.mark.parametrize("where", ALONE, ids=NAMES[:3])
several = pytest.mark.parametrize("where", SEVERAL, ids=NAMES[3:])


# ---------------------------------------------------------------------- proposals


def own(vertex: int, state: Any) -> None:
    state.label[vertex] = state.ids[vertex]


def hand(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.label[source]


SPOILED = bf.Program(
    {"label": bf.Field("vertex", combine="min")},
    phases=[bf.Phase([bf.Compute(own)]), bf.Phase([bf.Advance(hand, into="label")])],
)


@everywhere
def test_stale_copies_swallow_no_proposals(where: dict[str, Any]) -> None:
    pairs = bf.from_edges([0, 2, 4], [1, 3, 5], directed=False)
    assert bf.run(SPOILED, pairs, frontier=range(6), **where)["label"].tolist() == [
        0,
        0,
        2,
        2,
        4,
        4,
    ]


def one_more(source: int, neighbor: int, edge: int, state: Any) -> int:
    return 1


def always(vertex: int, before: Any, after: Any, state: Any) -> bool:
    return True


COUNTED = bf.Program(
    {"heard": bf.Field(np.int64, combine="sum"), "max_": bf.Field(np.int64),
     "a__b": bf.Field(np.int64)},
    phases=[bf.Phase([bf.Advance(one_more, into="heard", activate=always)], limit=1)],
)  # fmt: skip


@everywhere
def test_a_vertex_is_in_a_frontier_once(where: dict[str, Any]) -> None:
    answer = bf.run(COUNTED, bf.generate("star:5"), frontier=range(5), **where)
    assert answer.frontier.tolist() == [0, 1, 2, 3, 4]
    assert answer["heard"].tolist() == [4, 1, 1, 1, 1]
    assert not answer["max_"].any()
    assert not answer["a__b"].any()


def one_hop(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return state.hops[source] + 1


@everywhere
def test_an_iteration_goes_one_edge_far(where: dict[str, Any]) -> None:
    program = bf.Program(
        {"hops": bf.Field(np.int64, fill=99, combine="min")},
        phases=[bf.Phase([bf.Advance(one_hop, into="hops")], limit=1)],
    )
    answer = bf.run(
        program, bf.generate("path:5"), frontier=range(5), init={"hops": {0: 0}}, **where
    )
    assert answer["hops"].tolist() == [0, 1, 99, 99, 99]


# ---------------------------------------------------------------------- places far away


def of_parent(vertex: int, state: Any) -> None:
    state.found[vertex] = 10 * state.value[state.parent[vertex]] + state.value[0]


def of_first(vertex: int, state: Any) -> None:
    state.found[vertex] = state.value[0]


FAR = {"found": bf.Field(np.int64), "value": bf.Field(np.int64), "parent": bf.Field("vertex")}
OF_PARENT, OF_FIRST = (bf.Program(FAR, step=[bf.Compute(each)]) for each in (of_parent, of_first))
VALUES = {"value": np.array([7, 1, 2, 3, 4]), "parent": np.array([1, 2, 3, 4, 0], np.int32)}


@alone
def test_one_device_may_look_far(where: dict[str, Any]) -> None:
    found = bf.run(OF_PARENT, bf.generate("path:5"), init=VALUES, **where)["found"]
    assert found.tolist() == [17, 27, 37, 47, 77]


@several
@pytest.mark.parametrize("program", [OF_PARENT, OF_FIRST], ids=["parent", "constant"])
def test_several_devices_refuse_to_look_far(program: bf.Program, where: dict[str, Any]) -> None:
    with pytest.raises(FunctorError, match="nor a neighbour.* let values travel"):
        bf.run(program, bf.generate("path:5"), init=VALUES, **where)


TABLE = np.array([3, 1, 4, 1, 5])
FACTOR = 1


def from_table(vertex: int, state: Any) -> None:
    state.found[vertex] = FACTOR * TABLE[vertex]
    atomics.maximum(state.shared, vertex, FACTOR * TABLE[vertex])


FROM_TABLE = bf.Program(
    {"found": bf.Field(np.int64), "shared": bf.Field(np.int64, length=5, combine="max")},
    step=[bf.Compute(from_table)],
)


@everywhere
def test_arrays_from_around_go_by_the_ids_of_the_graph(
    where: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for factor in (1, 2):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        answer = bf.run(FROM_TABLE, bf.generate("path:5"), **where)
        assert answer["found"].tolist() == (factor * TABLE).tolist()
        assert answer["shared"].tolist() == (factor * TABLE).tolist()


def from_table_of_edges(source: int, neighbor: int, edge: int, state: Any) -> Any:
    return TABLE[edge]


@several
def test_several_devices_refuse_numbers_of_edges(where: dict[str, Any]) -> None:
    fields = {"found": bf.Field(np.int64, combine="max")}
    program = bf.Program(fields, step=[bf.Advance(from_table_of_edges, into="found")])
    with pytest.raises(FunctorError, match=r"graph\.with_edge_data\(name=array\)"):
        bf.run(program, bf.from_edges([0, 1], [1, 2]), frontier=[0], **where)


# ---------------------------------------------------------------------- the graph


def set_weight(source: int, neighbor: int, edge: int, state: Any) -> int:
    state.weight[edge] = 5
    return 1


def weight_of_others(vertex: int, state: Any) -> None:
    for arc in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
        state.found[vertex] += state.weight[arc]


def weight_of_incoming(vertex: int, state: Any) -> None:
    for arc in range(state.in_offsets[vertex], state.in_offsets[vertex + 1]):
        state.found[vertex] += state.in_weight[arc]


WEIGHED = {"found": bf.Field(np.int64, combine="max")}


def weighed() -> bf.Graph:
    return bf.from_edges([0, 0, 1, 3, 4], [1, 2, 2, 0, 2], weight=[5, 7, 9, 11, 13])


@everywhere
def test_the_graph_is_only_read_and_each_side_has_its_weights(where: dict[str, Any]) -> None:
    graph = weighed()
    for operator, words in (
        (bf.Advance(set_weight, into="found"), r"sets state\.weight, which belongs to the graph"),
        (bf.Compute(weight_of_others), r"an incoming edge has its weight in state\.in_weight"),
    ):
        with pytest.raises(FunctorError, match=words):
            bf.run(bf.Program(WEIGHED, step=[operator]), graph, frontier=[0], **where)
    assert graph.weights.tolist() == [5, 7, 9, 11, 13]
    program = bf.Program(WEIGHED, step=[bf.Compute(weight_of_incoming)], unordered=True)
    assert bf.run(program, graph, **where)["found"].tolist() == [11, 5, 29, 0, 0]


# ---------------------------------------------------------------------- what a run is given


@everywhere
def test_frontiers_and_starts_are_what_they_say(where: dict[str, Any]) -> None:
    path = bf.generate("path:6")
    mask = np.array([False, False, False, False, True, False])
    begin: Any = {"label": np.arange(6)[::-1]}
    answer = bf.run(SPOILED, path, frontier=mask, init=begin, **where)
    assert answer["label"].tolist() == [0, 1, 2, 3, 4, 4]
    with pytest.raises(OptionError, match=r"no frontier to begin with: give run\(frontier=...\)"):
        bf.run(SPOILED, path, init=begin, **where)
    assert bf.run(SPOILED, path, frontier=[], **where)["label"].tolist() == list(range(6))
    for frontier, init in (
        ([0.5], {}), ([-1], {}), ([6], {}), ([0], {"label": {-1: 0}}), ([0], {"label": {0: 7.5}}),
        ([0], {"label": np.full(6, 7.5)}), ([0], {"nobody": {0: 1}}),
    ):  # fmt: skip
        with pytest.raises(OptionError):
            bf.run(SPOILED, path, frontier=frontier, init=init, **where)

"""Unite: sets that edges hold together, against SciPy, on one device and on many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import broadfront as bf
from broadfront import Field, Phase, Program, Reduce, Unite
from broadfront.backends.cpu.device.workspace import release
from broadfront.backends.cpu.exchange.blocks import NAMES
from broadfront.devices.choose import choose
from broadfront.errors import DeviceError, DeviceMemoryError
from jobs import run_on
from zoo import Animal, edges

THREADS = [1, 2, 4]
DEVICES = [2, 3, 8]
PARTITIONERS = ["random", "range", "static"]


def goes_up(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    """Count one way and not the other, and only where values are close."""
    return state.value[source] < state.value[neighbor] < state.value[source] + state.most


ALL = Program({"component": Field("vertex")}, step=[Unite("component")])
SOME = Program(
    {"value": Field(np.int64), "component": Field("vertex")},
    step=[Unite("component", goes_up)],
    parameters=["most"],
)


def values(graph: bf.Graph) -> Any:
    return np.random.default_rng(3).integers(0, 10, graph.num_vertices)


def smallest(graph: bf.Graph, keep: Any = None) -> list[int]:
    """Return the smallest vertex of each one's component, of the arcs that are kept."""
    size = graph.num_vertices
    if size == 0:
        return []
    source = np.repeat(np.arange(size), np.diff(graph.offsets))
    kept = np.ones(len(source), bool) if keep is None else keep(source, graph.targets)
    ends = (source[kept], graph.targets[kept])
    count, classes = connected_components(
        coo_array((np.ones(kept.sum()), ends), (size, size)), connection="weak"
    )
    least = np.full(count, size)
    np.minimum.at(least, classes, np.arange(size))
    return least[classes].tolist()


def smallest_of_some(graph: bf.Graph, most: int) -> list[int]:
    value = values(graph)
    return smallest(
        graph,
        lambda left, right: (value[left] < value[right]) & (value[right] < value[left] + most),
    )


def check(graph: bf.Graph, **where: Any) -> None:
    assert bf.run(ALL, graph, **where)["component"].tolist() == smallest(graph)
    for most in (2, 6):
        answer = bf.run(
            SOME, graph, init={"value": values(graph)}, parameters={"most": most}, **where
        )
        assert answer["component"].tolist() == smallest_of_some(graph, most)


# ---------------------------------------------------------------------- one device


@pytest.mark.parametrize("threads", THREADS)
def test_zoo(animal: Animal, threads: int) -> None:
    check(animal.graph(), threads=threads)


@given(edges(), st.sampled_from(THREADS))
def test_any_graph(animal: Animal, threads: int) -> None:
    check(animal.graph(), threads=threads)


@pytest.mark.parametrize(
    "spec", ["kron:12", "grid:60x60:0.5", "rmat:11:2:directed=yes", "path:5000"]
)
@pytest.mark.parametrize("threads", THREADS)
def test_larger_graphs(spec: str, threads: int) -> None:
    check(bf.generate(spec), threads=threads)


def test_each_source_by_itself() -> None:
    graph = bf.generate("grid:20x20:0.5")
    answer = bf.run_each(ALL, graph, frontier=[0, 5], threads=2)
    assert answer["component"].tolist() == [smallest(graph)] * 2


def test_what_is_refused() -> None:
    with pytest.raises(bf.OptionError, match="no field 'component'"):
        Program({"other": Field("vertex")}, step=[Unite("component")])
    with pytest.raises(bf.OptionError, match="'component' takes ids"):
        Program({"component": Field(np.float64)}, step=[Unite("component")])
    with pytest.raises(bf.OptionError, match="leave length out"):
        Program({"component": Field("vertex", length=1)}, step=[Unite("component")])


def test_a_functor_that_does_not_compile() -> None:
    def wrong(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
        return state.missing[source]

    program = Program({"component": Field("vertex")}, step=[Unite("component", wrong)])
    with pytest.raises(bf.FunctorError, match="functor wrong does not compile"):
        bf.run(program, bf.generate("path:4"))


def test_the_record_says_so() -> None:
    record = bf.run(ALL, bf.generate("grid:10x10")).record
    assert record.strategy.tolist() == ["unite"]
    assert record.iterations == 1


# ---------------------------------------------------------------------- many devices


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize("devices", DEVICES)
def test_zoo_on_many_devices(animal: Animal, devices: int, relabel: bool) -> None:
    graph = animal.graph()
    for partitioner in PARTITIONERS:
        check(graph, devices=devices, partitioner=partitioner, relabel=relabel)


@given(edges(), st.sampled_from([1, *DEVICES]), st.sampled_from(PARTITIONERS), st.booleans())
def test_any_graph_on_many_devices(
    animal: Animal, devices: int, partitioner: str, relabel: bool
) -> None:
    check(animal.graph(), devices=devices, partitioner=partitioner, relabel=relabel)


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize(
    "spec", ["kron:12", "grid:60x60:0.5", "grid:100x100", "rmat:11:2:directed=yes", "uniform:12:1"]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_larger_graphs_on_many_devices(spec: str, relabel: bool, threads: int) -> None:
    graph = bf.generate(spec)
    for devices in DEVICES:
        for partitioner in PARTITIONERS:
            check(
                graph, devices=[f"cpu*{threads}"] * devices, partitioner=partitioner,
                relabel=relabel,
            )  # fmt: skip


def clique(vertices: Any) -> Any:
    """Return the edges between all of some vertices."""
    left, right = np.triu_indices(len(vertices), 1)
    return np.array([vertices[left], vertices[right]])


def parity() -> tuple[Any, Any]:
    """Return two cliques, by id in turns, and an edge amid the rows of both its ends."""
    ids = np.arange(160)
    return [clique(ids[::2]), clique(ids[1::2]), [[80], [81]]], ids % 2


def pendants() -> tuple[Any, Any]:
    """Return two cliques, one with the other's pendants, and an edge that no sample looks at."""
    one, leaves, other = np.arange(201), np.arange(201, 401), np.arange(401, 621)
    hung = [np.delete(one, 1), leaves]
    return [clique(one), clique(other), hung, [[1], [401]]], np.arange(621) > 200


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("made", "relabel"), [(parity, False), (pendants, True)])
def test_an_edge_between_the_largest_trees_of_devices(
    made: Any, relabel: bool, threads: int
) -> None:
    """Both devices pass over it at first; with it and without, a second round sets it right."""
    pieces, owner = made()
    for joined in (True, False):
        kept = np.hstack(pieces if joined else pieces[:-1])
        graph = bf.from_edges(kept[0], kept[1], num_vertices=len(owner), directed=False)
        answer = bf.run(
            ALL, graph, devices=[f"cpu*{threads}"] * 2, relabel=relabel,
            partitioner=lambda graph, wish: owner.astype(np.int32),
        )  # fmt: skip
        assert answer["component"].tolist() == smallest(graph)
        if joined:
            assert answer.record.iterations == 2
            assert answer.record.edges[1] > graph.num_arcs // 2
    assert len(set(answer["component"].tolist())) == 2


def test_the_largest_trees_meet_by_a_few_edges_of_the_border() -> None:
    graph = bf.generate("grid:100x100")
    answer = bf.run(ALL, graph, devices=3, partitioner="range")
    assert answer.record.iterations == 1
    assert int(answer.record.edges.sum()) < graph.num_arcs


def offer(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
    return state.component[neighbor]


def keep(vertex, total, state):  # type: ignore[no-untyped-def]
    state.of_neighbours[vertex] = total


def test_neighbours_can_be_asked_for_the_outcome() -> None:
    program = Program(
        {"component": Field("vertex"), "of_neighbours": Field(np.float64)},
        phases=[
            Phase([Unite("component"), Reduce(offer, keep, identity=-1.0, combine="max")], limit=2)
        ],
    )
    graph = bf.generate("grid:30x30:0.5")
    one = bf.run(program, graph)
    for relabel in (True, False):
        many = bf.run(program, graph, devices=3, relabel=relabel)
        assert many["component"].tolist() == one["component"].tolist()
        assert many["of_neighbours"].tolist() == one["of_neighbours"].tolist()


@pytest.mark.parametrize("block", ["package", "push", "unpackage", "convergence"])
@pytest.mark.parametrize("device", [0, 2])
def test_a_device_that_fails_ends_the_run(block: str, device: int) -> None:
    graph = bf.generate("grid:30x30:0.5")
    with pytest.raises(DeviceError) as caught:
        run_on(ALL, bf.split(graph, 3, "random"), choose(3), (), {}, {},
               fault=(device, NAMES[block], 0))  # fmt: skip
    assert caught.value.device == device


def test_a_box_that_does_not_fit() -> None:
    graph = bf.generate("grid:30x30:0.5")
    told = bf.run(ALL, graph, devices=3).record.devices
    limit = max(one.bytes - one.box_bytes for one in told)
    release()  # boxes are kept
    with pytest.raises(DeviceMemoryError):
        bf.run(ALL, graph, devices=3, memory_limit=limit)

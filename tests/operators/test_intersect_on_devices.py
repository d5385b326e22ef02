"""Intersect on many devices: the same answers as on one, in all of its forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import broadfront as bf
from broadfront import atomics
from broadfront.algorithms.triangles import TOTAL
from broadfront.algorithms.undirected import undirected
from broadfront.backends.cpu.device.workspace import release
from broadfront.backends.cpu.exchange.blocks import CONVERGENCE, PACKAGE, PUSH, UNPACKAGE
from broadfront.devices.choose import choose
from broadfront.errors import DeviceError, DeviceMemoryError, OptionError, TimeLimitError
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.operators.describe import Field, Intersect
from jobs import run_on
from zoo import Animal, edges

FAR = 1 << 40
DEVICES = [(2, "random", 1), (3, "range", 2), (8, "static", 1)]


def tell_corners(first, second, third, state):
    one, two, three = state.ids[first], state.ids[second], state.ids[third]
    for corner in (first, second, third):
        atomics.add(state.count, corner, 1)
        atomics.add(state.others, corner, one + two + three)
        atomics.minimum(state.least, corner, min(one, two, three))
        atomics.bitwise_or(state.bits, corner, 1 << (one + two + three) % 60)


CORNERS = Program(
    {
        "total": Field(np.int64, length=1),
        "count": Field(np.int64, combine="sum"),
        "others": Field(np.int64, combine="sum"),
        "least": Field(np.int64, fill=FAR, combine="min"),
        "bits": Field(np.int64, combine="or"),
    },
    [Intersect(tell_corners, each="triangle", total="total")],
)


def tell_ends(first, second, edge, common, state):
    one, two = state.ids[first], state.ids[second]
    if one >= two or state.targets[edge] != second:
        atomics.add(state.wrong, first, 1)
    atomics.add(state.here, first, (two + 1) * common + (common << 40))
    atomics.add(state.there, second, (one + 1) * common + 1)
    atomics.add(state.along, first, np.int64(state.weight[edge]))


ENDS = Program(
    {
        "total": Field(np.int64, length=1),
        "wrong": Field(np.int64, combine="sum"),
        "here": Field(np.int64, combine="sum"),
        "there": Field(np.int64, combine="sum"),
        "along": Field(np.int64, combine="sum"),
    },
    [Intersect(tell_ends, each="edge", total="total")],
)


def keep_count(vertex, count, state):
    state.count[vertex] += count


COUNTS = Program(
    {"count": Field(np.int64), "total": Field(np.int64, length=1)},
    [Intersect(keep_count, each="vertex", total="total")],
)


def weighted(animal: Animal) -> bf.Graph:
    """The animal without directions, with whole weights."""
    weight = [float(place % 7) for place in range(len(animal.source))]
    return Animal(animal.source, animal.target, animal.num_vertices, weight, False).graph()


def same_as_alone(program: Program, graph: bf.Graph, **options: Any) -> None:
    alone, together = run(program, graph), run(program, graph, **options)
    for name in program.fields:
        np.testing.assert_array_equal(alone[name], together[name], err_msg=name)


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize(("devices", "partitioner", "threads"), DEVICES)
class TestZoo:
    def test_triangles(self, animal, devices, partitioner, threads, relabel):
        graph = animal.graph()
        alone = bf.triangles(graph)
        found = bf.triangles(
            graph, devices=devices, partitioner=partitioner, threads=threads, relabel=relabel
        )
        assert found.total == alone.total
        np.testing.assert_array_equal(found.per_vertex, alone.per_vertex)
        found.verify()

    @pytest.mark.parametrize("program", [CORNERS, ENDS, COUNTS], ids=["corners", "ends", "counts"])
    def test_functors(self, animal, devices, partitioner, threads, relabel, program):
        same_as_alone(
            program, weighted(animal), devices=devices, partitioner=partitioner, threads=threads,
            relabel=relabel,
        )  # fmt: skip


def split_by(numbers: list[int]) -> Callable[[bf.Graph, int], Any]:
    """Return a partitioner that goes by some numbers; devices may be left without vertices."""
    return lambda graph, count: np.resize(np.array(numbers) % count, graph.num_vertices)


@given(
    edges(), st.integers(2, 5), st.lists(st.integers(0, 100), min_size=1, max_size=40),
    st.integers(1, 2), st.booleans(),
)  # fmt: skip
@settings(max_examples=40)
def test_any_graph_split_in_any_way(animal, devices, numbers, threads, relabel):
    options = {
        "devices": devices, "partitioner": split_by(numbers), "threads": threads, "relabel": relabel
    }  # fmt: skip
    graph = animal.graph()
    alone, found = bf.triangles(graph), bf.triangles(graph, **options)
    assert found.total == alone.total
    np.testing.assert_array_equal(found.per_vertex, alone.per_vertex)
    for program in (CORNERS, ENDS):
        same_as_alone(program, weighted(animal), **options)


@pytest.mark.parametrize("relabel", [True, False])
@pytest.mark.parametrize("spec", ["kron:10", "rgg:10", "complete:60", "grid:20x20"])
def test_larger_graphs(spec, relabel):
    plain = bf.generate(spec)
    weight = np.arange(len(plain.targets)) % 5
    graph = bf.from_edges(
        plain.sources(), plain.targets, weight.astype(float), plain.num_vertices, directed=False
    )
    for devices, partitioner, threads in DEVICES:
        for program in (CORNERS, ENDS, COUNTS):
            same_as_alone(
                program, graph, devices=devices, partitioner=partitioner, threads=threads,
                relabel=relabel,
            )  # fmt: skip


def test_one_device_that_is_given_a_part():
    graph = bf.generate("kron:8")
    for relabel in (True, False):
        found = bf.triangles(graph, devices=1, partitioner="range", relabel=relabel)
        assert found.total == bf.triangles(graph).total


def test_the_record_tells_what_was_sent():
    graph = bf.generate("kron:8")
    found = bf.triangles(graph, devices=2)
    assert found.report.edges.sum() > 0
    for number, device in enumerate(found.report.devices):
        assert device.sent_vertices.sum() > 0
        assert device.sent_bytes[:, 1 - number].sum() > 8 * device.ghosts
        assert device.sent_bytes[:, number].sum() == 0


@pytest.mark.parametrize("block", [PACKAGE, PUSH, UNPACKAGE, CONVERGENCE])
@pytest.mark.parametrize("after", [0, 1])
def test_a_failing_device_stops_all(block, after):
    partition = bf.split(bf.generate("kron:8"), 3, "random")
    with pytest.raises(DeviceError, match="cpu:1 failed"):
        run_on(TOTAL, partition, choose(3, 1), (), {}, {}, fault=(1, block, after))
    again = run_on(TOTAL, partition, choose(3, 1), (), {}, {})
    assert again["total"][0] == bf.triangles(partition.graph).total


def test_limits():
    graph = bf.generate("kron:12")
    expected = bf.triangles(graph).total
    release()
    held = bf.triangles(graph, devices=2).report.devices
    before = [one.part_bytes + one.field_bytes + one.workspace_bytes for one in held]
    boxes = min(one.box_bytes for one in held)
    for share in (0.2, 0.5, 0.9):
        release()
        limit = min(before) + int(share * boxes)
        with pytest.raises(DeviceMemoryError, match="memory_limit"):
            bf.triangles(graph, devices=2, memory_limit=limit)
    with pytest.raises(TimeLimitError):
        bf.triangles(graph, devices=2, time_limit=1e-6)
    assert bf.triangles(graph, devices=2, memory_limit=100_000_000).total == expected


def test_a_directed_graph_is_refused_by_the_operator_and_taken_by_the_primitive():
    graph = bf.from_edges([0, 1, 2, 0], [1, 2, 0, 2], directed=True)
    with pytest.raises(OptionError, match="undirected"):
        run(TOTAL, graph, devices=2)
    assert bf.triangles(graph, devices=2).total == 1
    partition = bf.split(undirected(graph), 2, "range")
    assert bf.triangles(graph, devices=2, partitioner=partition).total == 1

"""Distributed worklists against plain Python: answers, counts, priorities, errors."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.routing import (
    KEEP,
    PASS,
    Collectives,
    Context,
    DistributedWorklist,
    first_available,
)
from routing.dataflows import Numbers

DEVICES = [1, 2, 3, 8]


@given(
    st.lists(st.integers(0, 30), max_size=8), st.sampled_from(DEVICES), st.sampled_from([None, 2])
)
def test_every_item_is_done_once(first: list[int], devices: int, batch: int | None) -> None:
    numbers = Numbers(devices, first, batch=batch)
    numbers.worklist.run(time_limit=60)
    numbers.check_done()
    rows = numbers.context.report.endpoints
    total = numbers.done.total()
    assert sum(row["produced"] for row in rows) == sum(row["consumed"] for row in rows) == total


@pytest.mark.parametrize("devices", DEVICES)
@pytest.mark.parametrize("delta", [0, 1, 1000])
def test_shortest_paths_by_priority(devices: int, delta: int) -> None:
    """Items are vertices with distances; those superseded are dropped on the way."""
    graph = nx.gnm_random_graph(60, 200, seed=3)
    draw = np.random.default_rng(0)
    weight = {edge: int(draw.integers(1, 20)) for edge in graph.edges}
    nx.set_edge_attributes(graph, weight, "weight")
    item = np.dtype([("vertex", np.int32), ("distance", np.int32)])
    context = Context(devices)
    best = [np.full(60, 1 << 30) for _ in context.devices]

    def better(device, items):
        own = items["vertex"] % devices == device.index
        improves = items["distance"] < best[device.index][items["vertex"]]
        np.minimum.at(best[device.index], items["vertex"], items["distance"])
        return np.where(improves, np.where(own, KEEP, PASS), 0)

    def relax(device, items):
        current = items[items["distance"] == best[device.index][items["vertex"]]]
        worklist.add_useless(device, len(items) - len(current))
        return np.array(
            [
                (neighbor, distance + graph[vertex][neighbor]["weight"])
                for vertex, distance in current.tolist()
                for neighbor in graph[vertex]
            ],
            item,
        )

    worklist = DistributedWorklist(
        context, relax, on_send=better,
        on_receive=lambda device, items: np.where(
            items["vertex"] % devices != device.index, PASS, better(device, items)
        ),
        priority=lambda device, items: items["distance"], delta=delta,
    )  # fmt: skip
    worklist.push(np.array([(0, 0)], item))
    worklist.run(time_limit=60)
    found = {
        vertex: int(best[vertex % devices][vertex])
        for vertex in range(60)
        if best[vertex % devices][vertex] < 1 << 30
    }
    assert found == nx.single_source_dijkstra_path_length(graph, 0)
    assert sum(row["useless"] for row in context.report.endpoints) > 0


def test_items_are_packed_on_the_way() -> None:
    context = Context(2)
    seen = []

    def work(device, items):
        assert items.dtype == np.int64
        seen.extend(items.tolist())
        return items[items > 0] - 1

    def where(device, items):
        return np.where(items % 2 == device.index, KEEP, PASS)

    worklist = DistributedWorklist(
        context, work, on_send=where, on_receive=where,
        pack=lambda device, items: items.astype(np.int16),
        unpack=lambda device, items: items.astype(np.int64),
    )  # fmt: skip
    worklist.push([9])
    worklist.run()
    assert sorted(seen) == list(range(10))
    assert sum(row["bytes"] for row in context.report.links if row["source"] == "cpu:1") == 2 * 5


def test_more_work_than_all_buffers_hold() -> None:
    """All devices send much more than fits the buffers, at the same time."""
    numbers = Numbers(3, [], packet_size=16)
    for device in numbers.context.devices:
        numbers.worklist.push(np.full(1000, 4), device)
    numbers.worklist.run(time_limit=60)
    assert numbers.done == Counter(dict.fromkeys(range(5), 3000))


def test_work_goes_to_whoever_is_free() -> None:
    context = Context(3)
    done = []

    def work(device, items):
        done.extend(items.tolist())

    worklist = DistributedWorklist(
        context, work, on_send=lambda device, items: PASS, policy=first_available, packet_size=8
    )
    worklist.push(np.arange(50))
    worklist.run()
    assert sorted(done) == list(range(50))


def test_items_that_nobody_keeps_are_an_error() -> None:
    context = Context(3)
    worklist = DistributedWorklist(
        context, lambda device, items: items,
        on_send=lambda device, items: PASS, on_receive=lambda device, items: PASS,
    )  # fmt: skip
    worklist.push([5])
    with pytest.raises(bf.RoutingError, match="1 items, as 5, were passed by all 3 devices"):
        worklist.run(time_limit=60)


def test_an_error_in_work_ends_all_and_the_next_run_works() -> None:
    numbers = Numbers(3, [20, 7])
    numbers.worklist._work = lambda device, items: 1 // 0
    with pytest.raises(ZeroDivisionError):
        numbers.worklist.run(time_limit=60)
    numbers.worklist._work = numbers.work
    numbers.worklist.push([8], numbers.context.devices[2])
    numbers.worklist.run(time_limit=60)
    assert numbers.done == Counter(range(9))


def test_priorities_must_be_finite() -> None:
    worklist = DistributedWorklist(
        Context(1), lambda device, items: None, priority=lambda device, items: items / 0.0
    )
    with np.errstate(divide="ignore"), pytest.raises(bf.RoutingError, match="no finite number"):
        worklist.push([1])


@pytest.mark.parametrize("devices", [1, 2, 3, 5, 8])
def test_collectives(devices: int) -> None:
    context = Context(devices)
    group = Collectives(context, packet_size=64)
    answers = {}

    def work(device) -> None:
        place = device.index
        table = np.arange(40).reshape(8, 5) * (place + 1)
        answers[place] = (
            group.broadcast(device, table if place == devices - 1 else None, root=devices - 1),
            group.gather(device, table[:place]),
            group.gather(device, [place], root=devices // 2),
            group.all_reduce(device, table),
            group.all_reduce(device, [float(place)], np.maximum),
        )

    for device in context.devices:
        device.assign(work, device)
    context.run(time_limit=60)
    whole = np.arange(40).reshape(8, 5)
    for place, (sent, rows, places, total, most) in answers.items():
        np.testing.assert_array_equal(sent, whole * devices)
        np.testing.assert_array_equal(total, whole * devices * (devices + 1) // 2)
        assert most.tolist() == [devices - 1]
        assert (rows is None) == (place != 0)
        assert (places is None) == (place != devices // 2)
    assert [row.shape for row in answers[0][1]] == [(place, 5) for place in range(devices)]
    assert np.concatenate(answers[devices // 2][2]).tolist() == list(range(devices))


def test_a_reduction_of_different_shapes_is_refused() -> None:
    context = Context(2)
    group = Collectives(context)
    for device in context.devices:
        device.assign(lambda each: group.all_reduce(each, np.zeros(each.index + 1)), device)
    with pytest.raises(bf.RoutingError, match=r"\(1,\) on cpu:0, and \(2,\) on cpu:1"):
        context.run(time_limit=60)

"""Asynchronous answers are those of one device, for every program, partitioner and way to keep ids.

Each problem is one compiled worker for each way to keep ids, and all tests here share it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from most_reliable_path import MOST_RELIABLE_PATH
from problems import PROBLEMS, Problem, same
from zoo import ZOO, Animal, edges

DEVICES = [1, 2, 3, 4, 8]
NAMES = ("bfs", "components", "reachability", "sssp", "widest path")
CASES = [(name, True) for name in NAMES] + [("bfs", False)]
PARTITIONERS: list[Any] = ["random", "static", "range", "biased", "metis"]
WAYS = [
    "async", bf.Async(fused=False), bf.Async(packet=2, slots=1), bf.Async(band=0),
]  # fmt: skip


@pytest.fixture(
    params=CASES, ids=[f"{name}, {'new' if new else 'kept'} ids" for name, new in CASES]
)
def case(request: pytest.FixtureRequest) -> tuple[Problem, bool]:
    name, relabel = request.param
    return PROBLEMS[name], relabel


def test_the_zoo(case: tuple[Problem, bool]) -> None:
    problem, relabel = case
    for number, animal in enumerate(ZOO.values()):
        graph = problem.graph(animal)
        if not problem.suits(graph):
            continue
        expected = problem.solve(graph, threads=1)
        for turn, devices in enumerate(DEVICES):
            found = problem.solve(
                graph, devices=devices, relabel=relabel, execution=WAYS[(number + turn) % 4],
                partitioner=PARTITIONERS[(number + turn) % len(PARTITIONERS)],
            )  # fmt: skip
            same(problem, found, expected)


@given(animal=edges(), devices=st.sampled_from(DEVICES), by=st.sampled_from(PARTITIONERS),
       way=st.sampled_from(WAYS))  # fmt: skip
def test_any_graph(
    case: tuple[Problem, bool], animal: Animal, devices: int, by: Any, way: Any
) -> None:
    problem, relabel = case
    graph = problem.graph(animal)
    expected = problem.solve(graph, threads=1)
    found = problem.solve(graph, devices=devices, relabel=relabel, partitioner=by, execution=way)
    same(problem, found, expected)


def test_real_graphs(case: tuple[Problem, bool], real_graphs: Any) -> None:
    problem, relabel = case
    for name, devices, by in product(("karate", "lesmis"), (2, 4), ("metis", "range")):
        graph = bf.read(real_graphs / f"{name}.graph")
        if problem.weighted:
            tails, heads = graph.sources(), graph.targets
            weight = 1.0 + (tails * 7 + heads * 7) % 13
            graph = bf.from_edges(tails, heads, weight=weight, num_vertices=graph.num_vertices)
        expected = problem.solve(graph, threads=1)
        found = problem.solve(
            graph, devices=devices, partitioner=by, relabel=relabel, execution="async"
        )
        same(problem, found, expected)


def test_roads(real_graphs: Any) -> None:
    graph = bf.read(real_graphs / "USA-road-d.NY.gr.gz")
    source = graph.labels[1000]
    distance = bf.sssp(graph, source).distance
    depth = bf.bfs(graph, source).depth
    for devices, by in ((2, "metis"), (4, "range"), (8, "random")):
        where: dict[str, Any] = {"devices": devices, "partitioner": by, "execution": "async"}
        np.testing.assert_array_equal(bf.sssp(graph, source, **where).distance, distance)
        found = bf.bfs(graph, source, **where)
        np.testing.assert_array_equal(found.depth, depth)
        found.verify()


def test_a_band_without_end() -> None:
    """It once grew until it overflowed, and nobody served anything any more."""
    graph = bf.generate("grid:10x400")
    far = bf.Async(band=1 << 62)
    found = bf.bfs(graph, 0, devices=2, partitioner="range", execution=far, time_limit=60)
    np.testing.assert_array_equal(found.depth, bf.bfs(graph, 0).depth)
    assert found.report.work.consumed.min() > 1000


def test_networkx_agrees() -> None:
    graph = bf.generate("uniform:9:4:weights=1-63:seed=3")
    tails, heads = graph.sources().tolist(), graph.targets.tolist()
    plain = nx.DiGraph()
    plain.add_nodes_from(range(graph.num_vertices))
    plain.add_weighted_edges_from(zip(tails, heads, graph.weights.tolist(), strict=True))
    found = bf.sssp(graph, 0, devices=3, execution="async")
    lengths = nx.single_source_dijkstra_path_length(plain, 0)
    assert {int(v): int(found.distance[v]) for v in np.flatnonzero(found.reached)} == lengths
    hops = nx.single_source_shortest_path_length(plain, 0)
    depth = bf.bfs(graph, 0, devices=3, execution="async").depth
    assert {int(v): int(depth[v]) for v in np.flatnonzero(depth >= 0)} == hops


def test_a_monoid_of_records() -> None:
    """It takes a promise: nobody can prove that the order does not matter."""
    draw = np.random.default_rng(3)
    tails, heads = draw.integers(0, 60, (2, 200))
    graph = bf.from_edges(tails, heads, weight=draw.integers(1, 9, 200) / 10, num_vertices=60)
    given: dict[str, Any] = {"frontier": [0], "init": {"way": {0: (1.0, 0, 0)}}}
    expected = bf.run(MOST_RELIABLE_PATH, graph, **given)["way"]
    (operator,) = MOST_RELIABLE_PATH.operators
    promised = replace(MOST_RELIABLE_PATH, step=[replace(operator, synchronous=False)], phases=())
    for devices in (2, 4):
        found = bf.run(promised, graph, devices=devices, execution="async", **given)["way"]
        np.testing.assert_array_equal(found, expected)

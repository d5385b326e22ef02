"""Deep graphs: one thread runs small frontiers alone, devices meet seldom, answers stay the same.

The graphs have small frontiers for long, large ones in between, and both in turns. Oracles are
SciPy and what a frontier must be; programs are those that other tests compile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

import broadfront as bf
from broadfront import threads as bf_threads
from broadfront.backends.cpu.operators.buckets import sensible_width
from problems import PROBLEMS, same

THREADS = (1, 2, 3)


def chained(bulge: int, length: int, times: int, weights: bool = False) -> bf.Graph:
    """Return paths that open into layers of `bulge` vertices and close again, in turns."""
    source: list[np.ndarray] = []
    target: list[np.ndarray] = []
    first = 0
    for _ in range(times):
        path = np.arange(first, first + length)
        source.append(path)
        target.append(path + 1)
        end = first + length
        layer = end + 1 + np.arange(bulge)
        source.append(np.full(bulge, end))
        target.append(layer)
        for step in (1, 7, 31):
            source.append(layer)
            target.append(layer + bulge + (np.arange(bulge) * step) % 3 - 1)
        first = int(layer[-1]) + bulge + 2
        source.append(layer + bulge)
        target.append(np.full(bulge, first))
    tails, heads = np.concatenate(source), np.concatenate(target)
    weight = 1.0 + (tails * 7 + heads * 13) % 97 if weights else None
    return bf.from_edges(tails, heads, weight, directed=False)


PLAIN = chained(3000, 400, 3)
WEIGHTED = chained(3000, 400, 3, weights=True)


@pytest.fixture(scope="module")
def distances() -> np.ndarray:
    return dijkstra(WEIGHTED.to_scipy(), indices=0)


@pytest.fixture(scope="module")
def depths() -> np.ndarray:
    return dijkstra(PLAIN.to_scipy(), indices=0, unweighted=True)


@pytest.mark.parametrize("threads", THREADS)
def test_bfs_on_bulging_paths(depths: np.ndarray, threads: int) -> None:
    found = bf.bfs(PLAIN, 0, threads=threads)
    np.testing.assert_array_equal(found.depth, depths)
    found.verify()
    assert found.report.iterations == depths.max() + 1


@pytest.mark.parametrize("threads", THREADS)
def test_sssp_on_bulging_paths(distances: np.ndarray, threads: int) -> None:
    np.testing.assert_array_equal(bf.sssp(WEIGHTED, 0, threads=threads).distance, distances)


@pytest.mark.parametrize("threads", THREADS)
def test_sssp_to_a_target_on_bulging_paths(distances: np.ndarray, threads: int) -> None:
    target = int(np.argsort(distances)[len(distances) // 2])
    found = bf.sssp(WEIGHTED, 0, target=target, threads=threads)
    near = distances <= distances[target]
    np.testing.assert_array_equal(found.distance[near], distances[near])
    np.testing.assert_array_equal(found.reached, near)


@pytest.mark.parametrize("threads", THREADS)
def test_betweenness_on_bulging_paths(threads: int) -> None:
    one = bf.betweenness(PLAIN, sources=[0], threads=1)
    some = bf.betweenness(PLAIN, sources=[0], threads=threads)
    np.testing.assert_array_equal(some.centrality, one.centrality)


@pytest.mark.parametrize("devices", [2, 4, ["cpu*2", "cpu"]])
@pytest.mark.parametrize("partitioner", ["range", "random"])
def test_searches_on_several_devices(
    depths: np.ndarray, distances: np.ndarray, devices: Any, partitioner: str
) -> None:
    where: dict[str, Any] = {"devices": devices, "partitioner": partitioner}
    found = bf.bfs(PLAIN, 0, **where)
    np.testing.assert_array_equal(found.depth, depths)
    found.verify()
    assert found.report.iterations == depths.max() + 1
    np.testing.assert_array_equal(bf.sssp(WEIGHTED, 0, **where).distance, distances)


@pytest.mark.parametrize("name", ["reachability", "widest path", "k-core", "label propagation"])
def test_programs_mean_the_same(name: str) -> None:
    problem = PROBLEMS[name]
    graph = WEIGHTED if problem.weighted else PLAIN
    expected = problem.solve(graph, threads=1)
    for where in ({"threads": 2}, {"threads": 3}, {"devices": 3, "partitioner": "range"}):
        same(problem, problem.solve(graph, **where), expected)


def test_one_thread_meets_nobody_on_a_path() -> None:
    path = bf.generate("path:70000")
    found = bf.bfs(path, 0, threads=2)
    assert found.report.barriers < 10
    assert found.report.iterations == 70000
    assert found.report.edges_visited == 139998
    np.testing.assert_array_equal(found.depth, np.arange(70000))


def test_devices_seldom_meet_on_a_path() -> None:
    path = bf.generate("path:20000")
    found = bf.bfs(path, 0, devices=4, partitioner="range")
    np.testing.assert_array_equal(found.depth, np.arange(20000))
    report = found.report
    assert report.iterations == 20000
    assert report.edges_visited == 39998
    sent = sum(int((device.sent_bytes > 0).sum()) for device in report.devices)
    assert sent < 100  # messages in all; there were one for each iteration and pair


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("far", [1e9, 1e12])
def test_weights_of_any_spread(threads: int, far: float) -> None:
    """Two vertices wait far beyond the ring of buckets while a path is walked."""
    length = 20_000
    path = np.arange(length)
    tails = np.append(path, [0, 0])
    heads = np.append(path + 1, [length + 1, length + 2])
    weight = np.append(np.ones(length), [far, 1.5 * far])
    graph = bf.from_edges(tails, heads, weight)
    found = bf.sssp(graph, 0, threads=threads, time_limit=60)
    np.testing.assert_array_equal(found.distance, [*range(length + 1), far, 1.5 * far])
    assert found.report.iterations < 2 * length


@pytest.mark.parametrize("where", [{"threads": 1}, {"threads": 2}, {"devices": 2}])
def test_narrow_buckets(where: dict[str, Any]) -> None:
    graph = bf.from_edges([0, 1, 2, 0], [1, 2, 3, 3], [1e6, 2e6, 3e6, 5e6])
    found = bf.sssp(graph, 0, width=1e-3, time_limit=60, **where)
    np.testing.assert_array_equal(found.distance, [0, 1e6, 3e6, 5e6])


def test_random_parts_need_few_iterations() -> None:
    grid = bf.generate("grid:60x600").to_scipy().tocoo()
    weight = 1.0 + (grid.row * grid.col) % 251
    grid = bf.from_edges(grid.row, grid.col, weight, directed=False)
    width = sensible_width(grid, in_parts=True)
    one = bf.sssp(grid, 0, width=width)
    for devices in (2, 4):
        found = bf.sssp(grid, 0, devices=devices, partitioner="random", width=width)
        np.testing.assert_array_equal(found.distance, one.distance)
        assert found.report.iterations <= 2 * one.report.iterations


@pytest.mark.parametrize(
    "where", [{"threads": 2}, {"devices": 3, "partitioner": "range", "execution": "bsp"}]
)
def test_a_time_limit_holds_on_a_path(where: dict[str, Any]) -> None:
    path = bf.generate("path:3000000")
    bf.bfs(bf.generate("path:70000"), 0, **where)
    with pytest.raises(bf.TimeLimitError):
        bf.bfs(path, 0, time_limit=0.05, **where)
    assert bf.bfs(bf.generate("path:70000"), 0, **where).report.iterations == 70000


def test_one_thread_follows_a_path_by_default() -> None:
    path = bf.generate("path:100000:weights=1-9")
    found = bf.bfs(path, 0), bf.sssp(path, 0), bf.connected_components(path), bf.triangles(path)
    for answer in found:
        assert answer.report.totals()["threads"] == 1
        answer.verify()
    with bf_threads.limit(3):
        assert bf.bfs(bf.generate("cycle:200000"), list(range(65))).report.totals()["threads"] == 3
        assert bf.pagerank(path, max_iterations=2).report.totals()["threads"] == 3


def test_two_ways_on_from_every_vertex_are_no_path() -> None:
    """The degrees of a directed graph are those of outgoing arcs: a tree of two has no path's."""
    parents = np.arange(1 << 16)
    tree = bf.from_edges(
        np.repeat(parents, 2), np.arange(1, 2 * len(parents) + 1),
        np.ones(2 * len(parents)), directed=True,
    )  # fmt: skip
    assert tree.max_degree == 2
    assert not tree.never_branches
    assert bf.generate("cycle:9").never_branches
    assert bf.from_edges([0, 1], [1, 2]).never_branches
    assert sensible_width(tree) < 10
    with bf_threads.limit(3):
        for found in (bf.bfs(tree, 0), bf.sssp(tree, 0)):
            assert found.report.totals()["threads"] == 3
            found.verify()

"""Answers on many devices are those of one, for every program, partitioner and way to keep ids.

Every problem in `problems` is one compiled loop for each way to keep ids, and all tests here share
it.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from problems import ALIKE, PROBLEMS, Problem, same
from zoo import ZOO, Animal, edges

DEVICES = [2, 3, 4, 8]
CASES = [
    (name, relabel) for name, relabel in product(PROBLEMS, (True, False))
    if relabel or name not in ALIKE
]  # fmt: skip


def all_to_the_last(graph: bf.Graph, count: int) -> np.ndarray:
    """Leave every device but the last with nothing."""
    return np.full(graph.num_vertices, count - 1)


def by_degree(graph: bf.Graph, count: int) -> np.ndarray:
    return graph.degrees % count


PARTITIONERS: list[Any] = [
    "random", "static", "range", "biased", "metis", by_degree, all_to_the_last,
]  # fmt: skip


def skewed() -> Animal:
    """Return a few thousand vertices, some with so many edges that parts put them first."""
    rng = np.random.default_rng(7)
    ends = (3000 * rng.random((2, 9000)) ** 4).astype(int)
    weights = rng.integers(1, 64, 9000).astype(float)
    return Animal(ends[0].tolist(), ends[1].tolist(), 3000, weights.tolist(), False)


SKEWED = skewed()


@pytest.fixture(
    params=CASES, ids=[f"{name}, {'new' if new else 'kept'} ids" for name, new in CASES]
)
def case(request: pytest.FixtureRequest) -> tuple[Problem, bool]:
    name, relabel = request.param
    return PROBLEMS[name], relabel


def check(problem: Problem, graph: bf.Graph, expected: Any, **where: Any) -> None:
    same(problem, problem.solve(graph, **where), expected)


def test_the_zoo(case: tuple[Problem, bool]) -> None:
    problem, relabel = case
    for number, animal in enumerate(ZOO.values()):
        graph = problem.graph(animal)
        if not problem.suits(graph):
            continue
        expected = problem.solve(graph, threads=1)
        for turn, devices in enumerate(DEVICES):
            check(
                problem, graph, expected, devices=devices, relabel=relabel,
                partitioner=PARTITIONERS[(number + turn) % len(PARTITIONERS)],
                threads=1 + (number + turn) % 2,
            )  # fmt: skip


def test_a_graph_of_thousands(case: tuple[Problem, bool]) -> None:
    problem, relabel = case
    graph = problem.graph(SKEWED)
    expected = problem.solve(graph)
    for partitioner, (devices, threads) in zip(
        [*PARTITIONERS, "random"], product((2, 3, 4, 8), (1, 2)), strict=True
    ):
        check(
            problem, graph, expected, devices=devices, relabel=relabel, partitioner=partitioner,
            threads=threads,
        )  # fmt: skip


def test_directed(case: tuple[Problem, bool]) -> None:
    problem, relabel = case
    graph = problem.graph(SKEWED._replace(directed=True))
    check(problem, graph, problem.solve(graph), devices=3, relabel=relabel)


@given(animal=edges(), devices=st.sampled_from(DEVICES), by=st.sampled_from(PARTITIONERS))
def test_any_graph(case: tuple[Problem, bool], animal: Animal, devices: int, by: Any) -> None:
    problem, relabel = case
    graph = problem.graph(animal)
    expected = problem.solve(graph, threads=1)
    check(problem, graph, expected, devices=devices, relabel=relabel, partitioner=by, threads=1)


def test_one_device_with_a_part() -> None:
    """One device that is told how to split the graph runs the loop of many, and meets nobody."""
    problem = PROBLEMS["components"]
    graph = problem.graph(SKEWED)
    check(problem, graph, problem.solve(graph), devices=1, partitioner="range")


def test_unlike_devices_share_by_their_threads() -> None:
    problem = PROBLEMS["components"]
    graph = problem.graph(SKEWED)
    found = bf.connected_components(graph, method="min_label", devices=["cpu*3", "cpu*1"])
    same(problem, found.columns(), problem.solve(graph))
    assert [device.threads for device in found.report.devices] == [3, 1]
    assert [device.owned for device in found.report.devices] == [2250, 750]


def test_a_partition_that_is_given() -> None:
    problem = PROBLEMS["components"]
    graph = problem.graph(SKEWED)
    halves = bf.split(graph, 2, by="range", seed=3)
    check(problem, graph, problem.solve(graph), devices=2, partitioner=halves)
    with pytest.raises(bf.OptionError, match="2 parts, and there are 3 devices"):
        problem.solve(graph, devices=3, partitioner=halves)
    other = problem.graph(ZOO["star"])
    with pytest.raises(bf.OptionError, match="of another graph"):
        problem.solve(other, devices=2, partitioner=halves)


def test_from_each_of_several_sources() -> None:
    graph = PROBLEMS["bfs"].graph(SKEWED)
    found = bf.bfs(graph, [0, 5, 9], each=True, devices=2)
    found.verify()
    np.testing.assert_array_equal(found.depth, bf.bfs(graph, [0, 5, 9], each=True).depth)


def test_a_search_to_a_target() -> None:
    graph = PROBLEMS["sssp"].graph(SKEWED)
    target = int(np.argsort(bf.bfs(graph, 0).depth)[-1])
    one = bf.sssp(graph, 0, target=target)
    many = bf.sssp(graph, 0, target=target, devices=3)
    np.testing.assert_array_equal(many.distance, one.distance)
    plain = PROBLEMS["bfs"].graph(SKEWED)
    hops = bf.bfs(plain, 0, target=target, devices=3)
    assert hops.depth[target] == bf.bfs(plain, 0).depth[target]


def test_options_that_are_refused() -> None:
    graph = bf.generate("path:5")
    for options, message in (
        ({"devices": 0}, "devices=0 is not in"),
        ({"devices": "gpu"}, "no device 'gpu'"),
        ({"devices": 2, "threads": 0}, "threads=0"),
        ({"devices": 2, "partitioner": "magic"}, "magic"),
        ({"device": 2}, "unknown option 'device'"),
    ):
        with pytest.raises(bf.OptionError, match=message):
            bf.connected_components(graph, method="min_label", **options)


def test_a_start_of_another_length_is_refused() -> None:
    from broadfront.algorithms.components import MIN_LABEL

    with pytest.raises(bf.OptionError, match=r"has shape \(3,\), not \(5,\)"):
        bf.run(
            MIN_LABEL,
            bf.generate("path:5"),
            frontier=[0],
            init={"component": np.arange(3)},
            devices=2,
        )


def test_devices_of_different_speed_get_parts_by_it(case: tuple[Problem, bool]) -> None:
    problem, relabel = case
    graph = problem.graph(SKEWED)
    expected = problem.solve(graph, threads=1)
    for by in ("random", "range"):
        check(problem, graph, expected, devices=["cpu*3", "cpu*1"], relabel=relabel, partitioner=by)
    slow, quick = bf.bfs(graph, 0, devices=["cpu*1", "cpu*3"], partitioner="static").report.devices
    assert (slow.threads, quick.threads) == (1, 3)
    assert quick.owned == pytest.approx(3 * slow.owned, rel=0.01)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_partition_of_a_graph_serves_its_undirected_view(weighted: bool) -> None:
    rng = np.random.default_rng(5)
    source, target = rng.integers(0, 300, (2, 700))
    graph = bf.from_edges(
        source, target, rng.random(700) if weighted else None, directed=not weighted
    )
    partition = bf.split(graph, 2)
    where = {"devices": 2, "threads": 1, "partitioner": partition}
    found = bf.connected_components(graph, method="min_label", **where)
    np.testing.assert_array_equal(found.component, bf.connected_components(graph).component)
    assert bf.triangles(graph, **where).total == bf.triangles(graph).total
    other = bf.split(bf.generate("path:300"), 2)
    with pytest.raises(bf.OptionError, match="of another graph"):
        bf.triangles(graph, **{**where, "partitioner": other})

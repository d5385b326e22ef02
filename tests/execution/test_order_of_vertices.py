"""One device with the vertices in the order of degrees: nothing but the record tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.algorithms.bfs import BFS, UNREACHED
from broadfront.backends.cpu import order_choice
from broadfront.partition import by_degree
from problems import PROBLEMS, same, with_weights, without_weights
from zoo import ZOO, Animal

KRON = bf.generate("kron:9")
SKEWED = {
    "star": ZOO["star"],
    "star inwards": ZOO["star inwards"],
    "kron": Animal(
        KRON.sources().tolist(), KRON.targets.tolist(), 4 * KRON.num_vertices, directed=True
    ),
}


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the order pay on small graphs, after little."""
    monkeypatch.setattr(by_degree, "FEW_ARCS", 1)
    monkeypatch.setattr(by_degree, "FEW_VERTICES", 1)
    monkeypatch.setattr(order_choice, "SECONDS_PER_ARC", 1e-12)
    monkeypatch.setattr(order_choice, "SAVED", 1000.0)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("animal", SKEWED)
def test_every_problem(animal: str, name: str) -> None:
    problem = PROBLEMS[name]
    graph = problem.graph(SKEWED[animal])
    expected = problem.solve(graph, relabel=False)
    same(problem, problem.solve(graph, relabel=True), expected)


def skewed() -> bf.Graph:
    """Return a graph whose degrees differ much."""
    return without_weights(SKEWED["kron"])._replace(directed=False).graph()


def test_the_order() -> None:
    graph = skewed()
    order = by_degree.by_degree(graph)
    np.testing.assert_array_equal(order.ids[order.places], np.arange(graph.num_vertices))
    digits = [int(degree).bit_length() for degree in graph.degrees[order.ids]]
    assert digits == sorted(digits, reverse=True)
    for place in range(graph.num_vertices):
        row = order.graph.neighbors(place)
        assert (np.diff(row) > 0).all()
        assert set(order.ids[row]) == set(graph.neighbors(int(order.ids[place])))


@pytest.mark.parametrize("weighted", [False, True])
def test_what_the_record_tells(weighted: bool) -> None:
    animal = (with_weights if weighted else without_weights)(SKEWED["kron"])
    graph = animal._replace(directed=False).graph()
    calls: list[Any] = [
        lambda **how: bf.bfs(graph, 5, **how),
        lambda **how: bf.connected_components(graph, **how),
        lambda **how: bf.sssp(graph, 5, **how),
        lambda **how: bf.bfs(graph, [1, 2, 3], each=True, **how),
    ]
    for call in calls:
        plain, ordered = call(relabel=False), call(relabel=True)
        assert plain.report.order_bytes == 0
        assert ordered.report.order_bytes >= graph.row_bytes
        assert "by degree" in repr(ordered.report)
        ordered.verify()
        first = next(iter(plain.columns()))
        np.testing.assert_array_equal(ordered.columns()[first], plain.columns()[first])
    graph.forget()
    assert not by_degree.is_there(graph)


def test_who_keeps_the_ids() -> None:
    graph = with_weights(SKEWED["kron"]).graph()
    assert bf.bfs(graph, 0, target=7, relabel=True).report.order_bytes == 0
    assert bf.bfs(graph, 0, checked=True, relabel=True).report.order_bytes == 0
    even = bf.generate("grid:20x20")
    assert bf.bfs(even, 0, relabel=True).report.order_bytes == 0


def test_what_a_program_is_given_and_gives() -> None:
    graph = SKEWED["kron"].graph()
    reached = bf.bfs(graph, 3)
    far = np.flatnonzero(reached.depth > 2)
    depth = np.full(graph.num_vertices, UNREACHED, np.uint32)
    depth[reached.depth <= 2] = reached.depth[reached.depth <= 2]
    parent = np.where(reached.depth <= 2, reached.parent, -1)
    level = reached.depth == 2
    for frontier in (level, np.flatnonzero(level)[::-1]):
        answers = [
            bf.run(
                BFS, graph, frontier=frontier, init={"depth": depth, "parent": parent}, relabel=how
            )
            for how in (False, True)
        ]
        assert [answer.record.order_bytes > 0 for answer in answers] == [False, True]
        for answer in answers:
            np.testing.assert_array_equal(answer["depth"].view(np.int32), reached.depth)
            above = reached.depth[answer["parent"][far]]
            assert (above == reached.depth[far] - 1).all()


def test_columns_and_what_is_left() -> None:
    def allowed(vertex, state):
        return state.height[vertex] < 50

    graph = SKEWED["kron"].graph()
    heights = np.arange(graph.num_vertices) % 100
    graph = graph.with_vertex_data(height=heights)
    program = bf.Program({"mark": bf.Field(np.uint8)}, step=[bf.Filter(allowed)])
    for relabel in (False, True):
        answer = bf.run(program, graph, frontier=range(0, 400, 3), relabel=relabel)
        wanted = [vertex for vertex in range(0, 400, 3) if heights[vertex] < 50]
        assert answer.frontier.tolist() == wanted
        assert (answer.record.order_bytes > 0) is relabel


@pytest.mark.usefixtures("eager")
def test_it_is_made_when_it_has_paid() -> None:
    graph = skewed()
    sizes = [bf.connected_components(graph).report.order_bytes for _ in range(3)]
    assert sizes[0] == 0
    assert sizes[2] > 0
    assert bf.connected_components(graph, relabel=False).report.order_bytes == 0
    assert bf.connected_components(graph, memory_limit=1 << 30).report.order_bytes == 0
    assert bf.pagerank(graph).report.order_bytes == 0  # sums: equal calls give equal bits
    assert bf.betweenness(graph, list(range(3))).report.order_bytes == 0
    assert bf.betweenness(graph, list(range(8))).report.order_bytes > 0


@pytest.mark.usefixtures("eager")
def test_it_is_given_up_where_it_does_not_pay() -> None:
    graph = skewed()
    sizes = [bf.connected_components(graph).report.order_bytes for _ in range(3)]
    assert sizes[2] > 0
    case = graph.kept("order ledger", tuple)[0]._cases["components"]
    for _ in range(order_choice.LATELY):
        case.note(1.0, False)
        case.note(1e3, True)
    ordered = [bf.connected_components(graph).report.order_bytes > 0
               for _ in range(3 * order_choice.FIRST_GAP + 2)]  # fmt: skip
    gap = order_choice.FIRST_GAP
    assert ordered[: gap + 1] == [False] * gap + [True]  # it has its turn, and is quicker now
    assert ordered[gap + 1 :] == [True] * (2 * gap) + [False]  # as has what was slower


@pytest.mark.usefixtures("eager")
def test_where_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADFRONT_KEEP", "0")
    graph = skewed()
    sizes = [bf.connected_components(graph).report.order_bytes for _ in range(3)]
    assert sizes == [0, 0, 0]
    assert bf.connected_components(graph, relabel=True).report.order_bytes > 0
    assert not by_degree.is_there(graph)


@pytest.mark.usefixtures("eager")
def test_not_on_a_mapped_graph(tmp_path: Path) -> None:
    skewed().save(tmp_path / "kron.bfg")
    graph = bf.read(tmp_path / "kron.bfg")
    assert graph.mapped
    for relabel in (None, None, None, True):
        assert bf.connected_components(graph, relabel=relabel).report.order_bytes == 0


def test_a_memory_limit() -> None:
    graph = skewed()
    least = next(
        limit for limit in range(1 << 16, 1 << 24, 1 << 14) if _size(graph, limit) is not None
    )
    assert _size(graph, least) == 0
    assert (_size(graph, 1 << 26) or 0) > 0


def _size(graph: bf.Graph, limit: int) -> int | None:
    try:
        found = bf.connected_components(graph, relabel=True, memory_limit=limit)
    except bf.DeviceMemoryError:
        return None
    return found.report.order_bytes

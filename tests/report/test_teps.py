"""Edges of what a search has reached, and how many of them a second."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront.report.teps import edges_reached
from zoo import Animal


def expected(graph: bf.Graph, reached: np.ndarray) -> int:
    """Count the edges one by one."""
    sources, targets = graph.sources(), graph.targets
    if graph.directed:
        return int(reached[sources].sum())
    once = sources <= targets
    return int((reached[sources] | reached[targets])[once].sum())


def test_zoo(animal: Animal) -> None:
    graph = animal.graph()
    random = np.random.default_rng(1)
    everyone = np.ones(graph.num_vertices, np.bool_)
    assert edges_reached(graph, everyone) == graph.num_edges
    assert edges_reached(graph, ~everyone) == 0
    for _ in range(3):
        some = random.random(graph.num_vertices) < 0.5
        assert edges_reached(graph, some, whole=False) == expected(graph, some)
    if graph.num_vertices:
        found = bf.bfs(graph, 0, threads=1)
        assert found.edges_reached == expected(graph, found.depth >= 0)


def test_edges_of_the_component_count_once_and_self_loops_too() -> None:
    graph = bf.from_edges([0, 1, 1, 3, 3], [1, 2, 1, 4, 3], directed=False)
    found = bf.bfs(graph, 0, threads=1)
    assert found.edges_reached == 3
    assert bf.sssp(graph, 3, threads=1).edges_reached == 2
    arcs = bf.from_edges([0, 0, 1, 2], [1, 2, 2, 0])
    assert bf.bfs(arcs, 1, threads=1).edges_reached == 4
    assert bf.bfs(bf.from_edges([0, 1, 2], [1, 2, 0]), 1, threads=1).edges_reached == 3


def test_a_search_that_stopped_counts_edges_that_lead_on() -> None:
    graph = bf.generate("path:9")
    found = bf.bfs(graph, 0, target=3, threads=1)
    assert found.mask().sum() == 4
    assert found.edges_reached == 4


def test_text_and_totals_tell_both() -> None:
    graph = bf.generate("star:99", weights=(1, 9))
    for find in (bf.bfs, bf.sssp):
        found = find(graph, 1, threads=1)
        report, totals = found.report, found.totals()
        assert f"{report.edges_visited:,} edges traversed; 98 edges reached, " in repr(found)
        assert "million a second (Graph500)" in repr(found)
        assert totals["edges_reached"] == found.edges_reached == 98
        assert totals["teps"] == found.teps == pytest.approx(98 / report.seconds)
    assert "(Graph500)" not in repr(bf.connected_components(graph))


def test_rows_count_together_and_have_no_time_of_their_own() -> None:
    graph = bf.from_edges([0, 1, 3], [1, 2, 4], directed=False)
    found = bf.bfs(graph, [0, 3, 4], each=True, threads=1)
    assert found.edges_reached == 4
    assert found.teps == 4 / found.report.seconds
    assert [one.edges_reached for one in found] == [2, 1, 1]
    assert found[0].teps is None
    assert "(Graph500)" not in repr(found[0])

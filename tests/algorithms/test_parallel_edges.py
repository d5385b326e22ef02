"""The primitives on graphs that keep parallel edges, on one device and on three."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import pytest

import broadfront as bf

PARTITIONERS = ("random", "static", "metis")


def pair(directed: bool, weighted: bool = False) -> tuple[bf.Graph, bf.Graph]:
    """Return a graph with many parallel edges and self-loops, and the same with them merged."""
    chance = np.random.default_rng(3)
    source, target = chance.integers(0, 30, (2, 100))
    source, target = np.append(source, source[:40]), np.append(target, target[:40])
    weight = chance.integers(1, 9, 140) if weighted else None
    both = [bf.from_edges(source, target, weight, 32, directed, duplicates=duplicates)
            for duplicates in ("keep", "min")]  # fmt: skip
    assert both[0].num_edges == 140 > both[1].num_edges
    return both[0], both[1]


def ways() -> list[dict[str, Any]]:
    return [{}, *({"devices": 3, "partitioner": name} for name in PARTITIONERS)]


@pytest.mark.parametrize("directed", [False, True])
def test_the_same_as_without_them(directed: bool) -> None:
    kept, merged = pair(directed, weighted=True)
    near, far = bf.bfs(merged, 0), bf.sssp(merged, 0)
    for way in ways():
        found = bf.bfs(kept, 0, **way)
        found.verify()
        np.testing.assert_array_equal(found.depth, near.depth)
        lengths = bf.sssp(kept, 0, parents=True, **way)
        lengths.verify()
        np.testing.assert_array_equal(lengths.distance, far.distance)
        components = bf.connected_components(kept, **way)
        components.verify()
        assert components.count == bf.connected_components(merged).count
        triangles = bf.triangles(kept, **way)
        triangles.verify()
        assert triangles.total == bf.triangles(merged).total


def test_a_search_from_python_is_the_same() -> None:
    kept, merged = pair(directed=False)
    assert bf.bfs(kept, 0, devices="python").depth.tolist() == bf.bfs(merged, 0).depth.tolist()
    total = bf.triangles(kept, devices="python").total
    assert total == bf.triangles(merged).total


def test_pagerank_follows_each_of_them() -> None:
    kept, _ = pair(directed=True)
    rank = nx.pagerank(kept.to_networkx(), weight=None, tol=1e-12, max_iter=500)
    for way in ways():
        found = bf.pagerank(kept, tol=1e-10, max_iterations=500, **way)
        found.verify()
        np.testing.assert_allclose(found.rank, [rank[vertex] for vertex in range(32)], rtol=1e-6)


def test_each_of_them_is_a_path_to_betweenness() -> None:
    kept, _ = pair(directed=False)
    expected = by_definition(kept)
    for way in ways():
        found = bf.betweenness(kept, normalized=False, **way)
        found.verify()
        np.testing.assert_allclose(found.centrality, expected, atol=1e-9)


def by_definition(graph: bf.Graph) -> list[float]:
    """Return how many shortest paths lead through each vertex, parallel edges told apart."""
    other = nx.Graph(graph.to_networkx())
    many = graph.to_networkx()
    shares = np.zeros(graph.num_vertices)
    for source in other:
        for target in other:
            if source >= target or not nx.has_path(other, source, target):
                continue
            paths = list(nx.all_shortest_paths(other, source, target))
            ways = [
                np.prod([many.number_of_edges(*hop) for hop in pairwise(path)]) for path in paths
            ]
            for path, number in zip(paths, ways, strict=True):
                shares[path[1:-1]] += number / sum(ways)
    return shares.tolist()


def test_intersect_is_refused() -> None:
    def note(first, second, edge, common, state):  # type: ignore[no-untyped-def]
        state.seen[edge] = common

    program = bf.Program(
        {"seen": bf.Field(np.int64, per="edge")}, step=[bf.Intersect(note, each="edge")]
    )
    kept, _ = pair(directed=False)
    for way in ({}, {"devices": 2}, {"devices": "python"}):
        with pytest.raises(bf.OptionError, match="build it with duplicates='first'"):
            bf.run(program, kept, **way)  # type: ignore[arg-type]

"""Programs that the primitives do not cover give the answers of others, wherever they run.

Each example takes at most 25 lines of code: all but blank ones, comments and docstrings.
"""

from __future__ import annotations

import ast
import tokenize
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import broadfront as bf
from at_most_k_edges import at_most_k_edges
from bit_sets import reached_by
from colouring import colouring
from earliest_arrival import NEVER, earliest_arrival, timetable
from goal_search import distance_to
from hits import hits
from independent_set import independent_set
from k_truss import k_truss
from matching import NOBODY, matching
from most_reliable_path import most_reliable_path
from personalised_pagerank import personalised_pagerank
from random_walks import random_walks
from strong_components import strong_components
from topological_levels import topological_levels

FOLDER = Path(__file__).parents[2] / "examples"
NAMES = (
    "at_most_k_edges", "bit_sets", "colouring", "earliest_arrival", "goal_search", "hits",
    "independent_set", "k_truss", "matching", "most_reliable_path", "personalised_pagerank",
    "random_walks", "strong_components", "topological_levels",
)  # fmt: skip
MOST_LINES = 25
NO_CODE = (
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
)  # fmt: skip

everywhere = pytest.mark.parametrize(
    "where",
    [
        {"devices": "python"},
        {"threads": 2},
        {"devices": 2, "partitioner": "range"},
        {"devices": 3, "partitioner": "random"},
        {"devices": 4, "partitioner": "static"},
    ],
    ids=["python", "one", "two", "three", "four"],
)


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_short(name: str) -> None:
    assert lines_of_code(FOLDER / f"{name}.py") <= MOST_LINES


def lines_of_code(path: Path) -> int:
    """Count lines, imports and main block too, but blank ones, comments and docstrings."""
    with tokenize.open(path) as file:
        tokens = list(tokenize.generate_tokens(file.readline))
    code = {
        line for token in tokens if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }  # fmt: skip
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            code -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(code)


def simple(seed: int, directed: bool = False) -> bf.Graph:
    """Return a graph of 40 vertices with an island, without self-loops."""
    random = np.random.default_rng(seed)
    source, target = random.integers(0, 37, (2, 90))
    weight = random.integers(1, 20, 90)
    return bf.from_edges(
        source, target, weight, num_vertices=40, directed=directed, simple=True
    )  # fmt: skip


@everywhere
def test_independent_set(where: dict[str, Any]) -> None:
    graph = simple(5)
    chosen = independent_set(graph, seed=9, **where)
    other = graph.to_networkx()
    assert other.subgraph(chosen).number_of_edges() == 0
    assert set(chosen).union(*(other[vertex] for vertex in chosen)) == set(other)
    assert chosen.tolist() == independent_set(graph, seed=9, devices="python").tolist()


@everywhere
def test_colouring(where: dict[str, Any]) -> None:
    graph = simple(6)
    colour = colouring(graph, **where)
    assert colour.min() == 0
    assert all(colour[one] != colour[other] for one, other in graph.to_networkx().edges)
    assert colour.max() <= graph.degrees.max()
    assert colour.tolist() == colouring(graph, devices="python").tolist()


@everywhere
def test_strong_components(where: dict[str, Any]) -> None:
    for seed in range(3):
        graph = simple(7 + seed, directed=True)
        found = strong_components(graph, **where)
        parts = nx.strongly_connected_components(graph.to_networkx())
        expected = {frozenset(part) for part in parts}
        assert {frozenset(np.flatnonzero(found == name)) for name in set(found)} == expected
        assert all(max(part) == found[min(part)] for part in expected)


@everywhere
def test_random_walks(where: dict[str, Any]) -> None:
    graph = simple(12)
    visits = random_walks(graph, walkers=8, steps=12, **where)
    walking = 8 * int((graph.degrees > 0).sum())
    assert visits.sum() == 8 * 40 + 12 * walking
    assert visits.tolist() == random_walks(graph, walkers=8, steps=12, devices="python").tolist()


@everywhere
def test_most_reliable_path(where: dict[str, Any]) -> None:
    whole = simple(1)
    graph = whole.with_weights(whole.weights / 20)
    other = graph.to_networkx()
    for _, _, data in other.edges(data=True):
        data["length"] = -np.log(data["weight"])
    for target in range(40):
        chance, path = most_reliable_path(graph, 3, target, **where)
        if not nx.has_path(other, 3, target):
            assert (chance, path) == (0, [])
            continue
        length = nx.dijkstra_path_length(other, 3, target, "length")
        assert chance == pytest.approx(np.exp(-length))
        edges = list(zip(path, path[1:], strict=False))
        assert path[0] == 3
        assert np.prod([other[a][b]["weight"] for a, b in edges]) == pytest.approx(chance)


@everywhere
def test_earliest_arrival(where: dict[str, Any]) -> None:
    random = np.random.default_rng(2)
    rows = np.stack([*random.integers(0, 12, (2, 80)), *random.integers(0, 60, (2, 80))]).T
    expected = np.full(12, NEVER)
    expected[0] = 5
    for _ in range(12):
        for origin, destination, departure, duration in rows:
            if expected[origin] <= departure:
                expected[destination] = min(expected[destination], departure + duration)
    assert earliest_arrival(timetable(rows), 0, 5, **where)[: len(expected)].tolist() == (
        expected.tolist()
    )


@everywhere
def test_at_most_k_edges(where: dict[str, Any]) -> None:
    graph = simple(3, directed=True)
    matrix = np.full((40, 40), np.inf)
    for source, target, data in graph.to_networkx().edges(data=True):
        matrix[source, target] = data["weight"]
    expected = np.where(np.arange(40) == 4, 0, np.inf)
    for k in range(5):
        found = at_most_k_edges(graph, 4, k, **where)
        assert found.tolist() == expected.tolist()
        expected = np.minimum(expected, (expected[:, None] + matrix).min(axis=0))


@everywhere
def test_bit_sets(where: dict[str, Any]) -> None:
    graph = simple(4, directed=True)
    sources = np.arange(256) % 40
    found, other = reached_by(graph, sources, **where), graph.to_networkx()
    for place, source in enumerate(sources):
        reached = nx.descendants(other, source) | {source}
        assert set(np.flatnonzero(found[:, place])) == reached


@everywhere
def test_personalised_pagerank(where: dict[str, Any]) -> None:
    graph = bf.from_networkx(nx.karate_club_graph(), weight=None)
    found = personalised_pagerank(graph, 7, epsilon=1e-12, **where)
    expected = nx.pagerank(graph.to_networkx(), 0.85, {7: 1.0}, tol=1e-13, max_iter=1000)
    np.testing.assert_allclose(found, [expected[v] for v in range(34)], atol=1e-8)


@everywhere
def test_k_truss(where: dict[str, Any]) -> None:
    graph = bf.from_networkx(nx.gnp_random_graph(30, 0.35, seed=5))
    for k in (2, 4, 5, 6):
        expected = {frozenset(edge) for edge in nx.k_truss(graph.to_networkx(), k).edges}
        found = k_truss(graph, k, **where)
        assert {frozenset(edge) for edge in found.to_networkx().edges} == expected
        assert bool(expected) == (k < 6)


@everywhere
def test_hits(where: dict[str, Any]) -> None:
    graph = simple(11, directed=True)
    other = graph.to_networkx()
    hub, authority = hits(graph, rounds=300, **where)
    hubs, authorities = _hits(other)
    np.testing.assert_allclose(hub, hubs, atol=1e-9)
    np.testing.assert_allclose(authority, authorities, atol=1e-9)


def _hits(graph: nx.DiGraph) -> tuple[Any, Any]:
    matrix = nx.to_numpy_array(graph, weight=None)
    hub = np.full(len(matrix), 1 / len(matrix))
    for _ in range(300):
        authority = matrix.T @ hub
        hub = matrix @ (authority / authority.sum())
        hub /= hub.sum()
    return hub, authority / authority.sum()


@everywhere
def test_matching(where: dict[str, Any]) -> None:
    graph = simple(14)
    mate, other = matching(graph, **where), graph.to_networkx()
    pairs = {(vertex, int(mate[vertex])) for vertex in range(40) if mate[vertex] != NOBODY}
    assert nx.is_maximal_matching(other, {tuple(sorted(pair)) for pair in pairs})
    assert {(two, one) for one, two in pairs} == pairs


@everywhere
def test_topological_levels(where: dict[str, Any]) -> None:
    random = np.random.default_rng(7)
    source, target = np.sort(random.integers(0, 40, (2, 80)), axis=0)
    forwards = source != target
    graph = bf.from_edges(source[forwards], target[forwards], num_vertices=40)
    found = topological_levels(graph, **where)
    for level, vertices in enumerate(nx.topological_generations(graph.to_networkx())):
        assert {int(found[vertex]) for vertex in vertices} == {level}
    cycle = bf.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 1, 4])
    assert topological_levels(cycle, **where).tolist() == [0, -1, -1, -1, -1]


@everywhere
def test_goal_search(where: dict[str, Any]) -> None:
    graph = bf.generate("grid:12x9:0.1:weights=1-9")
    other = graph.to_networkx()
    for goal in (0, 50, 107):
        if nx.has_path(other, 4, goal):
            expected = nx.dijkstra_path_length(other, 4, goal)
            assert distance_to(graph, 4, goal, 9, **where) == expected

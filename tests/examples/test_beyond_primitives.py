"""Programs that the primitives do not cover give the answers of others, wherever they run.

Each example takes at most 25 lines of code: what is between its imports and its main block.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import broadfront as bf
from colouring import colouring
from independent_set import independent_set
from random_walks import random_walks
from strong_components import strong_components

FOLDER = Path(__file__).parents[2] / "examples"
NAMES = ("colouring", "independent_set", "random_walks", "strong_components")
MOST_LINES = 25

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
    text = (FOLDER / f"{name}.py").read_text().split('"""', 2)[2]
    code = text.split("import broadfront as bf")[1].split("if __name__")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= MOST_LINES


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

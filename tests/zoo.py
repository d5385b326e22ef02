"""The zoo: small odd graphs that every part of the library must take in its stride."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

import broadfront as bf
from broadfront.graph import files
from broadfront.graph.csr import Graph


class Animal(NamedTuple):
    source: list[int]
    target: list[int]
    num_vertices: int
    weight: list[float] | None = None
    directed: bool = True

    def graph(self, **options: object) -> bf.Graph:
        settings = {"directed": self.directed, **options}
        return bf.from_edges(
            np.array(self.source, np.int64),
            np.array(self.target, np.int64),
            None if self.weight is None else np.array(self.weight),
            self.num_vertices,
            **settings,
        )


ZOO = {
    "empty": Animal([], [], 0),
    "one vertex": Animal([], [], 1),
    "no edges": Animal([], [], 7, directed=False),
    "one loop": Animal([0], [0], 1),
    "one undirected loop": Animal([0], [0], 1, directed=False),
    "one edge": Animal([0], [1], 2),
    "two ways": Animal([0, 1], [1, 0], 2, [3.0, 4.0]),
    "two ways undirected": Animal([0, 1], [1, 0], 2, [4.0, 3.0], directed=False),
    "duplicates": Animal([0, 0, 0, 1], [1, 1, 1, 2], 3, [5.0, 2.0, 9.0, 1.0]),
    "loops and duplicates": Animal([0, 0, 1, 2, 2], [0, 0, 1, 1, 1], 4, directed=False),
    "islands": Animal([0, 3, 6], [1, 4, 7], 9, directed=False),
    "star": Animal([0] * 40, list(range(1, 41)), 41, directed=False),
    "star inwards": Animal(list(range(1, 41)), [0] * 40, 41),
    "path": Animal(list(range(50)), list(range(1, 51)), 51, directed=False),
    "directed cycle": Animal(list(range(20)), [*range(1, 20), 0], 20, [1.5] * 20),
    "complete": Animal(
        [u for u in range(9) for v in range(9) if u < v],
        [v for u in range(9) for v in range(9) if u < v],
        9,
        directed=False,
    ),
    "diamond": Animal([0, 0, 1, 2], [1, 2, 3, 3], 4, [1.0, 1.0, 1.0, 1.0]),
    "zero weights": Animal([0, 1, 2], [1, 2, 0], 3, [0.0, 0.0, 2.0]),
    "tail isolated": Animal([0, 1], [1, 2], 100),
}


@st.composite
def edges(draw: st.DrawFn, weighted: bool | None = None) -> Animal:
    """Any small graph: loops, duplicates, islands and isolated vertices come of themselves."""
    size = draw(st.integers(1, 40))
    vertex = st.integers(0, size - 1)
    count = draw(st.integers(0, 80))
    source = draw(st.lists(vertex, min_size=count, max_size=count))
    target = draw(st.lists(vertex, min_size=count, max_size=count))
    weight = None
    if draw(st.booleans()) if weighted is None else weighted:
        real = st.floats(0, 1e6, allow_nan=False, allow_subnormal=False)
        number = st.integers(0, 1000).map(float) | real
        weight = draw(st.lists(number, min_size=count, max_size=count))
    return Animal(source, target, size, weight, draw(st.booleans()))


FROM_ONE = (".mtx", ".gr", ".graph")
"""Formats that count from 1, whatever the graph has for labels."""


def same_from_file(left: bf.Graph, right: bf.Graph, path: Path) -> None:
    """Do as `same` for a graph without labels that was written to a file and read again."""
    if files.suffixes(path)[0] in FROM_ONE:
        assert right.labels.tolist() == list(range(1, left.num_vertices + 1))
        right = Graph(
            right.offsets, right.targets, right.weights,
            directed=right.directed, self_loops=right.num_self_loops,
        )  # fmt: skip
    same(left, right)


def same(left: bf.Graph, right: bf.Graph) -> None:
    """Assert that two graphs are the same in everything a user can see."""
    assert left.directed == right.directed
    assert left.num_edges == right.num_edges
    assert left.num_self_loops == right.num_self_loops
    np.testing.assert_array_equal(left.offsets, right.offsets)
    np.testing.assert_array_equal(left.targets, right.targets)
    np.testing.assert_array_equal(left.labels, right.labels)
    assert left.weighted == right.weighted
    if left.weights is not None:
        np.testing.assert_array_equal(left.weights, right.weights)

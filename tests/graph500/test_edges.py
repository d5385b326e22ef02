"""The input of the benchmark: edges, weights and roots."""

from __future__ import annotations

import numpy as np
import pytest

from broadfront import threads
from broadfront.graph.generate.registry import GENERATORS
from broadfront.graph500 import EdgeList, draw_edges, draw_roots, index_edges
from broadfront.graph500.edges import draw_weights
from graph500.lists import KRON


def test_edges_are_those_of_the_generator_with_weights() -> None:
    edges = draw_edges(8, 4, seed=5, weighted=True)
    drawn = GENERATORS["kron"](8, 4, seed=5)
    np.testing.assert_array_equal(edges.source, drawn.source)
    np.testing.assert_array_equal(edges.target, drawn.target)
    assert (edges.num_vertices, len(edges)) == (256, 1024)
    assert edges.weight is not None
    assert edges.weight.dtype == np.float32


def test_weights_are_uniform_below_one_and_by_seed() -> None:
    weights = draw_weights(100_000, 1)
    assert weights.min() >= 0
    assert weights.max() < 1
    counts, _ = np.histogram(weights, 10, (0, 1))
    assert abs(counts - 10_000).max() < 500
    with threads.limit(1):
        np.testing.assert_array_equal(weights, draw_weights(100_000, 1))
    assert (weights != draw_weights(100_000, 2)).any()


def test_roots_are_distinct_and_have_another_neighbor() -> None:
    roots = draw_roots(KRON, 64, seed=7).tolist()
    assert len(set(roots)) == 64
    others = KRON.source != KRON.target
    connected = set(KRON.source[others].tolist()) | set(KRON.target[others].tolist())
    assert set(roots) <= connected
    assert roots == draw_roots(KRON, 64, seed=7).tolist()
    assert roots != draw_roots(KRON, 64, seed=8).tolist()


@pytest.mark.parametrize(
    ("source", "target", "found"), [([0, 1], [0, 2], {1, 2}), ([3], [3], set()), ([], [], set())]
)
def test_few_roots(source: list[int], target: list[int], found: set[int]) -> None:
    edges = EdgeList(np.array(source, np.int32), np.array(target, np.int32), 5)
    assert set(draw_roots(edges).tolist()) == found


def test_the_index_uses_the_list_up() -> None:
    edges = draw_edges(6)
    index_edges(edges)
    assert len(edges) == 0

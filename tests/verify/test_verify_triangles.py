"""Right counts pass; each kind of wrong one is caught by its rule."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.errors import VerificationError
from broadfront.verify import verify_triangles
from zoo import Animal, edges

KITE = bf.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 0], num_vertices=5)  # 0 1 2 and 0 2 3
COUNTS = np.array([2, 1, 2, 1, 0])


def right(graph: bf.Graph) -> tuple[int, np.ndarray]:
    simple = nx.Graph(graph.to_networkx())
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    found = nx.triangles(simple)
    counts = np.array([found[vertex] for vertex in range(graph.num_vertices)], np.int64)
    return int(counts.sum()) // 3, counts


def test_right_answers_on_the_zoo(animal: Animal) -> None:
    graph = animal.graph()
    verify_triangles(graph, *right(graph))


@given(edges())
def test_right_answers_on_any_graph(animal: Animal) -> None:
    graph = animal.graph()
    verify_triangles(graph, *right(graph))


@pytest.mark.parametrize("spec", ["kron:9", "rmat:9:directed=yes", "rgg:9", "complete:30"])
def test_right_answers_by_matrix(spec: str) -> None:
    graph = bf.generate(spec)
    ones = graph.to_scipy().astype(np.int64)
    both = ((ones + ones.T) > 0).astype(np.int64)
    both.setdiag(0)
    both.eliminate_zeros()
    counts = (both @ both).multiply(both).sum(axis=1) // 2
    assert counts.sum() > 0
    verify_triangles(graph, int(counts.sum()) // 3, np.asarray(counts))


@given(edges(), st.data())
def test_moving_a_corner_is_caught(animal: Animal, data: st.DataObject) -> None:
    graph = animal.graph()
    total, counts = right(graph)
    place = st.integers(0, graph.num_vertices - 1)
    here, there = data.draw(place), data.draw(place)
    if here != there:
        counts[here] += 1
        counts[there] -= 1
        with pytest.raises(VerificationError, match="counts are"):
            verify_triangles(graph, total, counts)


@pytest.mark.parametrize(
    ("total", "counts", "rule", "where"),
    [
        (3, COUNTS, "three times the total", "sum 6, total 3"),
        (2, [2, 2, 2, 1, 0], "three times the total", "sum 7, total 2"),
        (2, [2, 1, 2, 0, 1], "counts are exact", "vertex 3: count 0, expected 1"),
        (3, [3, 2, 3, 1, 0], "counts are exact", "vertex 0: count 3, expected 2"),
        (0, [0, 0, 0, 0, 0], "counts are exact", "vertex 0: count 0, expected 2"),
        (2, [3, 1, 2, 1, -1], "zero or more", "vertex 4: count -1"),
    ],
)
def test_wrong_counts(total: int, counts: list[int], rule: str, where: str) -> None:
    verify_triangles(KITE, 2, COUNTS)
    with pytest.raises(VerificationError, match=rule) as caught:
        verify_triangles(KITE, total, counts)
    assert where in caught.value.problem


def test_form() -> None:
    with pytest.raises(VerificationError, match="one entry per vertex"):
        verify_triangles(KITE, 2, COUNTS[:-1])
    with pytest.raises(VerificationError, match="dtype: per_vertex has dtype int32"):
        verify_triangles(KITE, 2, COUNTS.astype(np.int32))

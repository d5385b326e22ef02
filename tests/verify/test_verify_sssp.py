"""Right distances and parents pass; each kind of wrong one is caught by its rule."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.errors import VerificationError
from broadfront.verify import verify_sssp
from zoo import Animal, edges

INTEGER_MAX = np.iinfo(np.int64).max
DTYPES = [np.float64, np.float32, np.int64, np.int32, None]

# 0 -2-> 1 -3-> 2 -1-> 3, 0 -9-> 3, and an island 4 -1-> 5
CHAIN = bf.from_edges([0, 1, 2, 0, 4], [1, 2, 3, 3, 5], weight=[2.0, 3.0, 1.0, 9.0, 1.0])
DISTANCE = np.array([0, 2, 5, 6, np.inf, np.inf])
REACHED = np.isfinite(DISTANCE)
PARENT = np.array([0, 0, 1, 2, -1, -1], np.int32)


def weighing(animal: Animal, dtype: type | None) -> bf.Graph:
    count = len(animal.source)
    weight = [1.0] * count if animal.weight is None else animal.weight
    return bf.from_edges(
        animal.source, animal.target, None if dtype is None else np.array(weight, dtype),
        animal.num_vertices, animal.directed,
    )  # fmt: skip


def right(graph: bf.Graph, sources: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relax in the arithmetic of the distances until nothing changes."""
    weights = graph.weights
    floats = weights is not None and weights.dtype.kind == "f"
    dtype = weights.dtype if floats else np.int64
    if weights is None:
        weights = np.ones(graph.num_arcs, np.int64)
    distance = np.full(graph.num_vertices, np.inf if floats else INTEGER_MAX, dtype)
    parent = np.full(graph.num_vertices, -1, np.int32)
    distance[sources] = 0
    parent[sources] = sources
    reached = parent >= 0
    arcs = list(zip(graph.sources(), graph.targets, weights.astype(dtype), strict=True))
    changing = True
    while changing:
        changing = False
        for tail, head, weight in arcs:
            if reached[tail] and distance[tail] + weight < distance[head]:
                distance[head], parent[head] = distance[tail] + weight, tail
                changing = reached[head] = True
    return distance, reached, parent


def test_right_answers_on_the_zoo(animal: Animal) -> None:
    for dtype in DTYPES:
        graph = weighing(animal, dtype)
        for source in range(0, graph.num_vertices, 7):
            verify_sssp(graph, source, *right(graph, [source]))
        verify_sssp(graph, [], *right(graph, []))


@given(edges(weighted=True), st.sampled_from(DTYPES), st.data())
def test_right_answers_on_any_graph(
    animal: Animal, dtype: type | None, data: st.DataObject
) -> None:
    graph = weighing(animal, dtype)
    vertex = st.integers(0, graph.num_vertices - 1)
    sources = data.draw(st.lists(vertex, min_size=1, max_size=3))
    verify_sssp(graph, sources, *right(graph, sources))


@given(edges(weighted=True))
def test_networkx_is_right(animal: Animal) -> None:
    graph = weighing(animal, np.float64)
    distance = np.full(graph.num_vertices, np.inf)
    parent = np.full(graph.num_vertices, -1, np.int32)
    lengths, paths = nx.single_source_dijkstra(graph.to_networkx(), 0)
    for vertex, length in lengths.items():
        distance[vertex] = length
        parent[vertex] = paths[vertex][-2:][0]
    verify_sssp(graph, 0, distance, distance < np.inf, parent)


@given(edges(weighted=True), st.sampled_from([np.float64, np.int64, None]), st.data())
def test_any_other_distance_is_caught(
    animal: Animal, dtype: type | None, data: st.DataObject
) -> None:
    graph = weighing(animal, dtype)
    place = st.integers(0, graph.num_vertices - 1)
    source, vertex = data.draw(place), data.draw(place)
    distance, _, _ = right(graph, [source])
    known = distance[vertex]
    unreached = distance.dtype.type(np.inf if distance.dtype.kind == "f" else INTEGER_MAX)
    wrong = [0, 1, 77, unreached]
    if known != unreached:
        wrong += [known * 1.01, known + 1, known - 1]
    distance[vertex] = data.draw(st.sampled_from(wrong))
    if not np.isclose(distance[vertex], known, rtol=1e-8, atol=0):
        with pytest.raises(VerificationError):
            verify_sssp(graph, source, distance)


@pytest.mark.parametrize(
    ("vertex", "value", "rule", "where"),
    [
        (3, 9.0, "no arc can be relaxed", "edge 2 -> 3: 5.0 + 1.0 < 9.0"),
        (3, 6.0000001, "no arc can be relaxed", "edge 2 -> 3"),
        (3, 5.9999, "lengths of paths", "vertex 3: distance 5.9999"),
        (3, np.inf, "neighbours of reached vertices are reached", "edge 0 -> 3"),
        (5, 1.0, "lengths of paths", "vertex 5: distance 1.0"),
        (4, 0.0, "neighbours of reached vertices are reached", "edge 4 -> 5"),
        (0, 1.0, "sources have distance 0", "vertex 0: distance 1.0"),
        (2, np.nan, "numbers, zero or more", "vertex 2: distance nan"),
        (2, -1.0, "numbers, zero or more", "vertex 2: distance -1.0"),
    ],
)
def test_wrong_distances(vertex: int, value: float, rule: str, where: str) -> None:
    verify_sssp(CHAIN, 0, DISTANCE, REACHED, PARENT)
    distance = DISTANCE.copy()
    distance[vertex] = value
    with pytest.raises(VerificationError, match=rule) as caught:
        verify_sssp(CHAIN, 0, distance)
    assert where in caught.value.problem


@pytest.mark.parametrize(
    ("entries", "rule", "where"),
    [
        ({3: 0}, "tree edges are tight", "edge 0 -> 3: distances 0.0 and 6.0"),
        ({3: 1}, "edges of the graph", "edge 1 -> 3"),
        ({3: -1}, "reached vertices have parents", "vertex 3"),
        ({5: 4}, "unreached vertices have parent -1", "vertex 5"),
        ({0: 1}, "own parents", "vertex 0"),
        ({3: 6}, "parents are vertices", "vertex 3"),
    ],
)
def test_wrong_parents(entries: dict[int, int], rule: str, where: str) -> None:
    parent = PARENT.copy()
    for vertex, value in entries.items():
        parent[vertex] = value
    with pytest.raises(VerificationError, match=rule) as caught:
        verify_sssp(CHAIN, 0, DISTANCE, REACHED, parent)
    assert where in caught.value.problem


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_cycle_of_weight_zero_does_not_vouch_for_itself(dtype: type) -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 1], weight=np.array([5, 0, 0], dtype))
    verify_sssp(graph, 0, np.array([0, 5, 5], dtype), parent=np.array([0, 0, 1], np.int32))
    with pytest.raises(VerificationError, match="lengths of paths from a source: vertex 1: .* 4"):
        verify_sssp(graph, 0, np.array([0, 4, 4], dtype))
    with pytest.raises(VerificationError, match="chains of parents end at a source: vertex 1"):
        verify_sssp(graph, 0, np.array([0, 5, 5], dtype), parent=np.array([0, 2, 1], np.int32))


def test_an_island_of_weight_zero_is_not_reached() -> None:
    graph = bf.from_edges([0, 2, 3], [1, 3, 2], weight=[1, 0, 0])
    distance = np.array([0, 1, INTEGER_MAX, INTEGER_MAX])
    verify_sssp(graph, 0, distance)
    distance[2:] = 0
    with pytest.raises(VerificationError, match="lengths of paths from a source: vertex 2"):
        verify_sssp(graph, 0, distance)


def test_the_mask() -> None:
    for vertex in (0, 5):
        reached = REACHED.copy()
        reached[vertex] ^= True
        with pytest.raises(VerificationError, match=f"there is a distance: vertex {vertex}"):
            verify_sssp(CHAIN, 0, DISTANCE, reached)
    with pytest.raises(VerificationError, match="dtype: reached has dtype int8, expected bool"):
        verify_sssp(CHAIN, 0, DISTANCE, REACHED.astype(np.int8))


def test_sums_beyond_integers_are_unreached() -> None:
    graph = bf.from_edges([0, 1], [1, 2], weight=[INTEGER_MAX - 5, 6])
    verify_sssp(graph, 0, np.array([0, INTEGER_MAX - 5, INTEGER_MAX]))
    with pytest.raises(VerificationError, match="lengths of paths"):
        verify_sssp(graph, 0, np.array([0, INTEGER_MAX - 5, INTEGER_MAX - 1]))


def test_infinite_weights_reach_nothing() -> None:
    graph = bf.from_edges([0, 0], [1, 2], weight=[np.inf, 1.0])
    verify_sssp(graph, 0, [0.0, np.inf, 1.0], [True, False, True])


def test_form() -> None:
    with pytest.raises(VerificationError, match="one entry per vertex: distance has shape"):
        verify_sssp(CHAIN, 0, DISTANCE[1:])
    with pytest.raises(VerificationError, match="dtype float32, expected float64"):
        verify_sssp(CHAIN, 0, DISTANCE.astype(np.float32))
    graph = bf.from_edges([0], [1])
    with pytest.raises(VerificationError, match="dtype float64, expected int64"):
        verify_sssp(graph, 0, np.array([0.0, 1.0]))
    with pytest.raises(bf.VertexError):
        verify_sssp(graph, 2, np.array([0, 1]))

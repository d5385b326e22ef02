"""Right depths and parents pass; each kind of wrong one is caught by its rule."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.errors import VerificationError
from broadfront.verify import verify_bfs
from zoo import Animal, edges

TREE = bf.from_edges(  # 0 - 1 - 2 - 3 with a short cut 0 - 4 - 3, an island 5 - 6, and 7
    [0, 1, 2, 0, 4, 5], [1, 2, 3, 4, 3, 6], num_vertices=8, directed=False
)
DEPTH = np.array([0, 1, 2, 2, 1, -1, -1, -1], np.int32)
PARENT = np.array([0, 0, 1, 4, 0, -1, -1, -1], np.int32)


def right(graph: bf.Graph, sources: list[int]) -> tuple[np.ndarray, np.ndarray]:
    depth = np.full(graph.num_vertices, -1, np.int32)
    parent = np.full(graph.num_vertices, -1, np.int32)
    if sources:
        hops = nx.multi_source_dijkstra(
            graph.to_networkx(), set(sources), weight=lambda *_: 1
        )  # fmt: skip
        for vertex, steps in hops[0].items():
            depth[vertex] = steps
            parent[vertex] = hops[1][vertex][-2:][0]
    return depth, parent


def changed(values: np.ndarray, **entries: int) -> np.ndarray:
    result = values.copy()
    for vertex, value in entries.items():
        result[int(vertex[1:])] = value
    return result


def test_right_answers_on_the_zoo(animal: Animal) -> None:
    graph = animal.graph()
    for source in range(0, graph.num_vertices, 7):
        verify_bfs(graph, source, *right(graph, [source]))
    verify_bfs(graph, [], *right(graph, []))
    everyone = list(range(graph.num_vertices))
    verify_bfs(graph, everyone, *right(graph, everyone))


@given(edges(), st.data())
def test_right_answers_on_any_graph(animal: Animal, data: st.DataObject) -> None:
    graph = animal.graph()
    vertex = st.integers(0, graph.num_vertices - 1)
    sources = data.draw(st.lists(vertex, min_size=1, max_size=3))
    depth, parent = right(graph, sources)
    verify_bfs(graph, sources, depth, parent)
    verify_bfs(graph, np.array(sources), depth, parent.astype(graph.targets.dtype))


@given(edges(), st.data())
def test_any_other_depth_is_caught(animal: Animal, data: st.DataObject) -> None:
    graph = animal.graph()
    place = st.integers(0, graph.num_vertices - 1)
    source, vertex = data.draw(place), data.draw(place)
    depth, _ = right(graph, [source])
    other = data.draw(st.integers(-2, graph.num_vertices).filter(lambda it: it != depth[vertex]))
    depth[vertex] = other
    with pytest.raises(VerificationError):
        verify_bfs(graph, source, depth)


@pytest.mark.parametrize(
    ("entries", "rule", "where"),
    [
        ({"v3": 3}, "at most one level down", "edge 4 - 3: depths 1 and 3"),
        ({"v2": 1}, "in-neighbour one level up", "vertex 2: depth 1"),
        ({"v5": 2, "v6": 1}, "in-neighbour one level up", "vertex 6: depth 1"),
        ({"v7": 1}, "in-neighbour one level up", "vertex 7: depth 1"),
        ({"v5": 0, "v6": 1}, "only sources have depth 0", "vertex 5"),
        ({"v3": -1}, "neighbours of reached vertices are reached", "edge 2 - 3: depths 2 and -1"),
        ({"v0": 1}, "sources have depth 0", "vertex 0: depth 1"),
        ({"v2": -2}, "depth is -1 or below", "vertex 2: depth -2"),
        ({"v2": 8}, "depth is -1 or below", "vertex 2: depth 8"),
        ({"v1": 2, "v2": 1}, "at most one level down", "edge 0 - 1: depths 0 and 2"),
    ],
)
def test_wrong_depths(entries: dict[str, int], rule: str, where: str) -> None:
    verify_bfs(TREE, 0, DEPTH, PARENT)
    with pytest.raises(VerificationError, match=rule) as caught:
        verify_bfs(TREE, 0, changed(DEPTH, **entries), PARENT)
    assert where in caught.value.problem


@pytest.mark.parametrize(
    ("entries", "rule", "where"),
    [
        ({"v3": 1}, "edges of the graph", "edge 1 - 3"),
        ({"v3": 3}, "edges of the graph", "edge 3 - 3"),
        ({"v3": 2}, "levels that differ by one", "edge 2 - 3: depths 2 and 2"),
        ({"v2": 3, "v3": 2}, "levels that differ by one", "edge 3 - 2"),
        ({"v3": -1}, "reached vertices have parents", "vertex 3"),
        ({"v7": 0}, "unreached vertices have parent -1", "vertex 7: parent 0"),
        ({"v0": 1}, "own parents", "vertex 0: parent 1"),
        ({"v0": -1}, "reached vertices have parents", "vertex 0"),
        ({"v3": 8}, "parents are vertices", "vertex 3: parent 8"),
        ({"v3": -2}, "parents are vertices", "vertex 3: parent -2"),
    ],
)
def test_wrong_parents(entries: dict[str, int], rule: str, where: str) -> None:
    with pytest.raises(VerificationError, match=rule) as caught:
        verify_bfs(TREE, 0, DEPTH, changed(PARENT, **entries))
    assert where in caught.value.problem


def test_tree_edges_keep_their_direction() -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 0])
    depth = np.array([0, 1, 2], np.int32)
    verify_bfs(graph, 0, depth, np.array([0, 0, 1], np.int32))
    with pytest.raises(VerificationError, match="reached vertices have an in-neighbour"):
        verify_bfs(graph, 0, np.array([0, 1, 1], np.int32))
    with pytest.raises(VerificationError, match="edges of the graph: edge 2 -> 1"):
        verify_bfs(graph, 0, depth, np.array([0, 2, 1], np.int32))


def test_form() -> None:
    with pytest.raises(VerificationError, match="one entry per vertex: depth has shape"):
        verify_bfs(TREE, 0, DEPTH[:-1])
    with pytest.raises(VerificationError, match="dtype: depth has dtype int64, expected int32"):
        verify_bfs(TREE, 0, DEPTH.astype(np.int64))
    with pytest.raises(VerificationError, match="dtype: parent has dtype float64, expected int32$"):
        verify_bfs(TREE, 0, DEPTH, PARENT.astype(float))
    with pytest.raises(VerificationError, match="one entry per vertex: parent"):
        verify_bfs(TREE, 0, DEPTH, PARENT[:, None])
    for source in (8, -1):
        with pytest.raises(bf.VertexError, match=f"position {source}"):
            verify_bfs(TREE, source, DEPTH)


def test_any_layout() -> None:
    verify_bfs(TREE, 0, np.repeat(DEPTH, 2)[::2], np.asfortranarray(PARENT))


def test_the_error_speaks_the_labels_and_travels() -> None:
    graph = bf.from_edges(["oslo", "bern"], ["bern", "rome"])
    with pytest.raises(AssertionError) as caught:
        verify_bfs(graph, graph.vertex("oslo"), np.array([1, 0, -1], np.int32))
    error = caught.value
    assert isinstance(error, bf.BroadfrontError)
    assert str(error) == (
        "neighbours of reached vertices are reached: edge 'bern' -> 'rome': depths 1 and -1"
    )
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.rule) == (str(error), error.rule)

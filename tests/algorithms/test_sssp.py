"""Shortest paths against SciPy and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import broadfront as bf
from zoo import Animal, edges

THREADS = [1, 2, 4]


def expected(graph: bf.Graph, sources: list[int]) -> list[float]:
    weight = "weight" if graph.weighted else None
    found = nx.multi_source_dijkstra_path_length(graph.to_networkx(), set(sources), weight=weight)
    return [found.get(vertex, np.inf) for vertex in range(graph.num_vertices)]


def as_floats(found: bf.ShortestPaths) -> list[float]:
    return np.where(found.reached, found.distance, np.inf).tolist()


@pytest.mark.parametrize("threads", THREADS)
def test_zoo(animal: Animal, threads: int) -> None:
    graph = animal.graph()
    for source in range(min(graph.num_vertices, 4)):
        found = bf.sssp(graph, source, parents=True, threads=threads)
        assert as_floats(found) == pytest.approx(expected(graph, [source]))
        found.verify()


@given(edges(weighted=True), st.data())
def test_any_graph(animal: Animal, data: st.DataObject) -> None:
    graph = animal.graph()
    vertex = st.integers(0, animal.num_vertices - 1)
    sources = data.draw(st.lists(vertex, min_size=1, max_size=3, unique=True))
    width = data.draw(st.sampled_from([None, 0.5, 100.0, 1e6]))
    first = None
    for threads in THREADS:
        found = bf.sssp(graph, sources, parents=True, threads=threads, width=width)
        assert as_floats(found) == pytest.approx(expected(graph, sources))
        found.verify()
        first = found.distance if first is None else first
        np.testing.assert_array_equal(found.distance, first)


@pytest.mark.parametrize("width", [None, 1, 17, 10_000])
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("spec", ["kron:10", "grid:40x30", "rmat:9:directed=yes", "star:300"])
def test_larger_graphs(spec: str, threads: int, width: float | None) -> None:
    graph = bf.generate(spec, weights=(1, 63))
    source = int(np.argmax(graph.degrees))
    found = bf.sssp(graph, source, threads=threads, width=width)
    distance = dijkstra(graph.to_scipy().astype(float), indices=source)
    np.testing.assert_array_equal(as_floats(found), distance)
    found.verify()


def with_weights(weight: np.ndarray) -> bf.Graph:
    return bf.from_edges([0, 0, 1], [1, 2, 2], weight=weight)


@pytest.mark.parametrize(
    ("weight", "dtype"),
    [
        (np.array([4, 9, 3], np.int32), np.int64),
        (np.array([4, 9, 3], np.int64) * 2**40, np.int64),
        (np.array([0.5, 9, 3], np.float32), np.float32),
        (np.array([0.5, 9, 3], np.float64), np.float64),
    ],
)
def test_dtypes(weight: np.ndarray, dtype: type) -> None:
    found = bf.sssp(with_weights(weight), 0)
    assert found.distance.dtype == dtype
    assert found.distance.tolist() == [0, weight[0], weight[0] + weight[2]]
    assert found.parent is None
    unreached = bf.sssp(with_weights(weight), 2).distance[0]
    assert unreached == (np.inf if np.dtype(dtype).kind == "f" else np.iinfo(np.int64).max)


def test_without_weights_every_edge_weighs_one() -> None:
    graph = bf.generate("grid:10x10:0")
    found = bf.sssp(graph, 0, parents=True)
    assert found.distance.dtype == np.int64
    assert found.distance[99] == 18
    found.verify()
    assert len(found.path_to(99)) == 19


def test_a_circle_of_weight_zero_has_no_circle_of_parents() -> None:
    graph = bf.from_edges([0, 1, 2, 3], [1, 2, 3, 1], weight=[5, 0, 0, 0])
    for threads in THREADS:
        found = bf.sssp(graph, 0, parents=True, threads=threads)
        assert found.distance.tolist() == [0, 5, 5, 5]
        assert found.path_to(3) == [0, 1, 2, 3]
        found.verify()


@given(edges(weighted=True), st.data())
def test_a_target_is_exact_and_the_rest_unreached(animal: Animal, data: st.DataObject) -> None:
    graph = animal.graph()
    vertex = st.integers(0, animal.num_vertices - 1)
    source, target = data.draw(vertex), data.draw(vertex)
    width = data.draw(st.sampled_from([None, 0.5, 100.0]))
    whole = bf.sssp(graph, source)
    near = whole.reached & (whole.distance <= whole.distance[target])
    for threads in THREADS:
        found = bf.sssp(graph, source, target=target, threads=threads, width=width)
        np.testing.assert_array_equal(found.reached, near)
        np.testing.assert_array_equal(found.distance[near], whole.distance[near])
        assert np.isinf(found.distance[~near]).all()
        steps = found.path_to(target)
        assert bool(steps) == whole.reached[target]
        if steps:
            ends = zip(steps, steps[1:], strict=False)
            assert weigh(graph, list(ends)) == pytest.approx(whole.distance[target])
            assert (steps[0], steps[-1]) == (source, target)


def weigh(graph: bf.Graph, arcs: list[tuple[int, int]]) -> float:
    weight = {
        (tail, head): value
        for tail, head, value in zip(
            graph.sources().tolist(), graph.targets.tolist(), graph.weights.tolist(), strict=True
        )
    }
    return sum(weight[arc] for arc in arcs)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("weights", [(1, 9), None])
def test_a_target_stops_early(threads: int, weights: tuple[int, int] | None) -> None:
    graph = bf.generate("grid:300x20:0", weights=weights)
    whole = bf.sssp(graph, 0, threads=threads)
    found = bf.sssp(graph, 0, target=41, parents=True, threads=threads)
    assert found.distance[41] == whole.distance[41]
    assert not found.reached[-1]
    assert found.distance[-1] == np.iinfo(np.int64).max
    assert found.report.edges_visited < whole.report.edges_visited / 2
    assert found.path_to(41)[-1] == 41
    assert found.path_to(5999) == []
    with pytest.raises(bf.OptionError, match="not verified"):
        found.verify()


def test_paths_without_parents_asked_for() -> None:
    for weight in (None, [4, 9, 3], [4.0, 9.0, 3.0]):
        found = bf.sssp(bf.from_edges([0, 0, 1], [1, 2, 2], weight=weight), 0)
        assert found.path_to(2) == ([0, 2] if weight is None else [0, 1, 2])
        assert found.parent is None
        assert list(found.to_pandas().columns) == ["vertex", "distance"]


def test_refusals() -> None:
    graph = bf.from_edges(["a", "b"], ["b", "c"], weight=[1, -2])
    with pytest.raises(bf.GraphError, match="b -> c weighs -2"):
        bf.sssp(graph, "a")
    with pytest.raises(bf.VertexError, match="no vertex 'z'"):
        bf.sssp(with_weights(np.array([1, 1, 1])), "z")
    with pytest.raises(bf.OptionError, match="width=0"):
        bf.sssp(with_weights(np.array([1, 1, 1])), 0, width=0)


def test_a_broken_answer_is_caught() -> None:
    found = bf.sssp(bf.generate("kron:8", weights=(1, 9)), 5)
    found.distance[np.argmax(found.reached)] += 1
    with pytest.raises(bf.VerificationError):
        found.verify()

"""Right centralities pass; each kind of wrong one is caught by its rule."""

from __future__ import annotations

import random
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.errors import VerificationError
from broadfront.verify import verify_betweenness
from zoo import Animal, edges

SAMPLES_AS_HERE = tuple(map(int, nx.__version__.split(".")[:2])) >= (3, 6)


def right(graph: bf.Graph, normalized: bool, weighted: bool = False) -> np.ndarray:
    found = nx.betweenness_centrality(
        graph.to_networkx(), normalized=normalized, weight="weight" if weighted else None
    )
    return np.array([found[vertex] for vertex in range(graph.num_vertices)], float)


def exact(graph: bf.Graph, sources: list[int]) -> list[Fraction]:
    """Return raw values from whole numbers of paths, by hops."""
    raw = [Fraction(0)] * graph.num_vertices
    neighbors = [graph.neighbors(vertex).tolist() for vertex in range(graph.num_vertices)]
    for source in sources:
        depth, paths, order = {source: 0}, {source: 1}, [source]
        for tail in order:
            for head in neighbors[tail]:
                if head not in depth:
                    depth[head], paths[head] = depth[tail] + 1, 0
                    order.append(head)
                if depth[head] == depth[tail] + 1:
                    paths[head] += paths[tail]
        share: dict[int, Fraction] = {}
        for tail in reversed(order):
            below = [head for head in neighbors[tail] if depth[head] == depth[tail] + 1]
            share[tail] = sum(
                (Fraction(paths[tail], paths[head]) * (1 + share[head]) for head in below),
                Fraction(0),
            )
            if tail != source:
                raw[tail] += share[tail]
    return raw


def whole_weights(animal: Animal) -> bf.Graph:
    """Return the graph with weights 1..5: ties are many, and no weight is zero."""
    weight = [1 + round(value) % 5 for value in animal.weight or []]
    return animal._replace(weight=weight).graph()


@pytest.mark.parametrize("normalized", [True, False])
def test_right_answers_on_the_zoo(animal: Animal, normalized: bool) -> None:
    graph = animal.graph()
    verify_betweenness(graph, right(graph, normalized), None, normalized)
    if animal.weight is not None and min(animal.weight) > 0:
        verify_betweenness(graph, right(graph, normalized, True), None, normalized, True)


@given(edges(weighted=True), st.booleans(), st.booleans())
def test_right_answers_on_any_graph(animal: Animal, normalized: bool, weighted: bool) -> None:
    graph = whole_weights(animal)
    found = right(graph, normalized, weighted)
    verify_betweenness(graph, found, None, normalized, weighted)
    verify_betweenness(graph, found, range(graph.num_vertices), normalized, weighted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_every_dtype_of_weights(dtype: type) -> None:
    graph = bf.generate("kron:7")
    ends = graph.to_pandas()
    weight = ((ends["source"] * 7 + ends["target"]) % 5 + 1).to_numpy().astype(dtype) / 4
    graph = bf.from_edges(
        ends["source"], ends["target"], weight, graph.num_vertices, directed=False
    )
    verify_betweenness(graph, right(graph, True, True), None, True, True)


@pytest.mark.skipif(not SAMPLES_AS_HERE, reason="NetworkX before 3.6 scales samples otherwise")
@given(edges(weighted=True), st.booleans(), st.booleans(), st.integers(2, 6))
def test_samples_are_scaled_as_networkx_does(
    animal: Animal, normalized: bool, weighted: bool, count: int
) -> None:
    graph = whole_weights(animal)
    count = min(count, graph.num_vertices)
    sources = random.Random(5).sample(range(graph.num_vertices), count)
    found = nx.betweenness_centrality(
        graph.to_networkx(), k=count, normalized=normalized, seed=random.Random(5),
        weight="weight" if weighted else None,
    )  # fmt: skip
    values = np.array([found[vertex] for vertex in range(graph.num_vertices)])
    if count > 1:
        verify_betweenness(graph, values, sources, normalized, weighted)


def test_samples_by_hand() -> None:
    graph = bf.generate("path:5")  # from 0: 1 is between 3 pairs, 2 two, 3 one; from 2: 1 and 3 one
    verify_betweenness(graph, np.array([0, 3, 2, 1, 0]) * 4 / 2, 0, False)
    verify_betweenness(graph, np.array([0, 3, 2, 1, 0]) / 3, [0], True)
    verify_betweenness(graph, np.array([0, 4 / 2, 2, 2 / 2, 0]) * 4 / 2, [0, 2], False)
    verify_betweenness(graph, np.array([0, 4 / 2, 2, 2 / 2, 0]) / 3, [2, 0, 2], True)
    verify_betweenness(graph, np.zeros(5), [], True)
    directed = bf.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    verify_betweenness(directed, np.array([0, 3, 2, 1, 0]) * 4.0, [0], False)


@pytest.mark.parametrize("spec", ["grid:7x9", "grid:24x24", "complete:9"])
def test_exact_path_counts(spec: str) -> None:
    graph = bf.generate(spec)
    raw = np.array([float(value) for value in exact(graph, [0, 5])])
    size = graph.num_vertices
    scale = np.full(size, 1 / 2)
    scale[[0, 5]] = 1
    verify_betweenness(graph, raw * scale / (size - 2), [0, 5], True)


def ladder(rungs: int) -> bf.Graph:
    """Return diamonds in a row: a path count doubles at each, beyond float64 after 1024."""
    joints = 3 * np.arange(rungs)
    source = np.concatenate([joints, joints, joints + 1, joints + 2])
    target = np.concatenate([joints + 1, joints + 2, joints + 3, joints + 3])
    return bf.from_edges(source, target)


def test_counts_beyond_float64() -> None:
    rungs = 2500
    graph = ladder(rungs)
    size = graph.num_vertices
    after = size - 1 - np.arange(size)  # vertices behind each, all reached through a joint
    raw = np.where(np.arange(size) % 3 == 0, after, 0).astype(float)
    sides = np.arange(size) % 3 != 0
    raw[sides] = (size - 3 * (np.arange(size)[sides] // 3) - 3) / 2
    raw[0] = 0
    verify_betweenness(graph, raw * (size - 1), [0], False)
    small = ladder(4)
    known = [float(value) for value in exact(small, [0])]
    assert known == [0, 5, 5, 9, 3.5, 3.5, 6, 2, 2, 3, 0.5, 0.5, 0]
    verify_betweenness(small, np.array(known) * 12, [0], False)


def test_a_count_far_below_its_neighbour() -> None:
    """A long way round meets 2 ** 1800 ways through the diamonds at the last joint."""
    rungs = 1800
    graph = ladder(rungs)
    last, size = 3 * rungs, graph.num_vertices
    around = np.arange(2 * rungs - 1) + size
    source = np.concatenate([graph.sources(), [0], around])
    target = np.concatenate([graph.targets, around, [last]])
    both = bf.from_edges(source, target)
    raw = [float(value) for value in exact(both, [0])]
    verify_betweenness(both, np.array(raw) * (both.num_vertices - 1), [0], False)


WHEEL = bf.from_edges([0, 0, 0, 1, 4], [1, 2, 3, 2, 3], directed=False)


@pytest.mark.parametrize(
    ("vertex", "change", "rule"),
    [
        (0, lambda value: value * 1.01, "share of shortest paths: vertex 0: .* expected"),
        (0, lambda value: value * 0.99, "share of shortest paths: vertex 0"),
        (1, lambda value: value + 1e-6, "share of shortest paths: vertex 1"),
        (3, lambda value: 0.0, "share of shortest paths: vertex 3"),
        (2, lambda value: np.nan, "numbers, zero or more: vertex 2: centrality nan"),
        (2, lambda value: np.inf, "numbers, zero or more: vertex 2: centrality inf"),
        (2, lambda value: -0.1, "numbers, zero or more: vertex 2: centrality -0.1"),
    ],
)
def test_wrong_values(vertex: int, change, rule: str) -> None:
    centrality = right(WHEEL, True)
    verify_betweenness(WHEEL, centrality, None, True)
    centrality[vertex] = change(centrality[vertex])
    with pytest.raises(VerificationError, match=rule):
        verify_betweenness(WHEEL, centrality, None, True)


def test_the_answer_to_another_question_is_caught() -> None:
    for sources, normalized in ((None, False), ([0, 1], True)):
        with pytest.raises(VerificationError, match="share of shortest paths"):
            verify_betweenness(WHEEL, right(WHEEL, True), sources, normalized)


def test_a_sample_still_finds_what_is_too_small() -> None:
    graph = bf.generate("grid:20x20")
    centrality = right(graph, True)
    few = 2 * graph.num_arcs * 50
    verify_betweenness(graph, centrality, None, True, most_arcs=few)
    with pytest.raises(VerificationError, match="share of shortest paths"):
        verify_betweenness(graph, centrality / 100, None, True, most_arcs=few)


def test_zero_weights_are_refused() -> None:
    graph = bf.from_edges([0, 1], [1, 2], weight=[1, 0])
    with pytest.raises(bf.GraphError, match="edge 1 -> 2: weight 0"):
        verify_betweenness(graph, np.zeros(3), None, True, weighted=True)


def test_weights_lost_in_rounding_do_no_harm() -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 3], weight=[1e16, 1e-3, 1e16], directed=False)
    verify_betweenness(graph, np.array([0, 2, 2, 0.0]), None, False, weighted=True)


def test_form() -> None:
    with pytest.raises(VerificationError, match="one entry per vertex"):
        verify_betweenness(WHEEL, np.zeros(4), None, True)
    with pytest.raises(VerificationError, match="dtype: centrality has dtype float32"):
        verify_betweenness(WHEEL, np.zeros(5, np.float32), None, True)
    with pytest.raises(bf.VertexError):
        verify_betweenness(WHEEL, np.zeros(5), [5], True)

"""Betweenness against NetworkX, exact path counts and itself on other numbers of threads."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import broadfront as bf
from broadfront.algorithms import betweenness as module
from broadfront.algorithms.betweenness import Betweenness, betweenness
from broadfront.errors import GraphError, OptionError, TimeLimitError, VerificationError
from broadfront.operators.describe import Levels
from zoo import Animal, edges

THREADS = (1, 2, 4)


class Picked(random.Random):
    """A random number generator for NetworkX that samples what it is told to."""

    def __init__(self, sources: Any) -> None:
        super().__init__(0)
        self.sources = list(sources)

    def sample(self, population: Any, k: int, **_: Any) -> list[Any]:  # type: ignore[override]
        return self.sources


def by_networkx(graph: bf.Graph, sources: Any = None, **options: Any) -> np.ndarray:
    if sources is not None and len(sources) < graph.num_vertices:
        options |= {"k": len(sources), "seed": Picked(sources)}
    with np.errstate(all="ignore"):
        found = nx.betweenness_centrality(graph.to_networkx(), **options)
    return np.nan_to_num([found[vertex] for vertex in graph.labels.tolist()], posinf=0.0)


def same_on_all_threads(graph: bf.Graph, *arguments: Any, **options: Any) -> Betweenness:
    """Return a result that has the same bits for any number of threads, and is verified."""
    results = [betweenness(graph, *arguments, threads=count, **options) for count in THREADS]
    for result in results[1:]:
        np.testing.assert_array_equal(result.centrality, results[0].centrality)
    results[0].verify()
    return results[0]


# ---------------------------------------------------------------------- small graphs


@pytest.mark.parametrize("normalized", [True, False])
def test_zoo(animal: Animal, normalized: bool) -> None:
    graph = animal._replace(weight=None).graph()
    found = same_on_all_threads(graph, normalized=normalized)
    expected = by_networkx(graph, normalized=normalized)
    np.testing.assert_allclose(found.centrality, expected, rtol=1e-12, atol=1e-15)
    assert found.centrality.dtype == np.float64


@given(edges(weighted=False), st.booleans())
def test_any_graph(animal: Animal, normalized: bool) -> None:
    graph = animal.graph()
    found = same_on_all_threads(graph, normalized=normalized)
    expected = by_networkx(graph, normalized=normalized)
    np.testing.assert_allclose(found.centrality, expected, rtol=1e-12, atol=1e-15)


@given(edges(weighted=False), st.data(), st.booleans())
def test_a_list_of_sources(animal: Animal, data: st.DataObject, normalized: bool) -> None:
    graph = animal.graph()
    everyone = st.integers(0, graph.num_vertices - 1)
    least = min(2, graph.num_vertices)
    sources = data.draw(st.lists(everyone, min_size=least, max_size=6, unique=True))
    found = same_on_all_threads(graph, sources, normalized)
    expected = by_networkx(graph, sources, normalized=normalized)
    np.testing.assert_allclose(found.centrality, expected, rtol=1e-12, atol=1e-15)


@settings(max_examples=30)
@given(edges(weighted=True), st.sampled_from([np.int64, np.float64]))
def test_weighted(animal: Animal, dtype: Any) -> None:
    weight = np.array([1 + round(value) % 5 for value in animal.weight or []], dtype)
    graph = animal._replace(weight=weight).graph()
    found = same_on_all_threads(graph, weighted=True)
    if graph.num_edges:
        expected = by_networkx(graph, weight="weight")
        np.testing.assert_allclose(found.centrality, expected, rtol=1e-12, atol=1e-15)


@settings(max_examples=20)
@given(edges(weighted=True))
def test_weights_that_hardly_ever_tie(animal: Animal) -> None:
    weight = [value + 0.1 for value in animal.weight or []]
    same_on_all_threads(animal._replace(weight=weight).graph(), weighted=True)


def test_larger_graphs() -> None:
    """Levels of many vertices, so that all threads take part."""
    for spec in ("kron:10", "rgg:11", "grid:40x50"):
        graph = bf.generate(spec, seed=3)
        sources = [0, 5, 99]
        found = same_on_all_threads(graph, sources)
        expected = by_networkx(graph, sources)
        np.testing.assert_allclose(found.centrality, expected, rtol=1e-12, atol=1e-15)


def test_larger_directed_graph() -> None:
    numbers = np.random.default_rng(4).integers(0, 3000, (2, 15_000))
    graph = bf.from_edges(numbers[0], numbers[1], num_vertices=3000, directed=True)
    found = same_on_all_threads(graph, [7, 8])
    expected = by_networkx(graph, [7, 8])
    np.testing.assert_allclose(found.centrality, expected, rtol=1e-12, atol=1e-15)


def test_larger_weighted_graph() -> None:
    random_edges = np.random.default_rng(4).integers(0, 2000, (2, 12_000))
    weight = np.random.default_rng(5).integers(1, 8, 12_000)
    for directed in (True, False):
        graph = bf.from_edges(*random_edges, weight, num_vertices=2000, directed=directed)
        found = same_on_all_threads(graph, [3, 4], weighted=True)
        expected = by_networkx(graph, [3, 4], weight="weight")
        np.testing.assert_allclose(found.centrality, expected, rtol=1e-12, atol=1e-15)


# ---------------------------------------------------------------------- very many paths


def exact(graph: bf.Graph, source: int) -> list[Fraction]:
    """Return the raw values from whole numbers of paths."""
    neighbors = [graph.neighbors(vertex).tolist() for vertex in range(graph.num_vertices)]
    depth, paths, order = {source: 0}, {source: 1}, [source]
    for tail in order:
        for head in neighbors[tail]:
            if head not in depth:
                depth[head], paths[head] = depth[tail] + 1, 0
                order.append(head)
            if depth[head] == depth[tail] + 1:
                paths[head] += paths[tail]
    scale = 1 << 80  # whole numbers of 2^-80: as exact as need be, and quicker than fractions
    raw = [0] * graph.num_vertices
    for tail in reversed(order):
        for head in neighbors[tail]:
            if depth[head] == depth[tail] + 1:
                raw[tail] += paths[tail] * (scale + raw[head]) // paths[head]
    raw[source] = 0
    return [Fraction(value, scale) for value in raw]


def diamonds(count: int) -> bf.Graph:
    """Return diamonds tip to tip: 2 ** count shortest paths from end to end."""
    tips = 3 * np.arange(count)
    source = np.concatenate([tips, tips, tips + 1, tips + 2])
    target = np.concatenate([tips + 1, tips + 2, tips + 3, tips + 3])
    return bf.from_edges(source, target, directed=False)


def test_a_ladder_of_diamonds_is_exact() -> None:
    graph = diamonds(3000)
    found = same_on_all_threads(graph, [0], normalized=False)
    size, tip = graph.num_vertices, np.arange(1, 3001)
    raw = np.zeros(size)
    raw[3 * tip] = size - 1 - 3 * tip
    raw[3 * tip - 1] = raw[3 * tip - 2] = (size - 3 * tip) / 2
    np.testing.assert_array_equal(found.centrality, raw * ((size - 1) / 2))


@pytest.mark.parametrize("spec", ["grid:30x40", "grid:180x200", "grid:8x700"])
def test_grids_by_exact_counts(spec: str) -> None:
    graph = bf.generate(spec, seed=1)
    size = graph.num_vertices
    found = same_on_all_threads(graph, [0], normalized=False)
    expected = np.array([float(value) for value in exact(graph, 0)]) * ((size - 1) / 2)
    np.testing.assert_allclose(found.centrality, expected, rtol=1e-12)


def test_powers_apart_meet() -> None:
    """A vertex with one short way and one with 2 ** 1200 paths of the same length."""
    graph = diamonds(1200)
    source, target = graph.sources().tolist(), graph.targets.tolist()
    far, size = 3600, graph.num_vertices
    way = [0, *range(size, size + 2399), far]
    for joined in (far, far - 3):  # into the end, and before it: 2400 edges, or two too many
        way[-1] = joined
        whole = bf.from_edges(source + way[:-1], target + way[1:], directed=False)
        found = same_on_all_threads(whole, [0], normalized=False)
        expected = [float(value) * ((whole.num_vertices - 1) / 2) for value in exact(whole, 0)]
        np.testing.assert_allclose(found.centrality, expected, rtol=1e-12, atol=1e-300)


def test_a_large_grid_is_finite() -> None:
    graph = bf.generate("grid:1000x1000", seed=0)
    sources = [0, 999, 500_500, 999_999]
    one, two = (betweenness(graph, sources, threads=count) for count in (1, 2))
    assert np.isfinite(one.centrality).all()
    assert one.centrality.max() > 0
    np.testing.assert_array_equal(one.centrality, two.centrality)


# ---------------------------------------------------------------------- what can be asked for


def test_samples() -> None:
    graph = bf.generate("kron:8", seed=1)
    first = betweenness(graph, 10)
    assert len(first.sources) == 10
    np.testing.assert_array_equal(first.centrality, betweenness(graph, 10, seed=0).centrality)
    assert set(betweenness(graph, 10, seed=1).sources) != set(first.sources)
    np.testing.assert_allclose(first.centrality, by_networkx(graph, first.sources), atol=1e-15)
    whole = betweenness(graph, graph.num_vertices).centrality
    np.testing.assert_array_equal(whole, betweenness(graph).centrality)


def test_few_sources_at_a_time_add_up_to_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = bf.generate("kron:7:weights=1-9")
    for weighted in (False, True):
        whole = betweenness(graph, weighted=weighted)
        with monkeypatch.context() as patch:
            patch.setattr(module, "VERTICES_AT_ONCE", 5 * graph.num_vertices)
            parts = same_on_all_threads(graph, weighted=weighted)
        np.testing.assert_array_equal(parts.centrality, whole.centrality)
        assert parts.report.iterations == whole.report.iterations


def test_labels_and_repeats() -> None:
    graph = bf.from_edges(["a", "b", "c", "c"], ["b", "c", "d", "e"], directed=False)
    found = betweenness(graph, ["a", "d", "a"])
    expected = by_networkx(graph, ["a", "d"])
    np.testing.assert_allclose(found.centrality, expected)
    frame = found.to_pandas()
    assert list(frame["vertex"]) == list("abcde")
    np.testing.assert_array_equal(frame["centrality"], found.centrality)
    assert "the first is c" in repr(found)


def test_one_source_and_none() -> None:
    graph = bf.generate("path:5")
    assert betweenness(graph, [1]).centrality[1] == 0.0
    none = betweenness(graph, [])
    assert not none.centrality.any()
    none.verify()


def test_weighted_without_weights_is_by_hops() -> None:
    graph = bf.generate("kron:6", seed=2)
    found = betweenness(graph, weighted=True)
    np.testing.assert_array_equal(found.centrality, betweenness(graph).centrality)


def test_wrong_answers_are_caught() -> None:
    found = betweenness(bf.generate("smallworld:34:4:0.3", seed=1))
    found.centrality[3] *= 1.001
    with pytest.raises(VerificationError, match="vertex 3"):
        found.verify()


@pytest.mark.parametrize("sources", [0, -1, 35, "0", 2.5, True])
def test_sources_that_make_no_sense(sources: Any) -> None:
    with pytest.raises(OptionError, match="sources="):
        betweenness(bf.generate("smallworld:34:4:0.3", seed=1), sources)


def test_unknown_source() -> None:
    with pytest.raises(bf.VertexError):
        betweenness(bf.generate("smallworld:34:4:0.3", seed=1), [99])


@pytest.mark.parametrize("weight", [0.0, -2.0])
def test_weights_must_be_positive(weight: float) -> None:
    graph = bf.from_edges(["a", "b"], ["b", "c"], [1.0, weight])
    with pytest.raises(GraphError, match=f"b -> c weighs {weight}"):
        betweenness(graph, weighted=True)


def test_weights_lost_to_rounding() -> None:
    graph = bf.from_edges([0, 1], [1, 2], [1e20, 1.0])
    with pytest.raises(GraphError, match="too far apart"):
        betweenness(graph, weighted=True)


def test_time_limit_and_progress() -> None:
    graph = bf.generate("kron:12", seed=1)
    told: list[tuple[str, int, int]] = []
    betweenness(graph, 3, progress=lambda *words: told.append(words))
    assert told[0] == ("betweenness", 0, 3)
    assert told[-1] == ("betweenness", 3, 3)
    with pytest.raises(TimeLimitError, match="time_limit=0.05"):
        betweenness(graph, time_limit=0.05)
    betweenness(graph, 3).verify()


# ---------------------------------------------------------------------- the operator


def one(neighbor, vertex, edge, state):
    return state.seen[neighbor]


def count_earlier(vertex, total, state):
    state.earlier[vertex] = int(total)
    state.seen[vertex] = 1


def levels_program(gather: Any = one, **options: Any) -> bf.Program:
    fields = {name: bf.Field(np.int64) for name in ("level", "seen", "earlier")}
    return bf.Program(fields, step=[Levels(gather, count_earlier, **{"by": "level", **options})])


@given(edges(weighted=False), st.booleans(), st.data())
def test_levels_see_earlier_levels_only(animal: Animal, down: bool, data: st.DataObject) -> None:
    graph = animal.graph()
    size = graph.num_vertices
    level = np.array(data.draw(st.lists(st.integers(-1, size), min_size=size, max_size=size)))
    arcs = list(zip(graph.sources().tolist(), graph.targets.tolist(), strict=True))
    expected = np.zeros(size, np.int64)
    for tail, head in arcs:
        vertex, neighbor = (tail, head) if down else (head, tail)
        both = 0 <= level[vertex] < size and 0 <= level[neighbor] < size
        earlier = level[neighbor] > level[vertex] if down else level[neighbor] < level[vertex]
        expected[vertex] += both and earlier
    for count in THREADS:
        program = DOWN if down else UP
        answer = bf.run(program, graph, init={"level": level}, threads=count)
        np.testing.assert_array_equal(answer["earlier"], expected)


UP, DOWN = levels_program(), levels_program(descending=True)


def test_levels_that_make_no_sense() -> None:
    with pytest.raises(OptionError, match="needs by="):
        levels_program(by=None)
    with pytest.raises(OptionError, match="no field 'depth'"):
        levels_program(by="depth")
    with pytest.raises(OptionError, match="when and instead"):
        levels_program(when=len)
    with pytest.raises(OptionError, match="not of integers"):
        bf.Program({"level": bf.Field(float)}, step=[Levels(one, count_earlier, by="level")])


def test_a_functor_of_levels_that_does_not_compile_is_named() -> None:
    def misspelt(neighbor, vertex, edge, state):
        return state.sene[neighbor]

    with pytest.raises(bf.FunctorError, match=r"test_betweenness.py, line \d+: functor misspelt"):
        bf.run(levels_program(misspelt), bf.generate("path:3"), threads=1)

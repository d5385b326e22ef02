"""Building from edges, against SciPy and against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

import broadfront as bf
from broadfront import threads
from broadfront.graph import build
from zoo import Animal, edges, same


def plain_python(animal: Animal, simple: bool = False) -> list[tuple[int, int, float]]:
    """The arcs that must be stored: sorted, each once, the smallest weight."""
    found: dict[tuple[int, int], float] = {}
    weights = animal.weight or [0.0] * len(animal.source)
    for u, v, w in zip(animal.source, animal.target, weights, strict=True):
        if simple and u == v:
            continue
        for arc in [(u, v)] if animal.directed else [(u, v), (v, u)]:
            found[arc] = min(w, found.get(arc, w))
    return sorted((u, v, w) for (u, v), w in found.items())


def arcs(graph: bf.Graph) -> list[tuple[int, int, float]]:
    weights = np.zeros(graph.num_arcs) if graph.weights is None else graph.weights
    return list(
        zip(graph.sources().tolist(), graph.targets.tolist(), weights.tolist(), strict=True)
    )


@pytest.mark.parametrize("simple", [False, True])
def test_zoo(animal: Animal, simple: bool) -> None:
    graph = animal.graph(simple=simple)
    expected = plain_python(animal, simple)
    assert arcs(graph) == expected
    loops = sum(u == v for u, v, _ in expected)
    assert graph.num_self_loops == loops
    assert graph.num_vertices == animal.num_vertices
    undirected = {(min(u, v), max(u, v)) for u, v, _ in expected}
    assert graph.num_edges == (len(expected) if animal.directed else len(undirected))
    raw_loops = sum(u == v for u, v in zip(animal.source, animal.target, strict=True))
    assert graph.origin.edges_read == len(animal.source)
    assert graph.origin.self_loops == raw_loops
    dropped = raw_loops if simple else 0
    assert graph.origin.duplicates == len(animal.source) - dropped - graph.num_edges


@given(edges())
def test_any_edges(animal: Animal) -> None:
    for simple in (False, True):
        assert arcs(animal.graph(simple=simple)) == plain_python(animal, simple)


@given(edges())
def test_transpose_turns_every_arc(animal: Animal) -> None:
    graph = animal.graph()
    turned = graph.transpose
    assert sorted((v, u, w) for u, v, w in arcs(graph)) == arcs(turned)
    assert turned.transpose is graph
    if not animal.directed:
        assert turned is graph


def random_edges(seed: int, size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    hubs = random.integers(0, size, count) ** 2 // size
    return hubs.astype(np.int32), random.integers(0, size, count, dtype=np.int32)


@pytest.mark.parametrize("count", [0, 1, 1000, 300_000])
@pytest.mark.parametrize("size", [1, 3, 1000, 70_000])
def test_against_scipy(size: int, count: int) -> None:
    source, target = random_edges(size + count, size, count)
    graph = bf.from_edges(source, target, num_vertices=size, directed=False)
    half = sp.coo_array((np.ones(count, bool), (source, target)), shape=(size, size)).tocsr()
    both = (half + half.T).tocsr()
    both.sort_indices()
    np.testing.assert_array_equal(graph.offsets, both.indptr)
    np.testing.assert_array_equal(graph.targets, both.indices)
    assert graph.offsets.dtype == graph.targets.dtype == np.int32


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_same_for_any_number_of_threads(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = random_edges(1, 5000, 200_000)
    weight = np.random.default_rng(2).integers(0, 50, len(source))
    with threads.limit(1):
        alone = bf.from_edges(source, target, weight, 5000, directed=False)
    monkeypatch.setattr(build, "EDGES_PER_PIECE", 7_000)
    monkeypatch.setattr(build, "BUCKET_ARCS", 1_000)
    with threads.limit(count):
        same(alone, bf.from_edges(source, target, weight, 5000, directed=False))


def test_keys_of_64_bits() -> None:
    """Ids so large that a key needs more than 32 bits sort the same."""
    source = np.array([2**27, 5, 2**27, 5, 0], np.int64)
    target = np.array([1, 2**27, 1, 3, 2**27], np.int64)
    graph = bf.from_edges(source, target, num_vertices=2**27 + 1)
    assert arcs(graph) == [(0, 2**27, 0), (5, 3, 0), (5, 2**27, 0), (2**27, 1, 0)]
    assert build.planned(2**27 + 1, 5, symmetric=False, drop_loops=False).key_dtype is np.uint64


def test_index_dtype_grows_by_itself() -> None:
    assert build.index_dtype(10, 2**31 - 1) is np.int32
    assert build.index_dtype(10, 2**31) is np.int64
    assert build.index_dtype(2**31, 10) is np.int64


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_any_integer_ids(dtype: type) -> None:
    graph = bf.from_edges(np.array([0, 1], dtype), np.array([1, 2], dtype))
    assert arcs(graph) == [(0, 1, 0), (1, 2, 0)]


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (bool, np.int32), (np.int8, np.int32), (np.uint16, np.int32), (np.int64, np.int32),
        (np.uint64, np.int32), (np.float16, np.float32), (np.float32, np.float32),
        (np.float64, np.float64),
    ],
)  # fmt: skip
def test_any_real_weights(dtype: type, kept: type) -> None:
    graph = bf.from_edges([0, 0, 1], [1, 1, 2], weight=np.array([1, 0, 1], dtype))
    assert graph.weights is not None
    assert graph.weights.dtype == kept
    assert graph.weights.tolist() == [0, 1]


def test_large_integer_weights_stay_exact() -> None:
    graph = bf.from_edges([0, 1], [1, 0], weight=np.array([2**62, -5], np.int64))
    assert graph.weights is not None
    assert graph.weights.tolist() == [2**62, -5]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, -1], [1, 1]), "edge 1: source -1"),
        (([0], [1, 2]), "1 sources but 2 targets"),
        (([0, 1], [1, 5], None, 5), r"edge 1: target 5 is not a vertex id in 0\.\.4"),
        (([0], [1], [float("nan")]), "edge 0: weight is nan"),
        (([0, 1], [1, 2], [1.0]), "2 edges but weights of shape"),
        (([0], [1], ["heavy"]), "not real numbers"),
        (([0], [1], [1j]), "not real numbers"),
        ((np.array([[0]]), np.array([[1]])), "has shape"),
        (([[0]], [[1]]), "cannot be names"),
        (([0.5], [1]), r"edge 0: source 0\.5 is not a vertex id"),
        (([None], ["a"]), "edge 0: source is missing"),
        ((np.array([2**64 - 1], np.uint64), [1]), "beyond 64-bit"),
        (([0], [1], np.array([2**64 - 1], np.uint64)), "beyond 64-bit"),
        (([], [], None, -1), "negative"),
        ((["a"], ["b"], None, 2), "num_vertices goes with integer ids"),
    ],
)
def test_refusals(arguments: tuple, message: str) -> None:
    with pytest.raises(bf.GraphError, match=message):
        bf.from_edges(*arguments)


def test_arrays_cannot_be_changed() -> None:
    graph = bf.from_edges([0, 1], [1, 0], weight=[1, 2])
    for array in (graph.offsets, graph.targets, graph.weights):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1

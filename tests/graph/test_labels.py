"""Which integers are positions, which are labels, and finding vertices by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.graph.build import Columns
from broadfront.graph.distinct import distinct


def test_dense_integers_are_positions() -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 5])
    assert graph.num_vertices == 6
    assert not graph.labelled
    assert graph.labels.tolist() == [0, 1, 2, 3, 4, 5]
    assert graph.vertex(5) == 5


def test_sparse_integers_are_labels() -> None:
    graph = bf.from_edges([1001, 7], [7, 10**15])
    assert graph.labels.tolist() == [7, 1001, 10**15]
    assert [graph.vertex(name) for name in (7, 1001, 10**15)] == [0, 1, 2]
    assert graph.neighbors(graph.vertex(1001)).tolist() == [0]


def test_num_vertices_decides() -> None:
    graph = bf.from_edges([1001], [7], num_vertices=2000)
    assert graph.num_vertices == 2000
    assert graph.vertex(1001) == 1001


def test_half_dense_integers_without_a_hash() -> None:
    """Sparse, but small enough to count: the same answer by another road."""
    source, target = [0, 90, 3] * 20, [50, 0, 90] * 20
    assert bf.from_edges(source, target).labels.tolist() == [0, 3, 50, 90]


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1, max_size=40))
def test_integers_come_back(pairs: list[tuple[int, int]]) -> None:
    graph = bf.from_edges([u for u, _ in pairs], [v for _, v in pairs])
    names = graph.labels
    stored = set(zip(names[graph.sources()].tolist(), names[graph.targets].tolist(), strict=True))
    assert stored == set(pairs)
    assert all(names[graph.vertex(u)] == u for u, _ in pairs)


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), min_size=1, max_size=30))
def test_strings_come_back_in_order(pairs: list[tuple[str, str]]) -> None:
    graph = bf.from_edges([u for u, _ in pairs], [v for _, v in pairs])
    names = graph.labels.tolist()
    assert names == sorted({name for pair in pairs for name in pair})
    stored = {(names[u], names[v]) for u, v in zip(graph.sources(), graph.targets, strict=True)}
    assert stored == set(pairs)


def test_objects_that_cannot_be_compared_keep_their_order() -> None:
    graph = bf.from_edges([("a", 1), 5, "x"], [5, "x", ("a", 1)])
    assert graph.labels.tolist() == [("a", 1), 5, "x"]
    assert graph.vertex(("a", 1)) == 0


@pytest.mark.parametrize("name", [-1, 6, "0", 2.5, None, True, [1], 10**30])
def test_unknown_vertices_are_named(name: object) -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 5])
    with pytest.raises(bf.VertexError, match="the graph has no vertex"):
        graph.vertex(name)
    with pytest.raises(bf.VertexError, match="the graph has no vertex"):
        bf.from_edges(["a"], ["b"]).vertex(name)


def test_the_empty_graph_has_no_vertices() -> None:
    with pytest.raises(bf.VertexError, match="none at all"):
        bf.from_edges([], []).vertex(0)


def test_float_ids_that_are_whole() -> None:
    assert bf.from_edges(np.array([0.0, 1.0]), np.array([1.0, 2.0])).num_vertices == 3


def test_names_that_numpy_would_change() -> None:
    assert bf.from_edges(["a", "a\0"], ["b", "b"]).labels.tolist() == ["a", "a\0", "b"]
    long = "x" * 1_000_000
    graph = bf.from_edges([long, *"abc"] * 1000, [*"abc", long] * 1000)
    assert graph.vertex(long) == 3


@given(st.lists(st.integers(0, 2**63 - 1) | st.integers(10**15, 10**15 + 9), max_size=300))
def test_distinct_against_numpy(values: list[int]) -> None:
    ids = np.array(values, np.int64)
    columns = Columns(ids, ids[::-1])
    found = distinct(columns)
    expected, inverse = np.unique(ids, return_inverse=True)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(columns.source, inverse)
    np.testing.assert_array_equal(columns.target, inverse[::-1])
    np.testing.assert_array_equal(ids, values)


def test_distinct_when_the_table_grows() -> None:
    ids = np.random.default_rng(0).integers(0, 2**62, 50_000)
    columns = Columns(ids, ids[::-1])
    found = distinct(columns)
    np.testing.assert_array_equal(found, np.unique(ids))
    np.testing.assert_array_equal(found[columns.source], ids)
    np.testing.assert_array_equal(found[columns.target], ids[::-1])


def test_owned_columns_are_numbered_in_place() -> None:
    ids = np.random.default_rng(0).integers(0, 2**30, 5_000).astype(np.int32)
    columns = Columns(ids.copy(), ids[::-1].copy(), owned=True)
    source = columns.source
    found = distinct(columns)
    assert columns.source is source
    np.testing.assert_array_equal(found[columns.source], ids)
    np.testing.assert_array_equal(found[columns.target], ids[::-1])


def test_ids_that_are_missing() -> None:
    for ids in ([0, pd.NA], pd.Series([0, None], dtype="Int64"), [0, None], [0, float("nan")],
                np.ma.array([0, 1], mask=[False, True])):  # fmt: skip
        with pytest.raises(bf.GraphError, match=r"edge 1: source (is missing|nan)"):
            bf.from_edges(ids, [1, 2])
        with pytest.raises(bf.GraphError, match=r"edge 1: target (is missing|nan)"):
            bf.from_edges([1, 2], ids)
    with pytest.raises(bf.GraphError, match="edge 0: weight is missing"):
        bf.from_edges([0, 1], [1, 2], np.ma.array([5, 6], mask=[True, False]))


def test_a_series_is_taken_as_an_array() -> None:
    series = pd.Series([0, 1, 2])
    assert bf.from_edges(series, series, series).num_edges == 3
    names = pd.Series(["a", "b"])
    assert bf.from_edges(names, names[::-1]).labels.tolist() == ["a", "b"]


def test_floats_that_are_more_than_one_integer() -> None:
    with pytest.raises(bf.GraphError, match="edge 0: source .* is not a vertex id"):
        bf.from_edges([2.0**53], [1.0])


def test_integers_of_python_and_numpy_are_alike() -> None:
    graph = bf.from_edges([np.int64(0), 1], [1, np.int32(2)])
    assert graph.num_vertices == 3
    assert not graph.labelled

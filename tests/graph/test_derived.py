"""Graphs from a graph: other weights and columns, some of the vertices, some of the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import broadfront as bf
from broadfront.graph.soundness import check_rows

ENDS = some.lists(some.tuples(some.integers(0, 6), some.integers(0, 6)), max_size=25)


def graph_of(ends: list[Any], directed: bool, duplicates: str, labelled: bool = False) -> bf.Graph:
    source, target = np.array(ends, np.int64).reshape(-1, 2).T
    numbers = np.arange(len(ends))
    graph = bf.from_edges(
        source, target, numbers + 100, 7, directed,
        edge_data={"number": numbers}, duplicates=duplicates,
    ).with_vertex_data(height=np.arange(7) * 0.5)  # fmt: skip
    if labelled:
        assert graph._labels is None
        names = bf.from_edges(list("abcdefg"), list("abcdefg"))
        graph._labels = names._labels
    return graph


def check(graph: bf.Graph) -> None:
    about = {"directed": graph.directed, "self_loops": graph.num_self_loops,
             "parallel": graph.has_parallel_edges}  # fmt: skip
    check_rows(graph.offsets, graph.targets, graph.weights, **about)
    for column in graph.edge_data.values():
        assert len(column) == graph.num_arcs
        check_rows(graph.offsets, graph.targets, column.view(np.uint64), **about)


CASES = [(directed, duplicates) for directed in (True, False) for duplicates in ("keep", "min")]


@pytest.mark.parametrize(("directed", "duplicates"), CASES)
@given(ends=ENDS, chosen=some.sets(some.integers(0, 6)), labelled=some.booleans())
def test_a_subgraph_has_the_edges_between(
    ends: Any, chosen: set[int], labelled: bool, directed: bool, duplicates: str
) -> None:
    graph = graph_of(ends, directed, duplicates, labelled)
    mask = np.isin(np.arange(7), sorted(chosen))
    frame = graph.to_pandas()
    names = graph.labels[mask].tolist()
    expected = frame[frame["source"].isin(names) & frame["target"].isin(names)]
    for given_as in (mask, sorted(chosen, reverse=True)):
        part = graph.subgraph(given_as)
        check(part)
        assert part.num_vertices == len(chosen)
        assert part.labels.tolist() == names
        assert part.to_pandas().to_numpy().tolist() == expected.to_numpy().tolist()
        np.testing.assert_array_equal(part.vertex_data["height"], graph.vertex_data["height"][mask])
        assert part.has_parallel_edges == expected.duplicated(["source", "target"]).any()


@pytest.mark.parametrize(("directed", "duplicates"), CASES)
@given(ends=ENDS)
def test_some_of_the_edges(ends: Any, directed: bool, duplicates: str) -> None:
    graph = graph_of(ends, directed, duplicates)
    frame = graph.to_pandas()
    part = graph.edge_subgraph(graph.edge_data["number"] % 3 == 0)
    check(part)
    expected = frame[frame["number"] % 3 == 0]
    assert part.num_vertices == 7
    assert part.to_pandas().to_numpy().tolist() == expected.to_numpy().tolist()
    by_edges = graph.edge_subgraph((frame["number"] % 3 == 0).to_numpy())
    np.testing.assert_array_equal(by_edges.targets, part.targets)


@pytest.mark.parametrize(("directed", "duplicates"), CASES)
@given(ends=ENDS)
def test_new_weights_share_the_rows(ends: Any, directed: bool, duplicates: str) -> None:
    graph = graph_of(ends, directed, duplicates)
    edges = np.arange(graph.num_edges) * 0.5
    new = graph.with_weights(edges).with_edge_data(twice=edges * 2, number=None)
    check(new)
    assert np.shares_memory(new.targets, graph.targets) or graph.num_arcs == 0
    frame = new.to_pandas()
    assert list(frame.columns) == ["source", "target", "weight", "twice"]
    assert frame["weight"].tolist() == edges.tolist()
    assert frame["twice"].tolist() == (edges * 2).tolist()
    assert new.weights is not None
    again = graph.with_weights(new.weights)
    np.testing.assert_array_equal(again.weights, new.weights)  # type: ignore[arg-type]
    assert not graph.with_weights(None).weighted
    assert list(graph.edge_data) == ["number"]
    assert list(graph.with_vertex_data(height=None).vertex_data) == []


def test_what_is_kept_stays_with_its_graph() -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 0], [1, 1, 1])
    assert graph.transpose.weights is not None
    other = graph.with_weights([5, 6, 7])
    assert other.transpose.weights is not None
    assert other.transpose.weights.tolist() == [7, 5, 6]
    assert bf.sssp(other, 0, devices=2).distance.tolist() == [0, 5, 11]
    assert bf.sssp(graph, 0, devices=2).distance.tolist() == [0, 1, 2]


def test_what_does_not_fit_is_refused() -> None:
    graph = bf.from_edges(["a", "b"], ["b", "c"], directed=False)
    for wrong, complaint in (
        ([1, 2, 3], "4 arcs or 2 edges"), ([[1, 2]], "shape"), ([1, 2, 3, 3], "'a' - 'b' is 1"),
        (np.ma.masked_array([1, 2], [True, False]), "is missing"), ([1, np.nan], "nan"),
    ):  # fmt: skip
        with pytest.raises(bf.GraphError, match=complaint):
            graph.with_weights(wrong)
    with pytest.raises(bf.GraphError, match="expected bool"):
        graph.edge_subgraph([0, 1])
    with pytest.raises(bf.OptionError, match="no position"):
        graph.subgraph([3])
    with pytest.raises(bf.OptionError, match="one of vertices"):
        graph.with_edge_data(x=[1, 2]).with_vertex_data(x=[1, 2, 3])
    with pytest.raises(bf.GraphError, match="one per vertex"):
        graph.with_vertex_data(x=[1, 2])
    nan = graph.with_edge_data(x=[np.nan, 1])
    again = nan.with_edge_data(y=nan.edge_data["x"])
    assert np.isnan(again.edge_data["y"][:2]).all()


def test_files_keep_columns_of_vertices(tmp_path: Any) -> None:
    graph = bf.from_edges([0, 1], [1, 2]).with_vertex_data(height=np.array([1, 2, 3], np.uint16))
    graph.save(tmp_path / "hills.bfg")
    back = bf.read(tmp_path / "hills.bfg")
    assert back.vertex_data["height"].tolist() == [1, 2, 3]
    assert back.vertex_data["height"].dtype == np.uint16
    assert graph.to_networkx().nodes[2]["height"] == 3

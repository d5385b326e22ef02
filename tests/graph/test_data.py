"""Columns of edges, and parallel edges: merged as pandas would, or kept in their order."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some

import broadfront as bf
from broadfront.execution.names import COUNTERS
from broadfront.execution.program import RESERVED
from broadfront.graph.data import DUPLICATES, TAKEN

ROWS = some.lists(
    some.tuples(
        some.integers(0, 4), some.integers(0, 4), some.integers(-50, 50), some.integers(0, 9)
    ),
    max_size=25,
)


def expected(rows: list[Any], directed: bool, duplicates: str) -> pd.DataFrame:
    """Return the edges that a graph of `rows` has, by pandas."""
    table = pd.DataFrame(rows, columns=["source", "target", "weight", "line"]).astype(np.int64)
    table["late"] = table["weight"] * 0.5
    if not directed:
        ends = np.sort(table[["source", "target"]].to_numpy(), axis=1)
        table["source"], table["target"] = ends.T
    if duplicates == "keep":
        return table.sort_values(["source", "target"], kind="stable").reset_index(drop=True)
    groups = table.groupby(["source", "target"], as_index=False)
    return getattr(groups, duplicates)()


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize("directed", [True, False])
@given(rows=ROWS)
def test_edges_are_what_pandas_makes_of_them(rows: Any, directed: bool, duplicates: str) -> None:
    source, target, weight, line = np.array(rows, np.int64).reshape(-1, 4).T
    graph = bf.from_edges(
        source, target, weight, 5, directed,
        edge_data={"line": line, "late": weight * 0.5}, duplicates=duplicates,
    )  # fmt: skip
    wanted = expected(rows, directed, duplicates)
    found = graph.to_pandas()
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
    assert graph.num_edges == len(wanted)
    assert graph.origin.duplicates == len(rows) - len(wanted)
    loops = int((wanted["source"] == wanted["target"]).sum())
    assert graph.num_self_loops == loops
    assert graph.num_arcs == (len(wanted) if directed else 2 * len(wanted) - loops)
    assert graph.has_parallel_edges == bool(wanted.duplicated(["source", "target"]).any())
    check_twins(graph)


def arcs(graph: bf.Graph) -> list[Any]:
    """Return the arcs with all their values, those that are turned around among them alike."""
    values = [graph.edge_data[name] for name in sorted(graph.edge_data)]
    values += [] if graph.weights is None else [graph.weights]
    return list(zip(graph.sources(), graph.targets, *values, strict=True))


def check_twins(graph: bf.Graph) -> None:
    """Check that the transpose has every arc the other way round, parallel ones in order."""
    back = [(head, tail, *rest) for tail, head, *rest in arcs(graph.transpose)]
    assert sorted(back, key=lambda arc: arc[:2]) == arcs(graph)
    assert graph.transpose.has_parallel_edges == graph.has_parallel_edges


def timetable(directed: bool = True, labelled: bool = False) -> bf.Graph:
    """Return a small graph with parallel edges, a self-loop, weights and two columns."""
    source, target = [0, 0, 0, 1, 2, 2, 3], [1, 1, 2, 3, 3, 2, 1]
    if labelled:
        source, target = ([f"s{place}" for place in ids] for ids in (source, target))  # type: ignore[misc]
    return bf.from_edges(
        source, target, [5, 4, 9, 2, 1, 7, 3], directed=directed, duplicates="keep",
        edge_data={"departure": np.arange(7, dtype=np.int16), "delay": np.arange(7) / 4},
    )  # fmt: skip


def same_data(one: bf.Graph, other: bf.Graph) -> None:
    np.testing.assert_array_equal(one.offsets, other.offsets)
    assert arcs(one) == arcs(other)
    assert one.has_parallel_edges == other.has_parallel_edges
    assert list(one.edge_data) == list(other.edge_data)
    for name, column in one.edge_data.items():
        assert column.dtype == other.edge_data[name].dtype


def test_columns_are_read_only_and_travel_with_the_graph() -> None:
    graph = timetable()
    assert graph.edge_data["departure"].dtype == np.int16
    with pytest.raises(ValueError, match="read-only"):
        graph.edge_data["delay"][0] = 1
    with pytest.raises(TypeError):
        graph.edge_data["delay"] = 1  # type: ignore[index]
    plain = bf.from_edges(graph.sources(), graph.targets, graph.weights, duplicates="keep")
    assert graph.nbytes == plain.nbytes + 7 * (2 + 8)
    for other in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
        same_data(graph, other)
        assert not other.edge_data["delay"].flags.writeable
    assert "edge data departure, delay" in repr(graph)
    assert graph.describe()["edge_data"] == "departure, delay"


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("suffix", [".bfg", ".parquet"])
def test_files_keep_them(tmp_path: Path, suffix: str, directed: bool, labelled: bool) -> None:
    graph = timetable(directed, labelled)
    path = tmp_path / f"timetable{suffix}"
    graph.save(path)
    for mapped in (True, False):
        back = bf.read(path, map=mapped)
        same_data(graph, back)
        assert back.labels.tolist() == graph.labels.tolist()
        assert back.directed == directed


def test_a_graph_without_them_is_written_as_before(tmp_path: Path) -> None:
    bf.from_edges([0, 1], [1, 2], [1, 2]).save(tmp_path / "plain.bfg")
    assert (tmp_path / "plain.bfg").read_bytes().startswith(b"BROADFR1")


def test_damaged_columns_are_found(tmp_path: Path) -> None:
    path = tmp_path / "timetable.bfg"
    timetable(directed=False).save(path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"edge delay"', b'"edge weight"'))
    with pytest.raises(bf.FormatError):
        bf.read(path)
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(bf.FormatError, match="damaged"):
        bf.read(path).edge_data  # noqa: B018


def test_tables_give_columns_by_name() -> None:
    frame = {"from": ["a", "a"], "to": ["b", "b"], "leaves": [3, 1], "takes": [0.5, 1.5]}
    for table, convert in (
        (pd.DataFrame, bf.from_pandas), (pl.DataFrame, bf.from_polars), (pa.table, bf.from_arrow)
    ):  # fmt: skip
        named = convert(table(frame), edge_data=["leaves", "takes"], duplicates="keep")  # type: ignore[operator]
        assert named.edge_data["leaves"].tolist() == [3, 1]
        assert named.edge_data["takes"].tolist() == [0.5, 1.5]
        counted = table({**frame, "from": [0, 0], "to": [1, 1]})
        graph = convert(counted, edge_data=["leaves"], duplicates="first")  # type: ignore[operator]
        assert graph.edge_data["leaves"].tolist() == [3]
        with pytest.raises(bf.GraphError, match="no column 'arrives'"):
            convert(table(frame), edge_data=["arrives"])  # type: ignore[operator]
        with pytest.raises(bf.OptionError, match="a list of names"):
            convert(table(frame), edge_data="leaves")  # type: ignore[operator]


def test_parquet_of_others_gives_columns_by_name(tmp_path: Path) -> None:
    path = tmp_path / "trips.parquet"
    pd.DataFrame({"src": [0, 0], "dst": [1, 1], "km": [2.0, 1.0]}).to_parquet(path)
    graph = bf.read(path, edge_data=["km"], duplicates="keep")
    assert graph.edge_data["km"].tolist() == [2, 1]
    assert bf.read(path, edge_data=["km"]).edge_data["km"].tolist() == [1]
    (tmp_path / "trips.el").write_text("0 1\n")
    with pytest.raises(bf.OptionError, match="edge_data= does not go with"):
        bf.read(tmp_path / "trips.el", edge_data=["km"])


def test_networkx_and_back() -> None:
    graph = timetable(directed=False)
    other = graph.to_networkx()
    assert isinstance(other, nx.MultiGraph)
    back = bf.from_networkx(other, edge_data=["departure", "delay"], duplicates="keep")
    assert arcs(back) == arcs(graph)
    other.add_edge(0, 3)
    with pytest.raises(bf.GraphError, match="edge 3: departure is missing"):
        bf.from_networkx(other, edge_data=["departure"])


@pytest.mark.parametrize("name", ["weight", "ids", "in", "a__b", "_a", "a_", "two words", 3])
def test_names_are_checked(name: Any) -> None:
    with pytest.raises(bf.OptionError, match="cannot be the name of a column"):
        bf.from_edges([0], [1], edge_data={name: [1]})
    assert {*RESERVED, *COUNTERS} <= TAKEN


def test_values_are_checked() -> None:
    for values, complaint in (
        ([1], "one per edge"), (["a", "b"], "real numbers"), ([[1], [2]], "one per edge"),
        (np.array(["2020-01-01"] * 2, "M8[D]"), "minutes"),
        (np.ma.masked_array([1, 2], [False, True]), "edge 1: late is missing"),
    ):  # fmt: skip
        with pytest.raises(bf.GraphError, match=complaint):
            bf.from_edges([0, 1], [1, 2], edge_data={"late": values})
    kinds = {"yes": np.array([True, False]), "half": np.ones(2, np.float16)}
    graph = bf.from_edges([0, 1], [1, 2], edge_data=kinds)
    assert [column.dtype for column in graph.edge_data.values()] == [np.uint8, np.float32]


def test_ways_to_merge_are_checked() -> None:
    with pytest.raises(bf.OptionError, match="expected one of min, max, sum, first, keep"):
        bf.from_edges([0], [1], duplicates="last")
    with pytest.raises(bf.OptionError, match="simple=True leaves no parallel edges"):
        bf.from_edges([0], [1], duplicates="keep", simple=True)


def test_sums_do_not_wrap() -> None:
    small = np.array([100, 100], np.int8)
    graph = bf.from_edges([0, 0], [1, 1], [2**31 - 1, 1], edge_data={"a": small}, duplicates="sum")
    assert graph.weights is not None
    assert graph.weights.tolist() == [2**31]
    assert graph.edge_data["a"].tolist() == [200]
    with pytest.raises(bf.GraphError, match="more than 64 bits"):
        bf.from_edges([0, 0], [1, 1], [2**62, 2**62], duplicates="sum")
    with pytest.raises(bf.GraphError, match="add up to nan"):
        bf.from_edges([0, 0], [1, 1], [np.inf, -np.inf], duplicates="sum")

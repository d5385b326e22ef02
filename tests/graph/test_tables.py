"""Tables of other libraries: which columns, which types, and what is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import broadfront as bf
from zoo import same

EVERY = [
    (pd.DataFrame, bf.from_pandas),
    (pl.DataFrame, bf.from_polars),
    (pa.table, bf.from_arrow),
    (pa.record_batch, bf.from_arrow),
]


@pytest.mark.parametrize(("table", "convert"), EVERY)
def test_columns_by_their_usual_names(table, convert) -> None:  # type: ignore[no-untyped-def]
    graph = convert(table({"id": [9, 8], "From": [0, 1], "To": [1, 2], "Weight": [5, 6]}))
    same(graph, bf.from_edges([0, 1], [1, 2], [5, 6]))


@pytest.mark.parametrize(("table", "convert"), EVERY)
def test_empty_tables(table, convert) -> None:  # type: ignore[no-untyped-def]
    columns = ["source", "target", "weight"]
    empty = {name: pa.array([], pa.null()) if convert is bf.from_arrow else [] for name in columns}
    graph = convert(table(empty))
    assert (graph.num_vertices, graph.num_edges, graph.weighted) == (0, 0, True)


@pytest.mark.parametrize(("table", "convert"), EVERY)
def test_ids_that_are_nan(table, convert) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(bf.GraphError, match="edge 1: source nan is not a vertex id"):
        convert(table({"a": [0.0, float("nan")], "b": [1.0, 2.0]}))
    whole = convert(table({"a": [0.0, 1.0], "b": [1, 2]}))
    same(whole, bf.from_edges([0, 1], [1, 2]))


@pytest.mark.parametrize(("table", "convert"), EVERY)
def test_one_column_is_one_thing(table, convert) -> None:  # type: ignore[no-untyped-def]
    frame = table({"a": [0], "b": [1]})
    for columns in (("a", "a"), ("a", "b", "b")):
        with pytest.raises(bf.GraphError, match="named twice"):
            convert(frame, *columns)


def test_columns_of_a_frame_can_be_called_anything() -> None:
    frame = pd.DataFrame([[5, 1, 2], [6, 2, 0]])
    same(bf.from_pandas(frame, 1, 2, 0), bf.from_edges([1, 2], [2, 0], [5, 6]))
    with pytest.raises(bf.GraphError, match="more than one column is called 'a'"):
        bf.from_pandas(pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"]), "a", "b")


def test_mixed_columns() -> None:
    frame = pd.DataFrame({"a": [2**53 + 1, 2**53], "b": [1.0, 2.0]})
    assert bf.from_pandas(frame).labels.tolist() == [1, 2, 2**53, 2**53 + 1]
    assert bf.from_pandas(pd.DataFrame({"a": [1], "b": ["x"]})).labels.tolist() == [1, "x"]
    with pytest.raises(bf.GraphError, match="source is int64 and target string"):
        bf.from_arrow(pa.table({"a": [1], "b": ["x"]}))


def test_categories_are_names() -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "b": ["y", "z"]})
    coded = frame.with_columns(pl.col("a").cast(pl.Categorical))
    same(bf.from_polars(coded), bf.from_polars(frame))


def test_polars_without_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": [0], "b": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(bf.MissingDependencyError, match=r"broadfront\[arrow\]"):
        bf.from_polars(frame)


def test_blocks_are_not_edges() -> None:
    dense = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2], [0, 0, 0, 0]])
    graph = bf.from_scipy(sp.bsr_array(dense, blocksize=(2, 2)))
    same(graph, bf.from_edges([0, 2], [1, 3], [1, 2]))


# ---------------------------------------------------------------------- Parquet


def test_parquet_columns_by_position(tmp_path: Path) -> None:
    pq.write_table(pa.table({"cost": [7], "a": [0], "b": [1]}), tmp_path / "t.parquet")
    same(bf.read(tmp_path / "t.parquet", columns=(1, "b", 0)), bf.from_edges([0], [1], [7]))
    for columns, message in (((1, 3), r"column 3 is not in 0\.\.2"), ((1,), "expected 2 or 3")):
        with pytest.raises(bf.FormatError, match=message):
            bf.read(tmp_path / "t.parquet", columns=columns)


@pytest.mark.parametrize(
    "about",
    [{"vertices": value, "directed": True} for value in ("abc", 1.5, 10**12, -1, True, [])]
    + [{"directed": "no"}, {}, [], 5],
)
def test_parquet_metadata_that_lies(tmp_path: Path, about: object) -> None:
    table = pa.table({"source": [0], "target": [1]})
    table = table.replace_schema_metadata({b"broadfront": json.dumps(about).encode()})
    pq.write_table(table, tmp_path / "lie.parquet")
    with pytest.raises(bf.FormatError, match="metadata"):
        bf.read(tmp_path / "lie.parquet")


def test_no_memory_for_a_table_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 64 failed")

    bf.generate("path:3").save(tmp_path / "n.parquet")
    monkeypatch.setattr(pq.ParquetFile, "read", full)
    with pytest.raises(MemoryError, match="malloc of size 64 failed"):
        bf.read(tmp_path / "n.parquet")


def test_parquet_keeps_integers_that_are_not_sorted(tmp_path: Path) -> None:
    import networkx as nx

    for names in ([900, 100, 500], [3, 1, 2], [-1, 0, 7]):
        graph = bf.from_networkx(nx.path_graph(names), weight=None)
        graph.save(tmp_path / "n.parquet")
        back = bf.read(tmp_path / "n.parquet")
        assert (back.directed, back.labels.tolist()) == (False, sorted(names))

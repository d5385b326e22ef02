"""What is written is what is read: every format, every compression, every object."""

from __future__ import annotations

import gzip
import lzma
import os
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given

import broadfront as bf
from broadfront.graph import files
from broadfront.graph.files import COMPRESSIONS
from broadfront.graph.read import READERS
from broadfront.graph.write import WRITERS
from zoo import ZOO, Animal, edges, same, same_from_file

SELF_DESCRIBING = [".mtx", ".txt", ".edges", ".parquet", ".bfg"]


def test_what_is_written_can_be_read() -> None:
    assert set(WRITERS) <= set(READERS)


@pytest.mark.parametrize("suffix", SELF_DESCRIBING)
def test_zoo(tmp_path: Path, suffix: str) -> None:
    for animal in ZOO.values():
        graph = animal.graph()
        graph.save(tmp_path / f"zoo{suffix}")
        same_from_file(graph, bf.read(tmp_path / f"zoo{suffix}"), tmp_path / f"zoo{suffix}")


@given(edges())
@example(Animal([], [], 1, [], False))
@pytest.mark.parametrize("suffix", SELF_DESCRIBING)
def test_any_graph(tmp_path: Path, suffix: str, animal: Animal) -> None:
    graph = animal.graph()
    graph.save(tmp_path / f"any{suffix}")
    same_from_file(graph, bf.read(tmp_path / f"any{suffix}"), tmp_path / f"any{suffix}")


@given(edges())
@example(Animal([], [], 1, [], False))
@pytest.mark.parametrize("suffix", [".el", ".wel", ".csv", ".tsv"])
def test_plain_edge_lists(tmp_path: Path, suffix: str, animal: Animal) -> None:
    """These say neither direction nor the number of vertices; given both, the graph is back."""
    graph = animal.graph()
    path = tmp_path / f"any{suffix}"
    graph.save(path)
    if suffix in (".el", ".wel") and not animal.source:
        assert path.read_bytes() == b""
        return
    back = bf.read(path, directed=animal.directed, num_vertices=animal.num_vertices)
    same(graph, back)


@given(edges())
def test_dimacs(tmp_path: Path, animal: Animal) -> None:
    graph = animal.graph()
    path = tmp_path / "any.gr"
    if animal.directed and animal.weight is None:
        with pytest.raises(bf.GraphError, match="needs weights"):
            graph.save(path)
        return
    graph.save(path)
    back = bf.read(path, directed=animal.directed)
    np.testing.assert_array_equal(graph.offsets, back.offsets)
    np.testing.assert_array_equal(graph.targets, back.targets)
    np.testing.assert_array_equal(graph.weights, back.weights)


@given(edges(weighted=False))
def test_metis(tmp_path: Path, animal: Animal) -> None:
    graph = animal._replace(directed=False).graph(simple=True)
    graph.save(tmp_path / "any.graph")
    same_from_file(graph, bf.read(tmp_path / "any.graph"), tmp_path / "any.graph")


def test_metis_keeps_weights_and_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    graph = bf.from_edges([0, 1], [1, 2], weight=[4, 9], directed=False)
    graph.save(tmp_path / "w.graph")
    same_from_file(graph, bf.read(tmp_path / "w.graph"), tmp_path / "w.graph")
    for wrong in (
        bf.from_edges([0], [1]),
        bf.from_edges([0], [0], directed=False),
        bf.from_edges([0], [1], weight=[0.5], directed=False),
    ):
        with pytest.raises(bf.GraphError, match="METIS"):
            wrong.save(tmp_path / "wrong.graph")
    assert sorted(os.listdir(tmp_path)) == ["w.graph"]


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("suffix", [".mtx", ".edges", ".gr", ".graph", ".parquet", ".bfg"])
def test_compressed(tmp_path: Path, suffix: str, compression: str) -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 3], weight=[7, 8, 9], directed=False)
    path = tmp_path / f"small{suffix}{compression}"
    graph.save(path)
    same_from_file(graph, bf.read(path), path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(bf.FormatError, match="broken"):
        bf.read(path)


@pytest.mark.parametrize("suffix", [".el", ".txt", ".csv", ".tsv", ".parquet", ".bfg"])
def test_labels_come_back(tmp_path: Path, suffix: str) -> None:
    names = ["são paulo", "a,b", 'say "hi"', "#1", "tab\there", "x"]
    graph = bf.from_edges(names, names[1:] + names[:1], weight=list(range(6)))
    graph.save(tmp_path / f"names{suffix}")
    same(graph, bf.read(tmp_path / f"names{suffix}"))
    sparse = bf.from_edges([10**12, 5], [5, 7])
    sparse.save(tmp_path / f"sparse{suffix}")
    same(sparse, bf.read(tmp_path / f"sparse{suffix}"))


def test_a_name_with_a_line_break_is_refused(tmp_path: Path) -> None:
    with pytest.raises(bf.GraphError, match="line break"):
        bf.from_edges(["a\nb"], ["c"]).save(tmp_path / "break.txt")
    assert os.listdir(tmp_path) == []


def test_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "graph.bfg"
    graph = bf.from_edges([0], [1])
    graph.save(path)
    before = path.read_bytes()

    def fail(*arguments: object) -> None:
        arguments[1].write(b"half")  # type: ignore[attr-defined]
        raise OSError("no space left on device")

    monkeypatch.setitem(WRITERS, ".bfg", fail)
    with pytest.raises(OSError, match="no space"):
        graph.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["graph.bfg"]


def test_unknown_suffix(tmp_path: Path) -> None:
    with pytest.raises(bf.OptionError, match="unknown suffix '.doc'"):
        bf.from_edges([0], [1]).save(tmp_path / "graph.doc")


# ---------------------------------------------------------------------- objects


@given(edges())
def test_scipy(animal: Animal) -> None:
    graph = animal.graph()
    matrix = graph.to_scipy()
    assert matrix.nnz == graph.num_arcs
    if animal.directed:
        same(graph, bf.from_scipy(matrix, weighted=graph.weighted))
        same(graph, bf.from_scipy(sp.csc_matrix(matrix), weighted=graph.weighted))
    else:
        same(graph, bf.from_scipy(sp.triu(matrix), directed=False, weighted=graph.weighted))


def test_scipy_zero_is_a_weight_and_shape_is_checked() -> None:
    matrix = sp.csr_array(([0.0, 2.0], ([0, 1], [1, 0])), shape=(2, 2))
    assert bf.from_scipy(matrix).num_edges == 2
    assert not bf.from_scipy(matrix.astype(bool)).weighted
    with pytest.raises(bf.GraphError, match="square"):
        bf.from_scipy(sp.csr_array((2, 3)))


@given(edges())
def test_networkx(animal: Animal) -> None:
    graph = animal.graph()
    back = graph.to_networkx()
    assert back.is_directed() == animal.directed
    again = bf.from_networkx(back)
    if graph.num_arcs == 0:  # there weights are those of edges, so without edges there are none
        assert (again.num_vertices, again.num_arcs) == (graph.num_vertices, 0)
    else:
        same(graph, again)


def test_networkx_names_weights_and_multigraphs() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("alone")
    graph.add_edge("b", "a", weight=3.5)
    graph.add_edge("b", "a", weight=1.5)
    graph.add_edge("a", ("t", 1))
    ours = bf.from_networkx(graph)
    assert ours.labels.tolist() == ["alone", "b", "a", ("t", 1)]
    assert ours.num_edges == 2
    assert ours.weights is not None
    assert ours.weights.tolist() == [1.5, 1.0]
    assert bf.from_networkx(nx.path_graph(3)).weights is None
    assert bf.from_networkx(nx.Graph()).num_vertices == 0


@pytest.mark.parametrize("names", [False, True])
def test_tables(names: bool) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns: dict[str, list] = {"from": [3, 0, 1], "to": [1, 3, 2], "cost": [0.5, 1.5, 2.5]}
    if names:
        columns["from"], columns["to"] = ["d", "a", "b"], ["b", "d", "c"]
    graphs = [
        bf.from_pandas(pd.DataFrame(columns), weight="cost"),
        bf.from_polars(pl.DataFrame(columns), weight="cost"),
        bf.from_arrow(pa.table(columns), weight="cost"),
        bf.from_edges(columns["from"], columns["to"], columns["cost"]),
    ]
    for graph in graphs[1:]:
        same(graphs[0], graph)
    assert len(graphs[0].labels) == 4
    frame = graphs[0].to_pandas()
    assert set(zip(frame["source"], frame["target"], frame["weight"], strict=True)) == set(
        zip(columns["from"], columns["to"], columns["cost"], strict=True)
    )
    same(graphs[0], bf.from_pandas(frame))


def test_tables_with_holes_and_wrong_columns() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    for frame, convert in (
        (pd.DataFrame({"a": ["x", None], "b": ["y", "z"]}), bf.from_pandas),
        (pl.DataFrame({"a": ["x", None], "b": ["y", "z"]}), bf.from_polars),
        (pa.table({"a": ["x", None], "b": ["y", "z"]}), bf.from_arrow),
        (pa.table({"a": [1, None], "b": [2, 3]}), bf.from_arrow),
    ):
        with pytest.raises(bf.GraphError, match="edge 1: source is missing"):
            convert(frame)
        with pytest.raises(bf.GraphError, match="no column 'c'; there are a, b"):
            convert(frame, source="a", target="c")
    with pytest.raises(bf.GraphError, match="name the source"):
        bf.from_pandas(pd.DataFrame({"only": [1]}))
    same(
        bf.from_pandas(pd.DataFrame({"source": [0], "target": [1]}), directed=False),
        bf.from_edges([0], [1], directed=False),
    )


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_blocks_that_are_packed_apart_are_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    monkeypatch.setattr(files, "PACKED_AT_ONCE", 1000)
    content = np.random.default_rng(0).integers(0, 10, 12_345).astype(np.uint8).tobytes()
    path = tmp_path / f"digits.txt{compression}"
    with files.written(path) as stream:
        for begin in range(0, len(content), 3_210):
            assert stream.write(content[begin : begin + 3_210]) in (3_210, 12_345 % 3_210)
    assert files.content(path).tobytes() == content
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(compression)
    if unpack is not None:
        assert unpack(path.read_bytes()) == content
    with files.written(path):
        pass
    assert files.content(path).tobytes() == b""
    assert path.stat().st_size > 0

"""Files that count from 1 keep their numbers: as labels in, and as the same labels out."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import broadfront as bf
from broadfront.cli.main import main
from broadfront.graph.labels import Consecutive
from zoo import same

ROADS = "p sp 5 4\na 1 2 7\na 2 3 1\na 3 1 2\na 3 4 9\n"
"""Vertex 5 is isolated."""
TEXTS = {
    "a.gr": ROADS,
    "pace.gr": "p tw 5 2\n1 2\n3 4\n",
    "a.mtx": "%%MatrixMarket matrix coordinate pattern general\n5 5 2\n1 2\n3 4\n",
    "a.graph": "5 2\n2\n1\n4\n3\n\n",
}


@pytest.fixture
def roads(tmp_path: Path) -> bf.Graph:
    (tmp_path / "roads.gr").write_text(ROADS)
    return bf.read(tmp_path / "roads.gr")


@pytest.mark.parametrize("name", TEXTS)
def test_numbers_stay(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TEXTS[name])
    graph = bf.read(tmp_path / name)
    assert graph.labels.tolist() == [1, 2, 3, 4, 5]
    assert graph.vertex(1) == 0
    assert graph.vertex(np.int64(5)) == 4
    for absent in (0, 6, -1, True, "1", None):
        with pytest.raises(bf.VertexError, match=r"its vertices run from 1 to 5"):
            graph.vertex(absent)
    assert graph.labels_of([0, 4]).tolist() == [1, 5]
    assert "labels 1..5" in repr(graph)
    assert graph.describe()["labels"] == "1..5"


def test_labels_take_no_memory(roads: bf.Graph) -> None:
    assert roads.nbytes == roads.offsets.nbytes + roads.targets.nbytes + roads.weights.nbytes
    assert roads.first_label == 1
    assert roads.labels.dtype == np.int32
    assert Consecutive(2**31 - 1, 2).values.tolist() == [2**31 - 1, 2**31]


def test_no_vertices(tmp_path: Path) -> None:
    (tmp_path / "none.gr").write_text("p tw 0 0\n")
    graph = bf.read(tmp_path / "none.gr")
    assert graph.labels.tolist() == []
    with pytest.raises(bf.VertexError, match="it has none at all"):
        graph.vertex(1)
    graph.save(tmp_path / "none.bfg")
    same(graph, bf.read(tmp_path / "none.bfg"))


SUFFIXES = [".gr", ".mtx", ".bfg", ".parquet", ".txt", ".edges", ".dat", ".el", ".wel"]


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".el.gz", ".bfg.zst"])
def test_written_and_read(tmp_path: Path, roads: bf.Graph, suffix: str) -> None:
    roads.save(tmp_path / f"back{suffix}")
    back = bf.read(tmp_path / f"back{suffix}")
    same(roads, back)
    assert back.first_label == 1
    back.save(tmp_path / "again.gr")
    assert (tmp_path / "again.gr").read_text() == ROADS


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_tables_without_isolated_vertices(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "roads.gr").write_text(ROADS.replace("p sp 5", "p sp 4"))
    roads = bf.read(tmp_path / "roads.gr")
    roads.save(tmp_path / f"back{suffix}")
    same(roads, bf.read(tmp_path / f"back{suffix}"))


def test_metis_to_other_formats(tmp_path: Path) -> None:
    (tmp_path / "a.graph").write_text(TEXTS["a.graph"])
    graph = bf.read(tmp_path / "a.graph")
    for suffix in (".graph", ".gr", ".mtx", ".txt"):
        graph.save(tmp_path / f"b{suffix}")
        same(graph, bf.read(tmp_path / f"b{suffix}"))


def test_a_number_of_vertices_beats_the_comment(tmp_path: Path, roads: bf.Graph) -> None:
    roads.save(tmp_path / "roads.txt")
    assert bf.read(tmp_path / "roads.txt", num_vertices=9).labels.tolist() == list(range(9))


def test_a_label_beyond_those_promised(tmp_path: Path) -> None:
    comment = "# broadfront: directed, 3 vertices, labels from 1\n"
    (tmp_path / "a.txt").write_text(comment + "1 2\n4 1\n")
    with pytest.raises(bf.FormatError, match=r"line 3: vertex id 4 is not in 1\.\.3"):
        bf.read(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_text(comment + "1 2\n0 1\n")
    with pytest.raises(bf.FormatError, match="line 3: vertex id 0 is less than 1"):
        bf.read(tmp_path / "b.txt")


def test_views_keep_labels(roads: bf.Graph) -> None:
    assert roads.transpose.labels.tolist() == [1, 2, 3, 4, 5]
    assert pickle.loads(pickle.dumps(roads)).labels.tolist() == [1, 2, 3, 4, 5]


def test_objects_of_other_libraries(roads: bf.Graph) -> None:
    assert roads.to_pandas()["source"].tolist() == [1, 2, 3, 3]
    assert roads.to_pandas()["target"].tolist() == [2, 3, 1, 4]
    assert sorted(roads.to_networkx()) == [1, 2, 3, 4, 5]
    same(roads, bf.from_networkx(roads.to_networkx()))
    assert roads.to_scipy().toarray()[0].tolist() == [0, 7, 0, 0, 0]


def test_searches_by_label(roads: bf.Graph) -> None:
    found = bf.bfs(roads, 1)
    assert found.depth.tolist() == [0, 1, 2, 3, -1]
    assert found.path_to(4) == [1, 2, 3, 4]
    table = found.to_pandas()
    assert table["vertex"].tolist() == [1, 2, 3, 4, 5]
    assert table["parent"].tolist() == [1, 1, 2, 3, -1]
    with pytest.raises(bf.VertexError, match="no vertex 0"):
        bf.bfs(roads, 0)
    each = bf.bfs(roads, [4, 1], each=True).to_pandas()
    assert each["source"].tolist() == [4] * 5 + [1] * 5
    assert each["parent"].tolist() == [-1, -1, -1, 4, -1, 1, 1, 2, 3, -1]
    assert bf.sssp(roads, 3).distance.tolist()[:4] == [2, 9, 0, 9]


def test_components_by_label(roads: bf.Graph) -> None:
    found = bf.connected_components(roads)
    assert found.component.tolist() == [0, 0, 0, 0, 4]
    assert found.to_pandas()["component"].tolist() == [1, 1, 1, 1, 5]


def test_parents_among_names() -> None:
    graph = bf.from_edges(["a", "c"], ["b", "a"])
    found = bf.bfs(graph, "a")
    assert found.labelled_columns()["parent"].tolist() == ["a", "a", None]
    assert found.to_pandas()["parent"].isna().tolist() == [False, False, True]
    sparse = bf.from_edges([1000, 7], [7, 900])
    assert bf.bfs(sparse, 7).to_pandas()["parent"].tolist() == [7, 7, -1]


def test_verifiers_name_vertices_by_label(roads: bf.Graph) -> None:
    component = np.array([0, 0, 0, 3, 4], np.int32)
    with pytest.raises(bf.VerificationError, match="edge 3 -> 4: labels 1 and 4"):
        bf.verify.verify_components(roads, component)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "roads.gr"
    path.write_text(ROADS)
    out = tmp_path / "out.csv"
    assert main(["sssp", str(path), "--source", "1", "--parents", "--out", str(out)]) == 0
    rows = [line.split(",") for line in out.read_text().splitlines()]
    assert [row[0] for row in rows] == ["vertex", "1", "2", "3", "4", "5"]
    assert [row[1] for row in rows[1:5]] == ["0", "7", "8", "17"]
    assert [row[2] for row in rows[1:]] == ["1", "1", "2", "3", "-1"]
    assert main(["bfs", str(path), "--source", "5"]) == 0
    capsys.readouterr()
    assert main(["bfs", str(path), "--source", "0"]) != 0
    assert "its vertices run from 1 to 5" in capsys.readouterr().err
    assert main(["info", str(path)]) == 0
    assert "labels    1..5" in capsys.readouterr().out
    assert main(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["labels"] == "1..5"
    array = tmp_path / "out.npy"
    assert main(["components", str(path), "--out", str(array)]) == 0
    assert np.load(array).tolist() == [1, 1, 1, 1, 5]


def test_stored_labels_that_are_none(tmp_path: Path, roads: bf.Graph) -> None:
    import struct
    import zlib

    roads.save(tmp_path / "a.bfg")
    data = (tmp_path / "a.bfg").read_bytes()
    assert data.startswith(b"BROADFR2")
    for wrong in (b"tr", b"[]", b'""', b"-{"):
        text = data[16 : 16 + struct.unpack("<I", data[8:12])[0]]
        broken = text.replace(b'"first_label": 1', b'"first_label":' + wrong)
        head = struct.pack("<8sII", b"BROADFR2", len(broken), zlib.crc32(broken))
        (tmp_path / "b.bfg").write_bytes(head + broken + data[16 + len(text) :])
        with pytest.raises(bf.FormatError, match="not understood"):
            bf.read(tmp_path / "b.bfg")


def test_graphs_without_such_labels_are_stored_as_before(tmp_path: Path) -> None:
    bf.from_edges([0, 1], [1, 2]).save(tmp_path / "a.bfg")
    assert (tmp_path / "a.bfg").read_bytes().startswith(b"BROADFR1")

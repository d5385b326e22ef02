"""Every reader against an independent one, on files made for it."""

from __future__ import annotations

import io
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from zoo import Animal, edges


def arcs(graph: bf.Graph) -> set[tuple]:
    names = graph.labels.tolist()
    ends = zip(graph.sources().tolist(), graph.targets.tolist(), strict=True)
    weights = [None] * graph.num_arcs if graph.weights is None else graph.weights.tolist()
    return {(names[u], names[v], w) for (u, v), w in zip(ends, weights, strict=True)}


def save(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


# ---------------------------------------------------------------------- MatrixMarket


@given(edges())
def test_matrix_market_against_scipy(tmp_path: Path, animal: Animal) -> None:
    graph = animal.graph()
    matrix = graph.to_scipy().astype(float)
    path = tmp_path / "scipy.mtx"
    symmetry = "general" if animal.directed else "symmetric"
    scipy.io.mmwrite(path, matrix, symmetry=symmetry, precision=17)
    read = bf.read(path)
    assert read.directed == animal.directed
    np.testing.assert_array_equal(read.offsets, graph.offsets)
    np.testing.assert_array_equal(read.targets, graph.targets)
    np.testing.assert_array_equal(read.weights, matrix.data)


@pytest.mark.parametrize("field", ["pattern", "integer", "real"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market_written_for_scipy(tmp_path: Path, field: str, symmetry: str) -> None:
    weight = {"pattern": None, "integer": [5, 2, 7], "real": [0.1, 1e-300, 2.5]}[field]
    graph = bf.from_edges([0, 2, 2], [1, 0, 2], weight, 4, directed=symmetry == "general")
    graph.save(tmp_path / "out.mtx")
    text = (tmp_path / "out.mtx").read_text()
    assert text.startswith(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n")
    back = scipy.io.mmread(tmp_path / "out.mtx", spmatrix=False).toarray()
    np.testing.assert_array_equal(back, graph.to_scipy().toarray())


MTX = "%%MatrixMarket matrix coordinate "


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "the file is empty"),
        ("\x00\x01\x02\xff", 1, "binary"),
        ("1 2\n", 1, "expected the banner"),
        ("%%MatrixMarket matrix array real general\n2 2\n", 1, "array real general"),
        (MTX + "complex general\n", 1, "complex general"),
        (MTX + "pattern general\n% only comments\n", None, "found the end"),
        (MTX + "pattern general\n2 2\n", 2, "three numbers"),
        (MTX + "pattern general\n2 3 0\n", 2, "square"),
        (MTX + "pattern general\n2 2 3\n1 2\n", None, "promises 3 entries, found 1"),
        (MTX + "pattern general\n2 2 1\n1 2\n2 1\n", None, "promises 1 entries, found 2"),
        (MTX + "pattern general\n2 2 1\n1 3\n", 3, r"vertex id 3 is not in 1\.\.2"),
        (MTX + "pattern general\n2 2 1\n0 1\n", 3, "vertex id 0 is less than 1"),
        (MTX + "pattern general\n2 2 1\n-1 1\n", 3, "vertex id -1 is negative"),
        (MTX + "pattern general\n2 2 1\n1 x\n", 3, "expected a vertex id, found 'x'"),
        (MTX + "pattern general\n2 2 1\n1 2 3\n", 3, "expected 2 columns"),
        (MTX + "real general\n2 2 1\n1 2\n", 3, "expected 3 columns"),
        (MTX + "real general\n2 2 1\n1 2 nan\n", 3, "nan"),
        (MTX + "real general\n2 2 1\n1 2 heavy\n", 3, "expected a weight, found 'heavy'"),
        (MTX + "real general\n2 2 2\n1 2 1\n2 1 1.5.2\n", 4, "expected a weight"),
        (MTX + "integer general\n2 2 1\n1 2 1.5\n", 3, "promises integers, found '1.5'"),
        (MTX + "pattern general\n99999999999 99999999999 1\n1 2\n", 2, "the file has"),
    ],
)
def test_wrong_matrix_market(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = save(tmp_path, "wrong.mtx", text)
    with pytest.raises(bf.FormatError, match=message) as caught:
        bf.read(path)
    assert caught.value.line == line
    assert caught.value.path == str(path)
    assert str(path) in str(caught.value)


# ---------------------------------------------------------------------- edge lists


@given(edges(weighted=False))
def test_edge_list_against_networkx(tmp_path: Path, animal: Animal) -> None:
    path = tmp_path / "nx.el"
    graph = nx.DiGraph(list(zip(animal.source, animal.target, strict=True)))
    nx.write_edgelist(graph, path, data=False)
    if not animal.source:
        with pytest.raises(bf.FormatError, match="the file is empty"):
            bf.read(path)
        return
    assert {(u, v) for u, v, _ in arcs(bf.read(path))} == set(graph.edges)


SEPARATORS = st.sampled_from([" ", "\t", ",", ";", "|", "  ", " , ", " \t "])


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(-(10**6), 10**6)),
        min_size=1,
        max_size=20,
    ),
    separator=SEPARATORS,
    header=st.booleans(),
    ending=st.sampled_from(["\n", "\r\n"]),
    final=st.booleans(),
    comment=st.sampled_from(["", "# a comment\n", "% another\n\n", "   \n"]),
)
def test_edge_list_however_it_is_laid_out(
    tmp_path: Path, rows: list, separator: str, header: bool, ending: str, final: bool, comment: str
) -> None:
    lines = [separator.join(["source", "target", "weight"])] if header else []
    lines += [separator.join(map(str, row)) for row in rows]
    text = comment + ending.join(lines) + (ending if final else "")
    (tmp_path / "laid.txt").write_bytes(text.encode())
    graph = bf.read(tmp_path / "laid.txt")
    expected: dict[tuple[int, int], int] = {}
    for u, v, w in rows:
        expected[u, v] = min(w, expected.get((u, v), w))
    assert arcs(graph) == {(u, v, w) for (u, v), w in expected.items()}


NAME = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\0", exclude_categories=["Cc", "Cs", "Z"]),
    min_size=1,
    max_size=8,
).filter(lambda name: name[0] not in '#%"' and not name.lstrip("+-").isdecimal())


@given(
    rows=st.lists(st.tuples(NAME, NAME, st.floats(0, 10)), min_size=1, max_size=20),
    quoted=st.booleans(),
)
def test_names_in_csv(tmp_path: Path, rows: list, quoted: bool) -> None:
    import csv

    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
    writer.writerow(["from", "to", "weight"])
    writer.writerows(rows)
    (tmp_path / "names.csv").write_bytes(stream.getvalue().encode())
    graph = bf.read(tmp_path / "names.csv", columns=("from", "to", "weight"), ids="string")
    expected: dict[tuple[str, str], float] = {}
    for u, v, w in rows:
        expected[u, v] = min(w, expected.get((u, v), w))
    assert arcs(graph) == {(u, v, w) for (u, v), w in expected.items()}
    assert graph.labels.tolist() == sorted({name for row in rows for name in row[:2]})


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=30))
def test_every_double_is_read_exactly(tmp_path: Path, values: list[float]) -> None:
    text = "".join(f"{i} {i + 1} {value!r}\n" for i, value in enumerate(values))
    (tmp_path / "real.wel").write_text(text)
    weights = bf.read(tmp_path / "real.wel").weights
    assert weights is not None
    assert weights.tolist() == values


def test_counting_from_one(tmp_path: Path) -> None:
    graph = bf.read(save(tmp_path, "one.el", "1 2\n2 3\n3 1\n"))
    assert graph.num_vertices == 3
    assert graph.labels.tolist() == [1, 2, 3]
    graph = bf.read(save(tmp_path, "gaps.el", "1 2\n2 5\n5 4\n"))
    assert graph.num_vertices == 6


def test_columns_by_name_and_position(tmp_path: Path) -> None:
    path = save(tmp_path, "table.csv", 'when,who,whom,what\n1,ann,bob,"x, y"\n2,bob,cid,z\n')
    with pytest.raises(bf.FormatError, match="found 4 columns; name two"):
        bf.read(path)
    for columns in [("who", "whom"), (1, 2)]:
        graph = bf.read(path, columns=columns, header=True)
        assert arcs(graph) == {("ann", "bob", None), ("bob", "cid", None)}
    with pytest.raises(bf.FormatError, match="no column 'why'; there are when, who"):
        bf.read(path, columns=("who", "why"))
    with pytest.raises(bf.FormatError, match=r"column 9 is not in 0\.\.3"):
        bf.read(path, columns=(1, 9))


def test_large_ids_and_num_vertices(tmp_path: Path) -> None:
    path = save(tmp_path, "large.el", "0 5000000000\n5000000000 3\n")
    assert bf.read(path).labels.tolist() == [0, 3, 5_000_000_000]
    path = save(tmp_path, "small.el", "0 1\n")
    assert bf.read(path, num_vertices=5).num_vertices == 5
    with pytest.raises(bf.FormatError, match=r"line 1: vertex id 1 is not in 0\.\.0"):
        bf.read(path, num_vertices=1)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "the file is empty"),
        ("# nothing\n", None, "no line but comments"),
        ("0 1\n1\n", 2, "expected 2 columns"),
        ("0 1\n1 2 3\n", 2, "expected 2 columns"),
        ("0 1\n\n# c\n-3 2\n", 4, "vertex id -3 is negative"),
        ("0 1\n" * 20000 + "0 x\n", 20001, "expected a vertex id, found 'x'"),
        ("0 1\n" * 20000 + "0 1x\n", 20001, "expected a vertex id, found '1x'"),
        ("0 1 1\n0 1 nan\n", 2, "nan"),
        ("0 1 1\n0 1 \n", 2, "expected 3 columns"),
        ("0\n1\n", 1, "found one column"),
        ("0 1\n0 99999999999999999999\n", 2, "too large"),
        ("0,1\n0,\n", 2, "expected a vertex id, found nothing"),
        ("a,b\na\n", 1, "found one column"),
        ('a,b,c\n"a,b,c\n', 2, "a quote is not closed"),
        ("a,b\n,b\n", 2, "name of a vertex is missing"),
    ],
)
def test_wrong_edge_lists(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(bf.FormatError, match=message) as caught:
        bf.read(save(tmp_path, "wrong.txt", text))
    assert caught.value.line == line


def test_latin_1_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(b"source,target\na,b\nm\xfcnchen,c\n")
    with pytest.raises(bf.FormatError, match="line 3: expected UTF-8"):
        bf.read(tmp_path / "latin.csv")


# ---------------------------------------------------------------------- DIMACS


@given(edges(weighted=True))
def test_dimacs_against_plain_python(tmp_path: Path, animal: Animal) -> None:
    assert animal.weight is not None
    lines = ["c a comment", f"p sp {animal.num_vertices} {len(animal.source)}"]
    expected: dict[tuple[int, int], int] = {}
    for u, v, w in zip(animal.source, animal.target, animal.weight, strict=True):
        lines.append(f"a {u + 1} {v + 1} {int(w)}")
        expected[u, v] = min(int(w), expected.get((u, v), int(w)))
    graph = bf.read(save(tmp_path, "plain.gr", "\n".join(lines)))
    assert graph.directed
    assert graph.num_vertices == animal.num_vertices
    assert arcs(graph) == {(u + 1, v + 1, w) for (u, v), w in expected.items()}


@pytest.mark.parametrize("text", ["p tw 4 2\nc x\n1 2\n2 3\n", "p edge 4 2\ne 1 2\ne 2 3\n"])
def test_undirected_dimacs(tmp_path: Path, text: str) -> None:
    graph = bf.read(save(tmp_path, "pace.gr", text))
    assert (graph.directed, graph.num_vertices, graph.num_edges) == (False, 4, 2)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("c only\n", None, "expected a problem line"),
        ("a 1 2 3\n", 1, "expected a problem line"),
        ("p aux sp co 5\n", 1, "coordinates"),
        ("p sp 2 1\na 1 2\n", 2, "expected 4 columns"),
        ("p sp 2 1\nb 1 2 3\n", 2, "expected a line that starts with 'a', found 'b'"),
        ("p sp 2 1\n" + "1 2 3\n" * 40, 2, "expected a line that starts with 'a', found '1'"),
        ("p sp 2 2\na 1 2 3\n", None, "promises 2 edges, found 1"),
        ("p sp 2 1\na 1 3 3\n", 2, r"vertex id 3 is not in 1\.\.2"),
        ("p sp 2 1\na 0 1 3\n", 2, "vertex id 0 is less than 1"),
        ("p sp 2 1\na 1 2 nan\n", 2, "nan"),
    ],
)
def test_wrong_dimacs(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(bf.FormatError, match=message) as caught:
        bf.read(save(tmp_path, "wrong.gr", text))
    assert caught.value.line == line


# ---------------------------------------------------------------------- METIS


@given(edges())
def test_metis_against_plain_python(tmp_path: Path, animal: Animal) -> None:
    graph = animal._replace(directed=False).graph(simple=True)
    weights = None if graph.weights is None else graph.weights.astype(int).tolist()
    lines = [f"{graph.num_vertices} {graph.num_edges}{'' if weights is None else ' 001'}"]
    for vertex in range(graph.num_vertices):
        words = []
        for arc in range(graph.offsets[vertex], graph.offsets[vertex + 1]):
            words.append(str(graph.targets[arc] + 1))
            words += [] if weights is None else [str(weights[arc])]
        lines.append(" ".join(words))
    read = bf.read(save(tmp_path, "plain.graph", "\n".join(lines) + "\n"))
    assert not read.directed
    np.testing.assert_array_equal(read.offsets, graph.offsets)
    np.testing.assert_array_equal(read.targets, graph.targets)
    if weights is not None:
        np.testing.assert_array_equal(read.weights, weights)


def test_metis_vertex_weights_and_comments(tmp_path: Path) -> None:
    text = "% made by hand\n3 2 111 2\n9 8 7 2 5\n% between\n1 1 1 1 5 3 6\n2 2 2 2 6\n"
    graph = bf.read(save(tmp_path, "sizes.graph", text))
    assert arcs(graph) == {(1, 2, 5), (2, 1, 5), (2, 3, 6), (3, 2, 6)}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("% only\n", None, "expected the header"),
        ("2\n", 1, "expected the header"),
        ("2 1\n2\n", None, "found 1 lines and 0.5 edges"),
        ("2 1\n2\n1\n1\n", 4, "promises 2 vertices, found more"),
        ("2 1\n2 2\n1\n", None, "promises 2 vertices and 1 edges, found 2 lines and 1.5"),
        ("2 1\n3\n1\n", 2, r"neighbour 3 is not in 1\.\.2"),
        ("2 1\nx\n1\n", 2, "expected a whole number, found 'x'"),
        ("2 1 1\n2\n1 4\n", 2, "without its weight"),
        ("2 1 1\n2 3\n1 4\n", None, "two weights"),
        ("3 1\n2\n3\n\n", None, "one of its ends only"),
        ("2 1 777\n2\n1\n", 1, "three digits"),
    ],
)
def test_wrong_metis(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    with pytest.raises(bf.FormatError, match=message) as caught:
        bf.read(save(tmp_path, "wrong.graph", text))
    assert caught.value.line == line


# ---------------------------------------------------------------------- Parquet


def test_parquet_by_pandas(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "cost": [1.5, 2.5]})
    frame.to_parquet(tmp_path / "table.parquet")
    graph = bf.read(tmp_path / "table.parquet", columns=("a", "b", "cost"))
    assert arcs(graph) == {("x", "y", 1.5), ("y", "z", 2.5)}
    (tmp_path / "not.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(bf.FormatError, match="expected a Parquet file"):
        bf.read(tmp_path / "not.parquet")


# ---------------------------------------------------------------------- which reader


def test_unknown_things(tmp_path: Path) -> None:
    with pytest.raises(bf.FormatError, match="unknown suffix '.xyz'; known: .mtx"):
        bf.read(save(tmp_path, "a.xyz", "0 1"))
    with pytest.raises(FileNotFoundError, match="no such file, and no generator"):
        bf.read(tmp_path / "missing.el")
    with pytest.raises(bf.FormatError, match="found a folder"):
        bf.read(tmp_path)
    with pytest.raises(bf.OptionError, match="columns= does not go with .mtx"):
        bf.read(save(tmp_path, "a.mtx", "x"), columns=(0, 1))
    with pytest.raises(bf.OptionError, match="expected 'integer' or 'string'"):
        bf.read(save(tmp_path, "a.el", "0 1"), ids="float")
    with pytest.raises(bf.OptionError, match="directed= goes with files"):
        bf.read("path:5", directed=True)

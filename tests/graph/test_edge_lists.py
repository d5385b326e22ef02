"""Edge lists as they are met in the wild: heads, quotes, blanks, long numbers, odd encodings."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.graph.write import WRITERS
from zoo import same, same_from_file


def read(folder: Path, name: str, text: str | bytes, **options: object) -> bf.Graph:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return bf.read(path, **options)  # type: ignore[arg-type]


def arcs(graph: bf.Graph) -> list[tuple]:
    names = graph.labels.tolist()
    ends = zip(graph.sources().tolist(), graph.targets.tolist(), strict=True)
    weights = [()] * graph.num_arcs if graph.weights is None else graph.weights.tolist()
    weights = [() if weight == () else (weight,) for weight in weights]
    return [(names[u], names[v], *w) for (u, v), w in zip(ends, weights, strict=True)]


# ---------------------------------------------------------------------- columns and heads


def test_one_column_cannot_be_two_things(tmp_path: Path) -> None:
    for columns in (("a", "b", "b"), ("a", "a"), (0, 1, 0)):
        with pytest.raises(bf.FormatError, match="names one column twice"):
            read(tmp_path, "u.csv", "a,b,c\n1,2,3\n", columns=columns)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,from,to\n1,2,3\n", [(2, 3)]),
        ("SRC,DST,Weight\n0,1,7\n", [(0, 1, 7)]),
        ("weight,target,source\n7,0,1\n", [(1, 0, 7)]),
        ("a,b,cost\n0,1,7\n", [(0, 1, 7)]),
        ("to,be\nbe,or\n", [("be", "or"), ("to", "be")]),
        ("from,here\nhere,on\n", [("from", "here"), ("here", "on")]),
    ],
)
def test_heads_come_in_pairs(tmp_path: Path, text: str, expected: list[tuple]) -> None:
    assert arcs(read(tmp_path, "heads.csv", text)) == expected


def test_blanks_and_tabs_mixed(tmp_path: Path) -> None:
    """As KONECT has it: a blank, then tabs."""
    text = "% sym weighted\n1 2\t5\t1082040961\n2 3\t6\t1082040962\n"
    assert arcs(read(tmp_path, "out.txt", text, columns=(0, 1, 2))) == [(1, 2, 5), (2, 3, 6)]
    assert arcs(read(tmp_path, "out.txt", "1 2\t5\n2 3\t6\n")) == [(1, 2, 5), (2, 3, 6)]
    names = "new york\trome\nrome\tnew york\n"
    assert arcs(read(tmp_path, "tab.txt", names)) == [("new york", "rome"), ("rome", "new york")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.el", b"# caf\xe9\n0 1\n"),
        ("a.gr", b"c caf\xe9\np tw 2 1\nc caf\xe9\n1 2\n"),
        ("a.mtx", b"%%MatrixMarket matrix coordinate pattern general\n% caf\xe9\n2 2 1\n1 2\n"),
        ("a.graph", b"% caf\xe9\n2 1\n2\n1\n"),
    ],
)
def test_comments_in_any_encoding(tmp_path: Path, name: str, text: bytes) -> None:
    assert read(tmp_path, name, text).num_edges == 1


# ---------------------------------------------------------------------- names


def test_a_name_is_the_same_with_quotes_and_without(tmp_path: Path) -> None:
    graph = read(tmp_path, "a.csv", '"a",b\na,"b"\n"x""y",x"y\n')
    assert graph.labels.tolist() == ["a", "b", 'x"y']
    assert arcs(graph) == [("a", "b"), ('x"y', 'x"y')]


def test_quotes_between_blanks(tmp_path: Path) -> None:
    assert arcs(read(tmp_path, "a.txt", '"ab cd" e\n')) == [("ab cd", "e")]
    with pytest.raises(bf.FormatError, match="line 2: a quote is not closed"):
        read(tmp_path, "a.txt", 'x y\n"ab cd\n')


NAME = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1, max_size=5
) | st.text(' ,;|\t"#%ab', min_size=1, max_size=5)  # fmt: skip


@given(st.lists(st.tuples(NAME, NAME), min_size=1, max_size=8), st.booleans(), st.booleans())
@pytest.mark.parametrize("suffix", [".el", ".txt", ".edges", ".dat", ".csv", ".tsv"])
def test_any_names_come_back(
    tmp_path: Path, suffix: str, pairs: list, directed: bool, weighted: bool
) -> None:
    weight = list(range(len(pairs))) if weighted else None
    source, target = [u for u, _ in pairs], [v for _, v in pairs]
    graph = bf.from_edges(source, target, weight, directed=directed)
    graph.save(tmp_path / f"names{suffix}")
    options = {"directed": directed, "ids": "string"} if suffix in (".csv", ".tsv") else {}
    same(graph, bf.read(tmp_path / f"names{suffix}", **options))  # type: ignore[arg-type]


def test_tuples_come_back_as_their_text(tmp_path: Path) -> None:
    bf.from_edges([("a", 1)], [("b", 2)], directed=False).save(tmp_path / "t.el")
    back = bf.read(tmp_path / "t.el")
    assert (back.directed, back.labels.tolist()) == (False, ["('a', 1)", "('b', 2)"])


@pytest.mark.parametrize("name", ["", "a\rb", "a\0"])
def test_names_that_text_cannot_hold(tmp_path: Path, name: str) -> None:
    with pytest.raises(bf.GraphError, match="text holds no name"):
        bf.from_edges([name], ["b"]).save(tmp_path / "n.txt")


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".parquet", ".bfg"])
def test_names_that_utf_8_cannot_hold(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(bf.GraphError, match="UTF-8"):
        bf.from_edges(["\ud800"], ["b"]).save(tmp_path / f"n{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_integer_labels_stay_labels(tmp_path: Path) -> None:
    graph = bf.from_edges([10**12, 2, 1], [1, 1, 2], directed=False)
    graph.save(tmp_path / "l.txt")
    same(graph, bf.read(tmp_path / "l.txt"))
    bf.from_networkx(nx.path_graph([-1, 5])).save(tmp_path / "negative.txt")
    assert bf.read(tmp_path / "negative.txt").labels.tolist() == ["-1", "5"]
    text = "# broadfront: directed, 2 vertices, integer labels\n1 2\n"
    assert read(tmp_path, "own.txt", text).labels.tolist() == [1, 2]


# ---------------------------------------------------------------------- numbers


def test_whole_weights_are_exact(tmp_path: Path) -> None:
    for text in ("0 1 {}\n1 2 -5\n", "a b {}\nb c -5\n", '"0" 1 "{}"\n1 2 -5\n'):
        for value in (2**53, 2**53 + 1, 2**60 + 1, 2**63 - 1, 1 - 2**63):
            weights = read(tmp_path, "w.txt", text.format(value)).weights
            assert weights is not None
            assert weights.tolist() == [value, -5]
    for beyond in ("99999999999999999999", str(2**64), "18446744073709551616000"):
        rounded = read(tmp_path, "w.wel", f"0 1 {beyond}\n" * 9).weights
        assert rounded is not None
        assert rounded.tolist() == [float(beyond)]


@pytest.mark.parametrize("suffix", [suffix for suffix in WRITERS if suffix != ".graph"])
def test_large_weights_come_back(tmp_path: Path, suffix: str) -> None:
    graph = bf.from_edges([0, 1], [1, 2], weight=[2**60 + 1, -5])
    graph.save(tmp_path / f"w{suffix}")
    same_from_file(graph, bf.read(tmp_path / f"w{suffix}"), tmp_path / f"w{suffix}")


@pytest.mark.parametrize("word", ["1_000", "١", '"1,5"', "0x10", "1e", ".", "1.5.2", "", '"5"6'])
@pytest.mark.parametrize("ends", ["0,1", "a,b"])
def test_what_is_no_number_is_no_weight(tmp_path: Path, ends: str, word: str) -> None:
    with pytest.raises(bf.FormatError, match="line 2: expected (a weight|3 columns)"):
        read(tmp_path, "w.csv", f"{ends},1\n{ends},{word}\n")
    with pytest.raises(bf.FormatError, match="line 2: a quote is not closed"):
        read(tmp_path, "w.csv", f'{ends},1\n{ends},"5\n')


@pytest.mark.parametrize("word", ["1", "+1", "01", "1.", ".5", "1E3", "inf", "-Infinity", '"2"'])
@pytest.mark.parametrize("ends", ["0,1", "a,b"])
def test_what_is_a_number(tmp_path: Path, ends: str, word: str) -> None:
    weights = read(tmp_path, "w.csv", f"{ends},{word}\n").weights
    assert weights is not None
    assert weights.tolist() == [float(word.strip('"'))]


def test_ids_of_19_digits(tmp_path: Path) -> None:
    line = "9223372036854775807 1234567890123456789\n"
    graph = read(tmp_path, "b.el", line * 9 + "  " + line + "0 00000000000000000000001\n")
    assert graph.labels.tolist() == [0, 1, 1234567890123456789, 9223372036854775807]
    for beyond in (2**63, 2**64, 2**64 + 1, 10**30):
        with pytest.raises(bf.FormatError, match="line 1: .* is too large") as caught:
            read(tmp_path, "b.el", f"0 {beyond}\n")
        assert type(caught.value) is bf.FormatError


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n{} {} 1\n1 2\n"),
        ("a.gr", "p sp {} 1\na 1 2 3\n"),
        ("a.graph", "{} 1\n2\n1\n"),
        ("a.graph", "2 1 010 {}\n1 2\n1 1\n"),
    ],
)
@pytest.mark.parametrize("count", ["9" * 5000, "9" * 20, "9" * 18, "٣"])
def test_absurd_counts(tmp_path: Path, name: str, text: str, count: str) -> None:
    with pytest.raises(bf.FormatError):
        read(tmp_path, name, text.format(count, count))


def test_absurd_counts_in_our_own_comment(tmp_path: Path) -> None:
    with pytest.raises(bf.FormatError, match="promises"):
        read(tmp_path, "a.txt", f"# broadfront: directed, {10**17} vertices\n0 1\n")


@pytest.mark.parametrize("count", [2**70, 2**62, 3.0, "3", -1])
def test_absurd_numbers_of_vertices(tmp_path: Path, count: object) -> None:
    with pytest.raises(bf.GraphError, match="num_vertices="):
        bf.from_edges([0], [1], num_vertices=count)  # type: ignore[arg-type]
    with pytest.raises(bf.FormatError, match="num_vertices="):
        read(tmp_path, "a.el", "0 1\n", num_vertices=count)
    with pytest.raises(bf.FormatError, match=r"line 1: vertex id 0 is not in"):
        read(tmp_path, "a.el", "0 1\n" * 99, num_vertices=0)


def test_numbers_of_vertices_that_the_machine_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broadfront.graph.numbering.memory", lambda: 16_000)
    assert bf.from_edges([0], [1], num_vertices=1000).num_vertices == 1000
    with pytest.raises(bf.GraphError, match=r"num_vertices=1,001 takes 15.6 KiB without any edge"):
        bf.from_edges([0], [1], num_vertices=1001)
    with pytest.raises(bf.FormatError, match="num_vertices=1,001"):
        read(tmp_path, "a.el", "0 1\n", num_vertices=1001)

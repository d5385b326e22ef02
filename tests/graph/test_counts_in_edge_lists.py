"""Edge lists that say how many vertices they have, and lines that another character separates."""

from __future__ import annotations

from pathlib import Path

import pytest

import broadfront as bf

SNAP = "# Directed graph: x.txt\n# Nodes: {} Edges: 3\n# FromNodeId\tToNodeId\n"


def read(folder: Path, text: str, name: str = "a.txt", **options: object) -> bf.Graph:
    (folder / name).write_text(text)
    return bf.read(folder / name, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "ids", "labels"),
    [
        (4, "0\t1\n1\t2\n2\t3\n", [0, 1, 2, 3]),  # all there are
        (6, "0\t1\n1\t2\n2\t3\n", [0, 1, 2, 3, 4, 5]),  # the last ones isolated
        (6, "0\t1\n1\t2\n2\t5\n", [0, 1, 2, 3, 4, 5]),  # isolated ones between
        (4, "0\t1\n1\t2\n2\t5\n", [0, 1, 2, 5]),  # gaps: as many ids as vertices
        (5, "0\t1\n1\t2\n2\t5\n", [0, 1, 2, 5]),  # gaps, and one that nobody names
        (4, "1\t2\n2\t3\n3\t4\n", [1, 2, 3, 4]),  # from 1
        (6, "1\t2\n2\t3\n3\t6\n", [1, 2, 3, 4, 5, 6]),  # from 1, isolated ones between
        (5, "1\t2\n2\t3\n3\t4\n", [0, 1, 2, 3, 4]),  # 0 may be there
        (4, "10\t900\n900\t7\n7\t5000\n", [7, 10, 900, 5000]),
        (9000, "10\t900\n900\t7\n7\t5000\n", list(range(9000))),
        (3, "0\t1\n1\t2\n2\t5\n", [0, 1, 2, 3, 4, 5]),  # wrong: counts for nothing
        (2, "10\t900\n900\t7\n7\t5000\n", [7, 10, 900, 5000]),
    ],
)
def test_nodes_in_a_comment(tmp_path: Path, said: int, ids: str, labels: list[int]) -> None:
    graph = read(tmp_path, SNAP.format(said) + ids)
    assert graph.labels.tolist() == labels
    first = ids.split()[:2]
    tail, head = (graph.vertex(int(word)) for word in first)
    assert head in graph.neighbors(tail)


def test_a_number_from_the_user_comes_first(tmp_path: Path) -> None:
    graph = read(tmp_path, SNAP.format(4) + "0\t1\n1\t2\n2\t5\n", num_vertices=8)
    assert graph.labels.tolist() == list(range(8))


def test_no_file_has_so_many_nodes(tmp_path: Path) -> None:
    with pytest.raises(bf.FormatError, match="line 2: the header promises") as caught:
        read(tmp_path, SNAP.format(10**17) + "0\t1\n")
    assert caught.value.line == 2


def test_names_may_be_counted_too(tmp_path: Path) -> None:
    assert read(tmp_path, SNAP.format(2) + "a\tb\n").labels.tolist() == ["a", "b"]


COUNTS = "6,3,u,graph\n0,1\n1,2\n2,4\n"


def test_a_first_line_of_counts(tmp_path: Path) -> None:
    graph = read(tmp_path, COUNTS, "a.csv")
    assert (graph.num_vertices, graph.num_edges) == (6, 3)
    weighted = read(tmp_path, "4 2\n0 1 7\n1 3 9\n", "a.wel")
    assert (weighted.num_vertices, weighted.weights.tolist()) == (4, [7, 9])  # type: ignore[union-attr]
    named = read(tmp_path, "3 2 x\na b\nb c\n")
    assert named.labels.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("text", [COUNTS.replace("6,3", "6,7"), "3 9 x\na b\nb c\n"])
def test_a_first_line_that_counts_wrong(tmp_path: Path, text: str) -> None:
    with pytest.raises(bf.FormatError, match="line 1: .*2 in the lines below; header=True skips"):
        read(tmp_path, text)
    assert read(tmp_path, text, header=True).num_edges == text.count("\n") - 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1434 5", "'1434 5': expected a tab between columns, found a blank"),
        ("1434,5", "'1434,5': expected a tab between columns, found a comma"),
        ("7\t1434 5", "'1434 5': expected a tab between columns, found a blank"),
        ("7\t8\t", "expected 2 columns, found 3"),
        ("7", "expected 2 columns, found 1"),
        ("7\tx y", "expected a vertex id, found 'x y'"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_in_a_file_of_tabs(tmp_path: Path, line: str, problem: str, end: str) -> None:
    usual = f"0\t1{end}" * 30_000  # beyond what is looked at
    with pytest.raises(bf.FormatError) as caught:
        read(tmp_path, usual + line + end + usual)
    assert (caught.value.problem, caught.value.line) == (problem, 30_001)


@pytest.mark.parametrize(
    ("usual", "line", "problem"),
    [
        ("0 1\n", "3,4", "'3,4': expected a blank between columns, found a comma"),
        ("0 1\n", "3 4,5", "'4,5': expected a blank between columns, found a comma"),
        ("0,1\n", "3;4", "'3;4': expected a comma between columns, found a semicolon"),
        ("0,1\n", "3 4", "'3 4': expected a comma between columns, found a blank"),
        ("0,1,2.5\n", "3,4 5.5", "'4 5.5': expected a comma between columns, found a blank"),
        ("0,1\n", "3,4,", "expected 2 columns, found 3"),
        ("0,1\n", '"3 4",5', "expected a vertex id, found '\"3 4\"'"),
    ],
)
def test_mixed_separators(tmp_path: Path, usual: str, line: str, problem: str) -> None:
    with pytest.raises(bf.FormatError) as caught:
        read(tmp_path, usual * 30_000 + line + "\n")
    assert (caught.value.problem, caught.value.line) == (problem, 30_001)


def test_blanks_and_tabs_may_mix_where_the_first_lines_do(tmp_path: Path) -> None:
    assert read(tmp_path, "0\t1\n1 2\n2\t 3\n").num_edges == 3

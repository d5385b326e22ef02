"""`broadfront bench` as a person or a script meets it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from broadfront.benchmark.systems import ENTRIES
from broadfront.benchmark.systems.system import PRIMITIVES
from broadfront.cli import display
from broadfront.cli.main import main

SMALL = ["bench", "--graphs", "kron:6", "--systems", "broadfront", "scipy", "networkx"]


def test_tables_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.json"
    assert main([*SMALL, "--repeats", "2", "--threads", "2", "--json", str(path)]) == 0
    captured = capsys.readouterr()
    for text in ("Median of 2, 2 threads, every answer verified", "geometric mean", "peak memory",
                 "convert, weighted", "SciPy betweenness: has no such function"):  # fmt: skip
        assert text in captured.out
    assert "kron:6 triangles NetworkX: done" in captured.err
    found = json.loads(path.read_text())
    assert found["machine"]["cores"] >= 1
    assert found["versions"]["scipy"]
    assert found["threads"] == {"broadfront": 2, "scipy": 1, "networkx": 1}
    assert len(found["results"]) == 3 * len(PRIMITIVES)
    for row in found["results"]:
        if (row["system"], row["primitive"]) == ("scipy", "betweenness"):
            assert row["status"] == "lacks"
        else:
            assert (row["status"], len(row["trials"]), row["verified"]) == ("done", 2, True)
            assert row["median"] == pytest.approx(sum(row["trials"]) / 2)
    assert len(found["ratios"]) == len(PRIMITIVES)
    assert found["geometric_mean"] > 0
    assert found["stopped"] is False


def test_absent_peers_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = replace(ENTRIES["igraph"], library="no_such_library")
    monkeypatch.setattr("broadfront.benchmark.systems.ENTRIES",
                        {"broadfront": ENTRIES["broadfront"], "igraph": gone})  # fmt: skip
    few = ["bench", "--graphs", "path:9", "--primitives", "bfs", "--repeats", "1"]
    assert main([*few, "--quiet"]) == 0
    captured = capsys.readouterr()
    assert "absent: igraph" in captured.out
    assert captured.err == ""
    assert main([*few, "--systems", "igraph"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("broadfront: error: --systems igraph: this needs igraph: pip install")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--systems", "nobody"], "--systems nobody: unknown; known: broadfront scipy"),
        (["--primitives", "bsf"], "--primitives bsf: unknown; known: bfs"),
        (["--repeats", "0"], "--repeats 0 is not a positive number"),
        (["--threads", "-1"], "--threads -1 is not a positive number"),
        (["--limit-seconds", "nan"], "--limit-seconds nan is not a positive number"),
        (["--graphs", "krom:5", "--quiet"], "krom:5"),
    ],
)
def test_wrong_options(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments]) == 1
    captured = capsys.readouterr()
    assert error in captured.err
    assert captured.out == ""


def test_ctrl_c_prints_the_table_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(line: str) -> None:
        if "kron:6 sssp" in line:
            raise KeyboardInterrupt

    monkeypatch.setattr(display, "say", press)
    path = tmp_path / "out.json"
    assert main([*SMALL, "--repeats", "1", "--json", str(path)]) == 130
    captured = capsys.readouterr()
    assert captured.err == "broadfront: stopped\n"
    assert "kron:6  bfs" in captured.out
    assert "stopped by Ctrl-C" in captured.out
    assert json.loads(path.read_text())["stopped"] is True


def test_a_wrong_answer_of_broadfront_ends_in_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    liar = replace(ENTRIES["broadfront"], adapter="benchmark.strange_systems:Liar")
    monkeypatch.setitem(ENTRIES, "broadfront", liar)
    arguments = ["--graphs", "path:9", "--primitives", "bfs", "--systems", "broadfront", "scipy"]
    assert main(["bench", *arguments, "--quiet"]) == 1
    captured = capsys.readouterr()
    assert "WRONG" in captured.out
    assert "bfs on path:9" in captured.err

"""`broadfront scaling` as a person or a script meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import broadfront as bf
from broadfront.benchmark.asked import ASKED
from broadfront.cli import display
from broadfront.cli.main import main
from broadfront.scaling import load
from scaling.made_up import Pretender, findings

SMALL = ["scaling", "--graphs", "rgg=rgg:6", "--primitives", "bfs", "--devices", "2",
         "--repeats", "2", "--studies", "strong", "ids"]  # fmt: skip


@pytest.fixture(autouse=True)
def pretender(monkeypatch: pytest.MonkeyPatch) -> Pretender:
    made = Pretender()
    monkeypatch.setitem(ASKED, "bfs", made)
    return made


def test_measures_shows_saves_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path, folder = tmp_path / "out.json", tmp_path / "pictures"
    assert main([*SMALL, "--save", str(path), "--plots", str(folder)]) == 0
    captured = capsys.readouterr()
    assert "Strong scaling, devices x threads, median of at most 2" in captured.out
    assert "drawn: strong.png" in captured.out
    assert "broadfront: 1 of 2: strong bfs on rgg:6: 1x1" in captured.err
    assert (folder / "strong.png").exists()
    assert path.with_suffix(".csv").read_text().startswith("study,family,graph")
    found = load(path)
    assert found.settings["devices"] == [1, 2]
    assert [row.variant for row in found.rows] == ["1x1", "2x1", "relabelled", "kept"]


def test_shows_again_without_measuring(
    tmp_path: Path, pretender: Pretender, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.json"
    findings().save(path)
    assert main(["scaling", "--from", str(path)]) == 0
    assert capsys.readouterr().out == findings().table() + "\n"
    assert pretender.asked == []


def test_ctrl_c_shows_and_saves_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(line: str) -> None:
        if line.startswith("1 of 2"):
            raise KeyboardInterrupt

    monkeypatch.setattr(display, "say", press)
    path = tmp_path / "out.json"
    assert main([*SMALL, "--save", str(path)]) == 130
    captured = capsys.readouterr()
    assert captured.err == "broadfront: stopped\n"
    assert "stopped by Ctrl-C" in captured.out
    assert json.loads(path.read_text())["stopped"] is True


def test_a_wrong_answer_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def liar(graph: bf.Graph, question: Any, devices: int, **options: Any) -> bf.BreadthFirst:
        return bf.bfs(graph, question.source if devices == 1 else 0, threads=1)

    monkeypatch.setitem(ASKED, "bfs", liar)
    assert main([*SMALL, "--quiet"]) == 1
    captured = capsys.readouterr()
    assert "WRONG" in captured.out
    assert captured.err.startswith("broadfront: error: bfs on rgg:6, 2x1: the answer differs")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--studies", "string"], "--studies string: unknown; known: strong weak-edges"),
        (["--primitives", "bsf"], "--primitives bsf: unknown; known: bfs"),
        (["--families", "rgh"], "--families rgh: unknown; known: soc"),
        (["--graphs", "kron:5"], "--graphs kron:5: expected FAMILY=GRAPH"),
        (["--graphs", "soc=none.el"], "--graphs soc=none.el: no such file"),
        (["--data", "/no/where"], "--data /no/where: No such file"),
        (["--partitioners", "mettis"], "--partitioners mettis: unknown; known: random"),
        (["--schemes", "huge"], "--schemes huge: unknown; known: minimal profile fixed"),
        (["--devices", "0"], "--devices 0 is not a positive number"),
        (["--repeats", "0"], "--repeats 0 is not a positive number"),
        (["--save", "here.txt"], "--save here.txt: expected a name that ends in .json"),
        (["--from", "/no/where.json"], "/no/where.json: No such file"),
    ],
)
def test_wrong_options(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scaling", *arguments]) == 1
    captured = capsys.readouterr()
    assert error in captured.err
    assert captured.out == ""

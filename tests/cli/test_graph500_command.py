"""`broadfront graph500` as a person or a script meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from broadfront.cli import display
from broadfront.cli.main import main
from broadfront.graph500 import IMPLEMENTATIONS

SMALL = ["graph500", "--scale", "7", "--roots", "4"]


def test_the_block_and_progress(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(SMALL) == 0
    captured = capsys.readouterr()
    names = [line.partition(":")[0] for line in captured.out.splitlines()]
    for name in ("SCALE", "NBFS", "construction_time", "bfs  min_time", "sssp median_time",
                 "bfs  harmonic_mean_TEPS", "sssp harmonic_stddev_TEPS"):  # fmt: skip
        assert name in names
    assert "broadfront: 2,048 edges generated" in captured.err
    assert "bfs, 4 of 4 roots, all valid" in captured.err
    assert "sssp, 4 of 4 roots, all valid" in captured.err


@pytest.mark.parametrize("name", ["list", "out-of-core"])
def test_json_of_another_implementation(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--implementation", name, "--json", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out)
    assert found["implementation"] == name
    assert list(found["searches"]) == ["bfs"]
    assert found["block"]["NBFS"] == 4


def test_several_devices_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    several = ["--devices", "2", "--threads", "1", "--kernels", "bfs", "--json", "--quiet"]
    assert main([*SMALL, *several]) == 0
    assert json.loads(capsys.readouterr().out)["devices"] == 2


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--implementation", "best"], "implementation 'best': unknown; known: list, csr"),
        (["--implementation", "csr", "--devices", "2"], "--devices is for --implementation"),
        (["--block-memory", "1M"], "--block-memory is for --implementation out-of-core, not for"),
        (["--threads", "0"], "threads=0 is not a positive number"),
        (["--implementation", "csr", "--kernels", "sssp"], "'csr' has no kernel for sssp"),
        (["--scale", "0"], "scale=0: expected 1 or more"),
        (["--roots", "0"], "roots=0: expected 1 or more"),
        (["--plot", "a.png"], "--plot goes with --compare"),
        (["--compare", "--plot", "a.txt"], "--plot a.txt: expected a name that ends in .png"),
        (["--time-limit", "0"], "time_limit=0.0 s is over"),
    ],
)
def test_mistakes_are_told_in_a_line(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, *arguments, "--quiet"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("broadfront: error: ")
    assert error in captured.err


def test_ctrl_c_shows_what_there_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(line: str) -> None:
        if line.startswith("bfs"):
            raise KeyboardInterrupt

    monkeypatch.setattr(display, "say", press)
    assert main(SMALL) == 130
    captured = capsys.readouterr()
    assert captured.err == "broadfront: stopped\n"
    assert "NBFS:                           4" in captured.out
    assert "sssp" not in captured.out


def test_compares_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "teps.png"
    few = ["graph500", "--compare", "--scales", "5", "6", "--roots", "2", "--plot", str(picture)]
    assert main([*few, "--block-memory", "4K", "--threads", "1"]) == 0
    captured = capsys.readouterr()
    rows = [line.split() for line in captured.out.splitlines()[1:]]
    assert [row[1] for row in rows] == list(IMPLEMENTATIONS) * 2
    assert "scale 6: linear-algebra" in captured.err
    assert picture.stat().st_size > 10_000

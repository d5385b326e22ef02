"""`broadfront partition` from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import broadfront as bf
from broadfront.cli.main import main


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", "path:10", "-n", "2", "--by", "range"]) == 0
    out = capsys.readouterr().out
    assert "into 2 by range" in out
    assert "1 edges cut, 11.1% of them" in out
    lines = [line.split() for line in out.splitlines()[-3:]]
    assert lines[0] == ["part", "vertices", "arcs", "cut", "ghosts"]
    assert lines[1] == ["0", "5", "9", "1", "1"]


def test_as_json_and_into_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "split.npz"
    command = ["partition", "grid:20x20", "-n", "3", "--by", "biased", "--speeds", "2,1,1",
               "--seed", "4", "--factor", "0.9", "--json", "--out", str(path)]  # fmt: skip
    assert main(command) == 0
    facts = json.loads(capsys.readouterr().out)
    graph = bf.generate("grid:20x20")
    expected = bf.split(graph, 3, "biased", seed=4, speeds=[2, 1, 1], factor=0.9)
    np.testing.assert_array_equal(bf.Partition.load(path, graph).owner, expected.owner)
    assert facts["edges_cut"] == expected.quality().edges_cut
    assert facts["part_ghosts"] == expected.quality().ghosts.tolist()
    assert (facts["by"], facts["parts"]) == ("biased", 3)


def test_the_long_name_of_the_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", "path:10", "--parts", "2", "--by", "range"]) == 0
    assert "into 2 by range" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["partition", "path:10"])
    assert "-n/--parts" in capsys.readouterr().err


def test_a_time_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", "path:10", "-n", "2", "--time-limit", "0"]) == 1
    assert "time_limit=0.0 s is over" in capsys.readouterr().err


def test_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["partition", "path:10", "-n", "0"]) == 1
    assert "count=0" in capsys.readouterr().err
    for wrong in (["--speeds", "a,b"], ["--by", "magic"]):
        with pytest.raises(SystemExit):
            main(["partition", "path:10", "-n", "2", *wrong])
    with pytest.raises(SystemExit):
        main(["partition", "path:10"])

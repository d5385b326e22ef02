"""The primitives from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import broadfront as bf
from broadfront.cli.main import main
from broadfront.cli.primitives import PRIMITIVES

NAMES = [primitive.name for primitive in PRIMITIVES]


@pytest.mark.parametrize("name", NAMES)
def test_every_primitive_tells_and_verifies(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "kron:6:weights=1-9", "--verify"]) == 0
    out = capsys.readouterr().out
    assert "on 64 vertices" in out
    assert "verified in" in out


@pytest.mark.parametrize("name", NAMES)
def test_every_primitive_answers_machines(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "grid:5x5", "--json", "--threads", "1"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["primitive"] == name
    assert facts["graph"]["vertices"] == 25
    assert facts["threads"] == 1
    assert ("teps" in facts) == ("edges_reached" in facts) == (name in ("bfs", "sssp"))
    assert ("change" in facts) == (name == "pagerank")


def test_answers_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = bf.bfs(bf.generate("path:9"), 4).depth.tolist()
    for suffix, read in ((".csv", pd.read_csv), (".parquet", pd.read_parquet)):
        path = tmp_path / f"out{suffix}"
        assert main(["bfs", "path:9", "--source", "4", "--out", str(path)]) == 0
        assert read(path)["depth"].tolist() == expected
    assert main(["bfs", "path:9", "--source", "4", "--out", str(tmp_path / "out.npy")]) == 0
    assert np.load(tmp_path / "out.npy").tolist() == expected
    assert "written to" in capsys.readouterr().out
    assert main(["bfs", "path:9", "--out", str(tmp_path / "out.doc")]) == 1
    assert "unknown suffix" in capsys.readouterr().err


def test_a_trace_is_written(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert main(["bfs", "path:9", "--source", "0", "--trace", str(path)]) == 0
    found = json.loads(path.read_text())
    assert found["iterations"]["frontier"] == [1] * 9
    assert found["totals"]["iterations"] == 9


def test_options_reach_the_primitives(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "flights.csv"
    table.write_text("source,target,weight\noslo,bern,2\nbern,rome,1\n")
    assert main(["bfs", str(table), "--source", "oslo", "--target", "bern"]) == 0
    assert "2 vertices reached" in capsys.readouterr().out
    assert main(["sssp", str(table), "--source", "oslo", "--parents", "--verify"]) == 0
    assert "the furthest at 3" in capsys.readouterr().out
    assert main(["sssp", str(table), "--source", "oslo", "--target", "bern"]) == 0
    assert "2 vertices reached, the furthest at 2" in capsys.readouterr().out
    both = [str(table), "--source", "oslo", "--source", "bern", "--each"]
    out = tmp_path / "out.csv"
    assert main(["bfs", *both, "--verify", "--out", str(out)]) == 0
    assert "from each of 2 sources" in capsys.readouterr().out
    frame = pd.read_csv(out)
    assert frame.set_index(["source", "vertex"]).loc[("oslo", "rome"), "depth"] == 2
    assert main(["sssp", *both, "--out", str(tmp_path / "out.npy")]) == 0
    assert np.load(tmp_path / "out.npy").shape == (2, 3)
    assert "from each of 2 sources" in capsys.readouterr().out
    assert main(["components", str(table), "--method", "min_label", "--verify"]) == 0
    assert "1 components" in capsys.readouterr().out
    assert main(["pagerank", str(table), "--max-iterations", "2", "--weighted"]) == 0
    assert "stopped after 2 iterations" in capsys.readouterr().out
    assert main(["betweenness", str(table), "--raw", "--weighted", "--verify"]) == 0
    assert main(["bfs", str(table), "--source", "nowhere"]) == 1
    assert "no vertex 'nowhere'" in capsys.readouterr().err
    assert main(["bfs", "kron:6", "--time-limit", "0"]) == 1
    assert "time_limit=0.0" in capsys.readouterr().err

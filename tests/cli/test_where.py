"""Many devices from the shell: `--devices` and its company, `broadfront devices`, `--trace`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

import broadfront as bf
from broadfront.cli import where
from broadfront.cli.main import main

COMPONENTS = ["components", "cycle:60", "--method", "min_label"]
SEARCH = ["bfs", "cycle:60", "--source", "0"]


def test_a_primitive_on_several_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMPONENTS, "--devices", "3", "--verify", "--threads", "1"]) == 0
    out = capsys.readouterr().out
    assert "on 3 devices by random, 3 threads" in out
    assert "vertices sent between devices" in out
    assert "verified in" in out
    assert main([*COMPONENTS, "--devices", "cpu*2,cpu*1", "--json", "--partitioner", "range"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["devices"], facts["threads"]) == (2, 3)
    assert facts["bytes_sent"] > 0
    assert main([*COMPONENTS, "--devices", "2", "--keep-ids", "--verify"]) == 0


def test_a_partition_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "halves.npz")
    assert main(["partition", "cycle:60", "-n", "2", "--by", "range", "--out", path]) == 0
    assert main([*COMPONENTS, "--devices", "2", "--partitioner", path, "--verify"]) == 0
    assert main([*COMPONENTS, "--devices", "3", "--partitioner", path]) == 1
    assert "2 parts, and there are 3 devices" in capsys.readouterr().err


def test_memory_as_it_was_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "memory.json")
    assert main([*COMPONENTS, "--devices", "3", "--json", "--save-memory", path]) == 0
    assert json.loads(capsys.readouterr().out)["growths"] > 0
    assert main([*COMPONENTS, "--devices", "3", "--json", "--memory", path]) == 0
    assert json.loads(capsys.readouterr().out)["growths"] == 0
    assert main([*COMPONENTS, "--devices", "3", "--memory", "minimal", "--verify"]) == 0


def test_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong, message in (
        (["--devices", "0"], "devices=0"),
        (["--devices", "gpu"], "no device 'gpu'"),
        (["--devices", "2", "--partitioner", "magic"], "magic"),
        (["--devices", "2", "--memory-limit", "1K"], "memory_limit is 1,024"),
        (["--memory", "plenty"], "expected 'minimal', 'fixed'"),
    ):
        assert main([*COMPONENTS, *wrong]) == 1
        assert message in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*COMPONENTS, "--memory-limit", "much"])


def test_sizes() -> None:
    assert [where.size(text) for text in ("7", "2k", "3M", "1GiB", "1T")] == [
        7, 2048, 3 << 20, 1 << 30, 1 << 40,
    ]  # fmt: skip
    with pytest.raises(argparse.ArgumentTypeError):
        where.size("-1")


def test_the_devices_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    assert capsys.readouterr().out.startswith("cpu")
    assert main(["devices", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["devices"]
    assert row["name"] == "cpu"


def test_a_trace_by_device(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert main([*SEARCH, "--devices", "2", "--threads", "1", "--trace", str(path)]) == 0
    found = json.loads(path.read_text())
    whole = found["iterations"]
    assert set(whole) == set(bf.bfs(bf.generate("path:3"), 0).report.by_iteration())
    assert found["totals"]["iterations"] == len(whole["frontier"]) == 31
    assert len(found["devices"]) == 2
    parts = [device["iterations"] for device in found["devices"]]
    for name in ("frontier", "edges"):
        assert np.sum([part[name] for part in parts], axis=0).tolist() == whole[name]
    for part in parts:
        assert np.shape(part["sent_bytes"]) == np.shape(part["sent_vertices"]) == (31, 2)
        times = np.array([part["computing"], part["exchanging"], part["waiting"]])
        assert (times >= 0).all()
    total = sum(np.sum(part["sent_bytes"]) for part in parts)
    assert total == found["totals"]["bytes_sent"] > 0


@pytest.mark.parametrize("devices", [1, 2])
def test_a_trace_for_viewers(devices: int, tmp_path: Path) -> None:
    paths = [tmp_path / "trace.perfetto.json", tmp_path / "trace.json"]
    where_ = ["--devices", str(devices), "--threads", "1"]
    assert main([*SEARCH, *where_, "--trace", str(paths[0])]) == 0
    assert main([*SEARCH, *where_, "--trace", str(paths[1]), "--trace-format", "chrome"]) == 0
    for path in paths:
        events = json.loads(path.read_text())["traceEvents"]
        names = [event["args"]["name"] for event in events if event["ph"] == "M"]
        assert names == [f"cpu:{number}" for number in range(devices)]
        for number in range(devices):
            spans = [event for event in events if event["ph"] == "X" and event["pid"] == number]
            assert {span["args"]["iteration"] for span in spans} == set(range(31))
            for span, following in zip(spans, spans[1:], strict=False):
                assert span["ts"] + span["dur"] <= following["ts"] + 0.01

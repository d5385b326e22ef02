"""The comparison with native programs, without them and with one that is a script."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import broadfront as bf

FOLDER = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(FOLDER))

import native_graphs  # noqa: E402
import native_results  # noqa: E402

PROGRAM = """#!{python}
import sys
words = sys.argv[1:]
assert words[words.index("-f") + 1].endswith(".sg")
for trial in range(int(words[words.index("-n") + 1])):
    print("Trial Time:          1000.00000")
print("BFS Tree has {count} nodes and 0 edges")
"""


def compared(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, FOLDER / "native.py", *words, "--repeats", 2]
    path = os.pathsep.join([str(Path(bf.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        list(map(str, command)), capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def suite(folder: Path, count: int) -> Path:
    program = folder / "bfs"
    program.write_text(PROGRAM.format(python=sys.executable, count=count))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder


def test_alone(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = compared("--graphs", "path:200", "path:200:weights=1-9", "--primitives", "bfs", "sssp",
                    "--old", FOLDER.parent, "--work", tmp_path / "work", "--json", out)  # fmt: skip
    assert done.returncode == 0, done.stderr
    table = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line[:1] == "|"]
    rows = {(row[0].strip(), row[1].strip()): [cell.strip() for cell in row] for row in table[2:]}
    assert list(rows) == [
        ("path:200", "bfs"), ("path:200", "sssp"), ("path:200:weights=1-9", "sssp"),
    ]  # fmt: skip
    assert (rows["path:200", "bfs"][2], rows["path:200", "bfs"][5]) == ("-", "-")
    assert rows["path:200", "bfs"][-1] == "200"
    facts, *series = map(json.loads, out.read_text().splitlines())
    assert facts["machine"]["processor"]
    assert set(facts["commits"]) == {"Broadfront", "old"}
    assert facts["load_average"] >= 0
    assert [(row["system"], row["variant"]) for row in series[:4]] == [
        ("Broadfront", {}), ("Broadfront", {"threads": 1}), ("old", {}), ("old", {"threads": 1}),
    ]  # fmt: skip
    assert {len(row["trials"]) for row in series} == {6}
    assert all(row["minimum"] <= row["median"] for row in series)


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_a_peer_is_beaten(tmp_path: Path) -> None:
    words = ["--gapbs", suite(tmp_path, 50), "--graphs", "path:50", "--primitives", "bfs"]
    done = compared(*words)
    assert done.returncode == 0, done.stderr
    row = done.stdout.splitlines()[-2].split("|")
    assert row[3].strip() == "GAPBS (threads 1)"
    assert row[4].strip() == "1,000,000.00 (1,000,000.00)"
    assert float(row[6]) > 100


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_answers_that_differ_end_it(tmp_path: Path) -> None:
    words = ["--gapbs", suite(tmp_path, 49), "--graphs", "path:50", "--primitives", "bfs"]
    done = compared(*words)
    assert done.returncode == 1
    assert "path:50 bfs: answers differ" in done.stderr
    assert "49" in done.stderr


def test_no_program_in_the_folder(tmp_path: Path) -> None:
    done = compared("--ligra", tmp_path, "--graphs", "path:50")
    assert (done.returncode, "no program BFS in there" in done.stderr) == (1, True)


def test_files_hold_the_same_arcs(tmp_path: Path) -> None:
    case = native_graphs.load("kron:6:weights=1-9", tmp_path)
    graph = case.graph
    assert not graph.num_self_loops
    assert case.structure == "kron:6"
    raw = native_graphs.write_gapbs(case, weighted=True).read_bytes()
    assert raw[0] == 0
    assert np.frombuffer(raw, np.int64, 2, 1).tolist() == [graph.num_arcs, graph.num_vertices]
    offsets = np.frombuffer(raw, np.int64, graph.num_vertices + 1, 17)
    assert np.array_equal(offsets, graph.offsets)
    pairs = np.frombuffer(raw, np.int32, offset=17 + offsets.nbytes).reshape(-1, 2)
    assert np.array_equal(pairs, np.stack((graph.targets, graph.weights), axis=1))
    stem = native_graphs.write_ligra(case, weighted=True)
    halves = np.fromfile(f"{stem}.adj", np.uint32).reshape(2, -1)
    assert np.array_equal(halves, np.stack((graph.targets, graph.weights)))
    assert np.array_equal(np.fromfile(f"{stem}.idx", np.uint32), graph.offsets[:-1])
    assert Path(f"{stem}.config").read_text() == str(graph.num_vertices)


def test_directed_files_hold_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "three.wel"
    path.write_text("0 1 5\n0 1 4\n0 2 3\n2 1 7\n")
    case = native_graphs.load(str(path), tmp_path, directed=True)
    assert case.name == "three.wel, directed"
    assert case.sources[0] == 0
    raw = native_graphs.write_gapbs(case, weighted=True).read_bytes()
    words = np.frombuffer(raw, np.int32, offset=1)
    assert raw[0] == 1
    assert words[[0, 2]].tolist() == [3, 3]
    out, back = words[4:18], words[18:]
    assert out.tolist() == [0, 0, 2, 0, 2, 0, 3, 0, 1, 4, 2, 3, 1, 7]
    assert back.tolist() == [0, 0, 0, 0, 2, 0, 3, 0, 0, 4, 2, 7, 0, 3]
    with pytest.raises(bf.OptionError, match="graphs that have directions"):
        native_graphs.load("path:5", tmp_path, directed=True)


def test_directed_graphs_are_asked_what_goes_along_arcs(tmp_path: Path) -> None:
    done = compared("--directed", "rmat:6:4:directed=yes", "--primitives", "bfs", "triangles")
    assert done.returncode == 0, done.stderr
    rows = [line.split("|")[1:3] for line in done.stdout.splitlines() if line[:1] == "|"][2:]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["rmat:6:4:directed=yes, directed", "bfs"]
    ]


def test_unweighted_arcs_weigh_1_and_real_weights_are_refused(tmp_path: Path) -> None:
    plain = native_graphs.load("star:4", tmp_path)
    assert native_graphs.unit_or_own(plain.graph).tolist() == [1] * plain.graph.num_arcs
    path = tmp_path / "real.wel"
    path.write_text("0 1 0.5\n")
    with pytest.raises(bf.OptionError, match="integer weights only"):
        native_graphs.load(str(path), tmp_path)


def test_sources_of_deep_graphs_are_one(tmp_path: Path) -> None:
    assert native_graphs.load("path:500", tmp_path).sources == (0,)
    several = native_graphs.load("complete:9", tmp_path).sources
    assert len(set(several)) == native_graphs.SOURCES


def test_a_ratio_below_1_is_bold() -> None:
    slow, quick = (
        native_results.Series("path:9", "bfs", "", {}, trials=[seconds]) for seconds in (3.0, 2.0)
    )
    assert native_results.ratio_text(slow, quick) == "1.50"
    assert native_results.ratio_text(quick, slow) == "**0.67**"
    assert native_results.ratio_text(None, slow) == "-"

"""Text that is read batch by batch is read as if it were whole, and in little memory."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import broadfront as bf
from broadfront.graph import files, lines
from zoo import same

BANNER = "%%MatrixMarket matrix coordinate pattern general"
PACK = {"": bytes, ".gz": gzip.compress}


@pytest.fixture(params=["", ".gz"])
def compression(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Cut text into tiny pieces; packed, into tiny batches as well."""
    monkeypatch.setattr(files, "READ_AT_ONCE", 16)
    monkeypatch.setattr(lines, "SMALLEST_PIECE", 8)
    monkeypatch.setattr(lines, "LARGEST_PIECE", 64)
    return str(request.param)


def read(folder: Path, name: str, text: str, compression: str, **options: object) -> bf.Graph:
    path = folder / f"{name}{compression}"
    path.write_bytes(PACK[compression](text.encode()))
    return bf.read(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".el", ".wel", ".csv", ".txt", ".gr", ".mtx", ".graph"])
def test_every_format(tmp_path: Path, compression: str, suffix: str) -> None:
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 50, (2, 400))
    graph = bf.from_edges(*ends, weight=rng.integers(1, 9, 400), directed=False, simple=True)
    graph.save(tmp_path / f"a{suffix}{compression}")
    back = bf.read(tmp_path / f"a{suffix}{compression}", directed=False)
    assert back.to_pandas()["weight"].tolist() == graph.to_pandas()["weight"].tolist()
    first = 1 if suffix in (".gr", ".mtx", ".graph") else 0
    assert (back.to_pandas()["target"] - first).tolist() == graph.to_pandas()["target"].tolist()


def test_names(tmp_path: Path, compression: str) -> None:
    names = [f'"vertex {number}"' if number % 3 else f"v{number}" for number in range(300)]
    text = "".join(f"{a},{b},{len(a)}\n" for a, b in zip(names, names[1:], strict=False))
    graph = read(tmp_path, "a.csv", text, compression)
    assert graph.labels.tolist() == sorted(name.strip('"') for name in names)
    assert graph.num_edges == 299


def test_long_names(tmp_path: Path, compression: str) -> None:
    names = ["x" * length for length in (5, 9000, 20_000)]
    graph = read(tmp_path, "a.txt", f"{names[0]} {names[1]}\n{names[1]} {names[2]}\n", compression)
    assert graph.labels.tolist() == names


def test_a_header_longer_than_a_block(tmp_path: Path, compression: str) -> None:
    text = "# " + "x" * 200 + "\n" + "# Nodes: 9 Edges: 1\n" + "0 1\n"
    assert read(tmp_path, "a.txt", text, compression).num_vertices == 9
    text = "c " + "x" * 200 + "\n" + "p sp 9 1\na 1 2 3\n"
    assert read(tmp_path, "a.gr", text, compression).num_vertices == 9


@pytest.mark.parametrize(
    ("last", "expected"),
    [("9", 9), ("9.5", 9.5), (str(2**40), 2**40), (str(2**60 + 1), 2**60 + 1), ("1e30", 1e30)],
)
def test_weights_of_one_batch_decide_for_all(
    tmp_path: Path, compression: str, last: str, expected: float
) -> None:
    text = "0 1 3\n" + "".join(f"{row} {row + 1} 7\n" for row in range(1, 99)) + f"99 0 {last}\n"
    weights = read(tmp_path, "a.wel", text, compression).weights
    assert weights is not None
    assert weights.tolist() == [3, *[7] * 98, expected]


def test_one_large_id(tmp_path: Path, compression: str) -> None:
    text = "".join(f"{row} {row + 1}\n" for row in range(99)) + f"99 {2**40}\n"
    assert read(tmp_path, "a.el", text, compression).labels.tolist() == [*range(100), 2**40]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.el", "0 1\n" * 99 + "0 -1\n" + "0 1\n" * 99, "vertex id -1 is negative"),
        ("a.wel", "0 1 2\n" * 99 + "0 1 nan\n" + "0 1 2\n", "the weight is nan"),
        ("a.gr", "p tw 9 98\n" + "1 2\n" * 98 + "1 10\n", r"vertex id 10 is not in 1..9"),
        ("a.graph", "98 0\n" + "\n" * 98 + "\n" + "1\n", "promises 98 vertices, found more"),
        ("a.txt", "a b\n" * 99 + "a\n", "expected 2 columns, found 1"),
    ],
)
def test_errors_name_the_line(
    tmp_path: Path, compression: str, name: str, text: str, problem: str
) -> None:
    with pytest.raises(bf.FormatError, match=problem) as caught:
        read(tmp_path, name, text, compression)
    assert caught.value.line == (101 if name == "a.graph" else 100)


def test_absurd_counts_in_packed_files(tmp_path: Path, compression: str) -> None:
    for name, text in (
        ("a.gr", "p tw 900000000000 1\n1 2\n"),
        ("a.graph", "900000000000 1\n2\n1\n"),
        (
            "a.mtx",
            f"{BANNER}\n900000000000 900000000000 1\n1 2\n",
        ),
        ("a.txt", "# broadfront: directed, 900000000000 vertices\n1 2\n"),
    ):
        with pytest.raises(bf.FormatError, match="the header promises 900,000,000,000 vertices"):
            read(tmp_path, name, text, compression)


def test_undirected_dimacs_with_an_arc_at_one_end(tmp_path: Path, compression: str) -> None:
    text = "c broadfront: undirected\np sp 3 3\na 1 2 5\na 2 1 5\na 3 1 7\n"
    with pytest.raises(bf.FormatError, match="one of its ends only"):
        read(tmp_path, "a.gr", text, compression)
    assert read(tmp_path, "a.gr", text, compression, directed=False).num_edges == 2


def test_metis_kept_apart(tmp_path: Path, compression: str) -> None:
    graph = read(tmp_path, "a.graph", "3 2\n2 3\n1\n1\n", compression)
    apart = read(tmp_path, "a.graph", "3 2\n2 3\n1\n1\n", compression, directed=True)
    assert (graph.directed, apart.directed) == (False, True)
    assert (graph.origin.edges_read, apart.origin.edges_read) == (2, 4)
    np.testing.assert_array_equal(graph.targets, apart.targets)


# ---------------------------------------------------------------------- memory

MEMORY = """
import resource, sys
import broadfront as bf
folder, suffixes = sys.argv[1], sys.argv[2:]
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
for suffix in suffixes:
    bf.read(f"{folder}/small{suffix}")  # compiles, imports, starts threads
    before = resident()
    open("/proc/self/clear_refs", "w").write("5")  # start the record of the peak anew
    graph = bf.read(f"{folder}/large{suffix}")
    status = open("/proc/self/status").read().split()
    peak = int(status[status.index("VmHWM:") + 1]) * 1024
    print(suffix, (peak - before) / graph.nbytes)
    del graph
"""
MOST = 3.0


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are read from /proc")
def test_reading_takes_less_than_three_times_the_graph(tmp_path: Path) -> None:
    suffixes = [".wel", ".gr", ".mtx.gz", ".graph", ".csv.zst"]
    for name, spec in (("small", "kron:6"), ("large", "kron:16:24")):
        graph = bf.generate(f"{spec}:simple=yes:weights=1-63")
        for suffix in suffixes:
            graph.save(tmp_path / f"{name}{suffix}")
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path), *suffixes],
        capture_output=True, text=True, check=False, env={**os.environ, "BROADFRONT_THREADS": "2"},
    )  # fmt: skip
    if "clear_refs" in done.stderr:
        pytest.skip("this system does not let a process forget its peak")
    assert done.returncode == 0, done.stderr
    found = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    assert list(found) == suffixes
    assert max(found.values()) < MOST, found


def test_dealing_lets_go_of_columns(tmp_path: Path) -> None:
    from broadfront.graph.build import Columns, rows_from

    columns = Columns(np.array([0, 1]), np.array([1, 0]), np.array([5, 6]))
    rows = rows_from(columns, 2)
    assert len(columns) == 0
    assert columns.weight is None
    assert rows.targets.tolist() == [1, 0]


def test_keys_of_32_bits_give_the_same_rows() -> None:
    ends = np.random.default_rng(3).integers(0, 1 << 21, (2, 3_000_000)).astype(np.int32)
    graph = bf.from_edges(*ends, num_vertices=1 << 21)
    wide = bf.from_edges(*ends, num_vertices=1 << 40 >> 16)
    np.testing.assert_array_equal(graph.targets, wide.targets)
    same(graph, bf.from_edges(*ends.astype(np.int64), num_vertices=1 << 21))

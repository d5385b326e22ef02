"""Building on the disk gives the file that building in memory gives, in blocks of any length."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import broadfront as bf
import zoo
from broadfront.cli.main import main
from broadfront.graph.external import room, sort

LIMIT = 1 << 40


@pytest.fixture(params=[3, 1 << 27], ids=["tiny blocks", "one block"])
def at_once(request, monkeypatch):
    """Let blocks have so many edges at most."""
    monkeypatch.setattr(room, "MOST_AT_ONCE", request.param)
    monkeypatch.setattr(sort, "NUMBERS_AT_ONCE", 8)
    return request.param


def both(source, folder, **options):
    """Return the bytes of a file built in memory, and of one built on the disk."""
    bf.convert(source, folder / "memory.bfg", **options)
    graph = bf.convert(source, folder / "disk.bfg", memory_limit=LIMIT, **options)
    expected = bf.read(source, **options)
    assert graph.origin.edges_read == expected.origin.edges_read
    assert graph.origin.duplicates == expected.origin.duplicates
    assert graph.origin.self_loops == expected.origin.self_loops
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    return (folder / "memory.bfg").read_bytes(), (folder / "disk.bfg").read_bytes()


TEXTS = {
    "plain.el": "0 1\n1 2\n2 0\n2 0\n3 3\n",
    "from_one.el": "1 2\n2 3\n3 1\n3 3\n",
    "sparse.el": "10 1000000000000\n7 10\n1000000000000 7\n7 7\n",
    "gaps.el": "0 5\n5 9\n9 0\n4 9\n1 4\n",
    "whole.wel": "0 1 5\n0 1 3\n1 0 -2147483648\n2 1 7\n",
    "wide.wel": "0 1 5\n0 1 3000000000\n1 2 9007199254740993\n",
    "mixed.wel": "0 1 5\n1 2 0.5\n2 3 -0.0\n2 3 0.0\n3 2 0.0\n",
    "names.csv": 'bern,oslo\n"rome",bern\noslo,"bern"\nrome,rome\n',
    "said.txt": "# Nodes: 9 Edges: 3\n0 1\n1 2\n5 1\n",
    "counts.txt": "5 3\n0 1 2\n1 2 4\n3 4 1\n",
    "matrix.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 5\n2 3 1\n3 3 2\n",
    "empty.mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 0\n",
    "pace.gr": "p tw 4 2\n1 2\n2 3\n",
    "shortest.gr": "p sp 4 3\na 1 2 5\na 2 3 7\na 1 2 4\n",
}


@pytest.mark.parametrize("options", [{}, {"directed": False}, {"simple": True}], ids=str)
@pytest.mark.parametrize("name", TEXTS)
def test_files_are_the_same_byte_for_byte(tmp_path, at_once, name, options):
    """Ids of every kind, labels, weights of every kind, duplicates, self-loops, both directions."""
    (tmp_path / name).write_text(TEXTS[name])
    memory, disk = both(tmp_path / name, tmp_path, **options)
    assert memory == disk


@pytest.mark.parametrize("suffix", [".el", ".csv.gz"])
@pytest.mark.parametrize("name", [name for name in zoo.ZOO if zoo.ZOO[name].source])
def test_the_zoo(tmp_path, at_once, name, suffix):
    """Graphs of the zoo, written as text."""
    path = tmp_path / f"graph{suffix}"
    zoo.ZOO[name].graph().save(path)
    memory, disk = both(path, tmp_path)
    assert memory == disk


@settings(max_examples=40, deadline=None)
@given(animal=zoo.edges(), simple=st.booleans(), at_once=st.integers(1, 50))
def test_blocks_of_any_graph(tmp_path_factory, animal, simple, at_once):
    """Blocks of arrays, cut anywhere, are what the arrays are as a whole."""
    folder = tmp_path_factory.mktemp("blocks")
    cuts = range(0, len(animal.source), at_once)
    columns = [animal.source, animal.target]
    columns += [] if animal.weight is None else [animal.weight]
    blocks = [tuple(np.array(column[cut : cut + at_once]) for column in columns) for cut in cuts]
    arrays = [np.array(column, np.int64) for column in columns[:2]]
    weight = np.array(animal.weight) if animal.weight is not None and blocks else None
    options = {"directed": animal.directed, "simple": simple, "num_vertices": animal.num_vertices}
    bf.from_edges(*arrays, weight, **options).save(folder / "memory.bfg")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "MOST_AT_ONCE", at_once)
        bf.convert(iter(blocks), folder / "disk.bfg", memory_limit=LIMIT, **options)
    assert (folder / "disk.bfg").read_bytes() == (folder / "memory.bfg").read_bytes()


@pytest.mark.parametrize("name", ["moby-thesaurus.el.zst", "npm-deps-2017.runtime.el.zst",
                                  "musae-github.csv", "USA-road-d.NY.gr.gz"])  # fmt: skip
def test_real_graphs(real_graphs, tmp_path, monkeypatch, name):
    """Real graphs, in blocks of some thousands of edges."""
    monkeypatch.setattr(room, "MOST_AT_ONCE", 50_000)
    memory, disk = both(real_graphs / name, tmp_path)
    assert memory == disk


def test_a_bucket_that_does_not_fit(tmp_path, monkeypatch):
    """Very many parallel edges at one vertex are merged part by part."""
    source = np.zeros(40_000, np.int64)
    target = np.arange(40_000) % 50
    weight = np.arange(40_000)[::-1] * 0.5
    monkeypatch.setattr(room, "MOST_AT_ONCE", 1000)
    options = {"num_vertices": 60, "directed": False}
    bf.from_edges(source, target, weight, **options).save(tmp_path / "memory.bfg")
    bf.convert([(source, target, weight)], tmp_path / "disk.bfg", memory_limit=LIMIT, **options)
    assert (tmp_path / "disk.bfg").read_bytes() == (tmp_path / "memory.bfg").read_bytes()


# ---------------------------------------------------------------------- limits

BUILD = """
import sys, threading, time
import numpy as np
import broadfront as bf
from broadfront.graph.external.room import resident

drawn = bf.generate("uniform:8:4").save(sys.argv[1] + "/small.el")
bf.convert(sys.argv[1] + "/small.el", sys.argv[1] + "/small.bfg", memory_limit=1 << 32)
before, edges = resident(), 6_000_000

def blocks():
    for block in range(24):
        ids = np.random.default_rng(block).integers(0, 1 << 16, (2, edges // 24), np.int32)
        yield ids[0], ids[1], np.ones(edges // 24, np.int32)

most, over = [0], threading.Event()

def look():
    while not over.is_set():
        most[0] = max(most[0], resident())
        time.sleep(0.001)

limit = before + (80 << 20)
thread = threading.Thread(target=look)
thread.start()
graph = bf.convert(blocks(), sys.argv[1] + "/out.bfg", memory_limit=limit, directed=False)
over.set()
thread.join()
print(most[0], limit, graph.num_arcs * 8)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc what a process holds")
def test_memory_stays_under_the_limit(tmp_path):
    """Rows of 96 MB and more are built in 80 MiB."""
    done = subprocess.run([sys.executable, "-c", BUILD, str(tmp_path)], capture_output=True,
                          text=True, check=True)  # fmt: skip
    most, limit, rows = map(int, done.stdout.split())
    assert most < limit
    assert rows > 80 << 20


def test_too_little_memory_is_refused(tmp_path):
    """The error says how much is needed, and nothing is written."""
    (tmp_path / "graph.el").write_text("0 1\n")
    with pytest.raises(bf.OutOfMemoryError, match=r"memory_limit=5,000,000 is not .* needed"):
        bf.convert(tmp_path / "graph.el", tmp_path / "graph.bfg", memory_limit=5_000_000)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.el"]


@pytest.mark.parametrize(
    ("source", "out", "options", "problem"),
    [
        ("kron:8", "a.bfg", {}, r"goes with files of \.mtx \.gr .* and with blocks of edges"),
        ("graph.el", "a.el", {}, "what is built on the disk becomes a .bfg file"),
        ("graph.el", "a.bfg", {"edge_data": ["x"]}, "edge_data= does not go with"),
        ("graph.el", "a.bfg", {"memory_limit": 0}, "expected a number of bytes"),
    ],
)
def test_refusals(tmp_path, monkeypatch, source, out, options, problem):
    """What cannot be built on the disk is refused by a sentence."""
    monkeypatch.chdir(tmp_path)
    Path("graph.el").write_text("0 1\n")
    with pytest.raises(bf.OptionError, match=problem):
        bf.convert(source, out, **{"memory_limit": LIMIT, **options})


@pytest.mark.parametrize(
    ("blocks", "problem"),
    [
        ([([0], [1]), ([0], [1], [2])], "3 arrays behind edge 1: expected sources and targets"),
        ([([0, 1], [1])], "as many of the ones"),
        ([(["a"], ["b"])], "are integers"),
        ([([0], [1]), ([0, -3], [1, 1])], "edge 2: source -3 is not a vertex"),
        ([([0], [1], [1.0]), ([0, 2], [1, 1], [1, np.nan])], "edge 2: weight is nan"),
    ],
)
def test_bad_blocks(tmp_path, blocks, problem):
    """Blocks that are no edges are refused with the number of the edge, counted over all."""
    (tmp_path / "a.bfg").write_bytes(b"before")
    with pytest.raises(bf.GraphError, match=problem):
        bf.convert(blocks, tmp_path / "a.bfg", memory_limit=LIMIT)
    assert (tmp_path / "a.bfg").read_bytes() == b"before"
    assert len(list(tmp_path.iterdir())) == 1


def endless():
    """Yield blocks until somebody stops."""
    for block in itertools.count():
        yield np.arange(1000) + block, np.arange(1000)


def test_time_limit(tmp_path):
    """A limit that is over while blocks are read ends the call; nothing is left."""
    with pytest.raises(bf.TimeLimitError):
        bf.convert(endless(), tmp_path / "a.bfg", memory_limit=LIMIT, time_limit=0.2)
    assert not list(tmp_path.iterdir())


STOPPED = """
import signal
import sys
import broadfront as bf
from test_convert import endless

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs tests may ignore it
print("ready", flush=True)
bf.convert(endless(), sys.argv[1] + "/out.bfg", memory_limit=1 << 33)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent as POSIX does")
def test_ctrl_c(tmp_path):
    """An interrupt while blocks are read ends the process at once, and leaves no file."""
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(tmp_path)], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE, cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    with process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are POSIX's")
def test_a_disk_that_fills_up(tmp_path):
    """A file that cannot grow ends the call; the target is as it was, and no file is left."""
    import resource

    (tmp_path / "a.bfg").write_bytes(b"before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (1000, 17_000, 40_000):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            with pytest.raises(OSError, match="large"):
                bf.convert(itertools.islice(endless(), 10), tmp_path / "a.bfg", memory_limit=LIMIT)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [path.name for path in tmp_path.iterdir()] == ["a.bfg"]
        assert (tmp_path / "a.bfg").read_bytes() == b"before"
    bf.convert(itertools.islice(endless(), 10), tmp_path / "a.bfg", memory_limit=LIMIT)
    assert bf.read(tmp_path / "a.bfg").num_vertices == 1009


def test_the_command(tmp_path, capsys):
    """From the shell."""
    (tmp_path / "graph.el").write_text("0 1\n1 2\n1 2\n")
    words = ["convert", str(tmp_path / "graph.el"), str(tmp_path / "graph.bfg"), "--undirected"]
    assert main([*words, "--memory-limit", "32G", "--json", "--quiet"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["num_edges"] == 2
    assert told["origin"]["duplicates"] == 1
    assert main([*words, "--memory-limit", "32G", "--quiet"]) == 0
    assert "3 edges, 1 duplicates merged" in capsys.readouterr().out
    assert main([*words, "--memory-limit", "1M", "--quiet"]) == 1
    assert "memory_limit=1,048,576 is not enough" in capsys.readouterr().err

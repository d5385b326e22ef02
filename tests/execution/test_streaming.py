"""Graphs in a mapped file that do not fit in memory_limit: the same bits, in less memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import broadfront as bf
import zoo
from broadfront import residence
from broadfront.backends.cpu.memory import need, streaming
from broadfront.residence import guarding

pytestmark = pytest.mark.skipif(not guarding(), reason="this system tells nothing of its memory")

GENEROUS = 1 << 30


@pytest.fixture
def streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stream every mapped graph, and let go of all of it at every look."""
    monkeypatch.setattr(streaming, "ALWAYS", True)
    monkeypatch.setattr(need, "LEAST_OF_ARCS", 1)
    monkeypatch.setattr(need, "LEAST_OF_A_THREAD", 1)
    monkeypatch.setattr(residence, "PART", 1 << 30)
    monkeypatch.setattr(residence, "INTERVAL", 0)


def centre(graph: bf.Graph) -> object:
    """Return the label of a vertex of the largest degree."""
    return graph.labels[int(np.argmax(graph.degrees))]


CALLS: dict[str, Callable[..., object]] = {
    "bfs": lambda graph, **how: bf.bfs(graph, centre(graph), **how).depth,
    "sssp": lambda graph, **how: bf.sssp(graph, centre(graph), **how).distance,
    "components": lambda graph, **how: bf.connected_components(graph, **how).component,
    "pagerank": lambda graph, **how: bf.pagerank(graph, **how).rank,
    "betweenness": lambda graph, **how: (
        bf.betweenness(graph, sources=[centre(graph)], **how).centrality
    ),
    "triangles": lambda graph, **how: bf.triangles(graph, **how).per_vertex,
}


@cache
def large(spec: str) -> bf.Graph:
    """Return a graph that is worth two threads, tiles and a pull."""
    return bf.generate(spec)


@pytest.mark.parametrize("spec", ["kron:14:weights=1-9", "rmat:14:8:directed=yes:weights=1-9",
                                  "grid:300x100:weights=1-9"])  # fmt: skip
@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits(tmp_path: Path, streamed: None, name: str, spec: str) -> None:
    graph = large(spec)
    graph.save(tmp_path / "graph.bfg")
    mapped = bf.read(tmp_path / "graph.bfg")
    expected = CALLS[name](graph)
    np.testing.assert_array_equal(CALLS[name](mapped, memory_limit=GENEROUS), expected)
    np.testing.assert_array_equal(CALLS[name](mapped, memory_limit=GENEROUS), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.bfg"]


@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=8, deadline=None)
@given(animal=zoo.edges())
def test_any_graph(tmp_path_factory: pytest.TempPathFactory, name: str, animal: zoo.Animal) -> None:
    graph = animal.graph()
    path = tmp_path_factory.mktemp("any") / "graph.bfg"
    graph.save(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "ALWAYS", True)
        patch.setattr(need, "LEAST_OF_ARCS", 1)
        patch.setattr(need, "LEAST_OF_A_THREAD", 1)
        patch.setattr(residence, "PART", 1 << 30)
        answer = CALLS[name](bf.read(path), memory_limit=GENEROUS)
    np.testing.assert_array_equal(answer, CALLS[name](graph))


@pytest.mark.parametrize("name", CALLS)
def test_the_same_bits_from_whole_pages(
    tmp_path: Path, streamed: None, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "takes_whole_pages", lambda *_: True)
    graph = large("kron:14:weights=1-9")
    graph.save(tmp_path / "graph.bfg")
    answer = CALLS[name](bf.read(tmp_path / "graph.bfg"), memory_limit=GENEROUS)
    np.testing.assert_array_equal(answer, CALLS[name](graph))


def through_edge(source, neighbor, edge, state):
    """Propose a path as wide as its narrowest edge."""
    return min(state.width[source], state.weight[edge])


WIDEST = bf.Program(
    fields={"width": bf.Field(np.float64, combine="max")},
    step=[bf.Advance(through_edge, into="width")],
    name="widest",
)


def test_a_program_of_ones_own(tmp_path: Path, streamed: None) -> None:
    graph = large("kron:14:weights=1-9")
    graph.save(tmp_path / "graph.bfg")
    start = {"frontier": [1], "init": {"width": {1: np.inf}}}
    answer = bf.run(WIDEST, bf.read(tmp_path / "graph.bfg"), memory_limit=GENEROUS, **start)
    np.testing.assert_array_equal(answer["width"], bf.run(WIDEST, graph, **start)["width"])


def test_what_is_in_memory_is_told_to_be_saved() -> None:
    graph = bf.generate("uniform:12:4096")
    with pytest.raises(bf.DeviceMemoryError, match=r"graph.save\('graph.bfg'\) and bf.read.* fits"):
        bf.bfs(graph, 0, memory_limit=24 << 20)


def test_a_directed_graph_is_refused_by_triangles(tmp_path: Path) -> None:
    large("rmat:14:8:directed=yes:weights=1-9").save(tmp_path / "graph.bfg")
    with pytest.raises(bf.DeviceMemoryError, match="directed=False, memory_limit=.* on the disk"):
        bf.triangles(bf.read(tmp_path / "graph.bfg"), memory_limit=1 << 20)


def test_vertices_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    bf.generate("path:3000000").save(tmp_path / "graph.bfg")
    with pytest.raises(bf.DeviceMemoryError, match="memory_limit is 20,000,000"):
        bf.bfs(bf.read(tmp_path / "graph.bfg"), 0, memory_limit=20_000_000)


LIMITED = """
import sys
import broadfront as bf

def told(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(name))

path, limit = sys.argv[1], int(sys.argv[2])
bf.bfs(bf.generate("kron:14"), 0)
bf.pagerank(bf.generate("kron:14"))
bf.connected_components(bf.generate("kron:14"))
for call in (lambda graph: bf.bfs(graph, 1, memory_limit=limit),
             lambda graph: bf.pagerank(graph, max_iterations=5, memory_limit=limit),
             lambda graph: bf.connected_components(graph, memory_limit=limit)):
    graph = bf.read(path)
    open("/proc/self/clear_refs", "w").write("5")
    before = told("VmRSS")
    call(graph)
    print(told("VmHWM") - before, graph.row_bytes)
"""


def test_memory_stays_under_the_limit(tmp_path: Path) -> None:
    """Resident memory grows by less than the limit, which is a quarter of what the edges take.

    Rows are long, so that a vertex touches pages that no other does.
    """
    limit = 48 << 20
    bf.generate("uniform:16:400").save(tmp_path / "graph.bfg")
    told = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "graph.bfg"), str(limit)],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    grown, sizes = list(map(int, told[::2])), list(map(int, told[1::2]))
    assert min(sizes) > 4 * limit
    assert len(grown) == 3
    assert max(grown) < limit

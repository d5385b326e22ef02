"""Searches from each of many sources at once: every row is the search from that source alone."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

import broadfront as bf
from broadfront.algorithms.bfs import BFS
from broadfront.backends.cpu.memory.need import Case
from broadfront.devices.profile import MINIMAL
from zoo import Animal, edges

THREADS = [1, 2, 4]


@pytest.mark.parametrize("threads", THREADS)
def test_zoo(animal: Animal, threads: int) -> None:
    graph = animal.graph()
    sources = [vertex % graph.num_vertices for vertex in (3, 0, 3, 1)] if graph.num_vertices else []
    check(graph, sources, threads)


@settings(max_examples=40)
@given(edges(), st.data())
def test_any_graph(animal: Animal, data: st.DataObject) -> None:
    vertex = st.integers(0, animal.num_vertices - 1)
    sources = data.draw(st.lists(vertex, max_size=9))
    for threads in THREADS:
        check(animal.graph(), sources, threads)


def check(graph: bf.Graph, sources: list[int], threads: int) -> None:
    found = bf.bfs(graph, sources, each=True, threads=threads)
    ways = bf.sssp(graph, sources, each=True, parents=True, threads=threads)
    assert found.depth.shape == found.parent.shape == (len(sources), graph.num_vertices)
    assert ways.distance.shape == ways.reached.shape == (len(sources), graph.num_vertices)
    assert found.sources.tolist() == sources
    found.verify()
    ways.verify()
    for row, source in enumerate(sources):
        np.testing.assert_array_equal(found.depth[row], bf.bfs(graph, source, threads=1).depth)
        alone = bf.sssp(graph, source, threads=1)
        np.testing.assert_array_equal(ways.distance[row], alone.distance)
        np.testing.assert_array_equal(ways[row].reached, alone.reached)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("spec", ["kron:10", "grid:40x30", "rmat:9:directed=yes", "star:300"])
def test_larger_graphs(spec: str, threads: int) -> None:
    graph = bf.generate(spec, weights=(1, 63))
    sources = np.random.default_rng(1).integers(0, graph.num_vertices, 40)
    ways = bf.sssp(graph, sources.tolist(), each=True, threads=threads)
    distance = dijkstra(graph.to_scipy().astype(float), indices=sources)
    np.testing.assert_array_equal(np.where(ways.reached, ways.distance, np.inf), distance)
    hops = dijkstra(graph.to_scipy().astype(float), indices=sources, unweighted=True)
    depth = bf.bfs(graph, sources.tolist(), each=True, threads=threads).depth
    np.testing.assert_array_equal(np.where(depth < 0, np.inf, depth), hops)


def test_few_sources_on_a_large_graph_run_one_after_the_other_on_all_threads() -> None:
    graph = bf.generate("kron:12", weights=(1, 63))
    found = bf.bfs(graph, [7, 8], each=True, threads=4, deterministic=True)
    found.verify()
    assert found.report.kernel_calls == 4
    np.testing.assert_array_equal(found.parent[1], bf.bfs(graph, 8, deterministic=True).parent)
    bf.sssp(graph, [7, 8], each=True, threads=4, parents=True).verify()


@pytest.mark.parametrize("named", ["cpu", 1, ["cpu"], "cpu*2"])
def test_one_device_that_is_named_runs_many_sources_at_once(named: object) -> None:
    graph = bf.generate("grid:30x30:0")
    sources = list(range(8))
    found = bf.bfs(graph, sources, each=True, threads=2, devices=named)  # type: ignore[arg-type]
    assert found.report.kernel_calls == 2
    assert found.report.devices == ()
    plain = bf.bfs(graph, sources, each=True, threads=2)
    np.testing.assert_array_equal(found.depth, plain.depth)


def test_on_several_devices_sources_run_one_after_the_other() -> None:
    graph = bf.generate("grid:30x30:0")
    found = bf.bfs(graph, [0, 5, 9], each=True, threads=1, devices=2)
    assert found.report.kernel_calls == 3 * 2
    assert len(found.report.devices) == 2


def test_a_memory_limit_has_fewer_sources_under_way() -> None:
    graph = bf.generate("grid:30x30:0")
    sources = list(range(8))
    plain = bf.bfs(graph, sources, each=True, threads=4)
    case = Case(BFS.on(graph.targets.dtype), graph, 1, 1, MINIMAL)
    least, most = case.span()
    each = most - graph.nbytes
    for workers in (4, 3, 1):
        limit = graph.nbytes + workers * each
        found = bf.bfs(graph, sources, each=True, threads=4, memory_limit=limit)
        assert found.report.kernel_calls == workers
        np.testing.assert_array_equal(found.depth, plain.depth)
    assert bf.bfs(graph, sources, each=True, threads=4, memory_limit=1 << 40).report.threads == 4
    for each_of_them in (True, False):
        with pytest.raises(bf.DeviceMemoryError, match="memory_limit is") as caught:
            bf.bfs(graph, [0], each=each_of_them, threads=1, memory_limit=least - 1)
        assert caught.value.wanted == least


def test_a_queue_that_outgrows_the_limit_is_the_error_of_a_run() -> None:
    graph = bf.generate("uniform:10:8")
    case = Case(BFS.on(graph.targets.dtype), graph, 1, 1, MINIMAL)
    limit = case.span()[0] + 100
    wanted = []
    for each in (True, False):
        with pytest.raises(bf.DeviceMemoryError, match="cpu:0 needs .* bytes or more") as caught:
            bf.bfs(graph, [0], each=each, threads=1, memory_limit=limit)
        wanted.append(caught.value.wanted)
    assert wanted[0] == wanted[1] > limit
    bf.bfs(graph, [0], each=True, threads=1, memory_limit=1 << 30).verify()


def test_the_record_is_that_of_all_in_the_order_of_sources() -> None:
    graph = bf.generate("grid:30x30:0")
    sources = [0, 899, 450, 17, 3]
    alone = [bf.bfs(graph, source, threads=1).report for source in sources]
    for threads in THREADS:
        report = bf.bfs(graph, sources, each=True, threads=threads).report
        assert report.threads == threads
        assert report.iterations == sum(one.iterations for one in alone)
        for name in ("frontier", "edges", "pulled"):
            whole = np.concatenate([getattr(one, name) for one in alone])
            np.testing.assert_array_equal(getattr(report, name), whole)


def test_the_record_of_many_iterations_is_exact() -> None:
    """Rows of the first 8,192 iterations of a thread are in the order of sources."""
    graph = bf.generate("path:1000")
    sources = [0] * 50 + [500] * 50
    for threads in (1, 2):
        report = bf.bfs(graph, sources, each=True, threads=threads).report
        assert report.iterations == report.spans.sum()
        assert len(report.spans) < report.iterations
        assert report.edges_visited == 100 * graph.num_arcs
        assert report.frontier.sum() == 100 * graph.num_vertices
        assert report.frontier[:1001].tolist() == [1] * 1001


def test_rows_and_tables() -> None:
    graph = bf.from_edges(["oslo", "bern"], ["bern", "rome"], weight=[2, 1])
    found = bf.bfs(graph, ["bern", "oslo"], each=True)
    assert len(found) == 2
    assert found[1].path_to("rome") == found[-1].path_to("rome") == ["oslo", "bern", "rome"]
    assert [one.depth.tolist() for one in found] == [[0, -1, 1], [1, 0, 2]]
    frame = found.to_pandas()
    assert list(frame.columns) == ["source", "vertex", "depth", "parent"]
    assert frame["source"].tolist() == ["bern"] * 3 + ["oslo"] * 3
    assert frame.set_index(["source", "vertex"]).loc[("oslo", "rome"), "depth"] == 2
    ways = bf.sssp(graph, ["bern", "oslo"], each=True)
    assert ways[1].path_to("rome") == ["oslo", "bern", "rome"]
    assert "from each of 2 sources 2 vertices reached on average, the furthest at 3" in repr(ways)
    for refused in (lambda: found.path_to("rome"), lambda: found[1][0], lambda: ways.path_to(1)):
        with pytest.raises(bf.OptionError):
            refused()
    with pytest.raises(IndexError):
        found[2]
    with pytest.raises(bf.VertexError, match="nowhere"):
        bf.bfs(graph, ["oslo", "nowhere"], each=True)


def test_each_with_a_target() -> None:
    graph = bf.generate("path:100", weights=(1, 9))
    found = bf.bfs(graph, [0, 60], each=True, target=50)
    assert (found.depth >= 0).sum(axis=1).tolist() == [51, 21]
    ways = bf.sssp(graph, [0, 60], each=True, target=50)
    for row, source in enumerate((0, 60)):
        alone = bf.sssp(graph, source, target=50)
        np.testing.assert_array_equal(ways.distance[row], alone.distance)
        assert ways[row].path_to(50) == alone.path_to(50)


def test_a_broken_row_is_caught_and_named() -> None:
    found = bf.bfs(bf.generate("kron:8"), [5, 6], each=True)
    found.depth[1][np.argmax(found.depth[1])] += 1
    with pytest.raises(bf.VerificationError, match="from 6: "):
        found.verify()


def test_the_time_limit_is_for_all_together() -> None:
    graph = bf.generate("grid:100x100", weights=(1, 9))
    sources = list(range(4000))
    bf.sssp(graph, sources[:8], each=True, threads=2)
    began = time.perf_counter()
    with pytest.raises(bf.TimeLimitError, match=r"time_limit=0\.2 "):
        bf.sssp(graph, sources, each=True, threads=2, time_limit=0.2)
    assert time.perf_counter() - began < 5
    bf.sssp(graph, sources[:8], each=True, threads=2).verify()


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("threads", THREADS)
def test_ctrl_c_stops_all(threads: int) -> None:
    graph = bf.generate("grid:100x100", weights=(1, 9))
    bf.sssp(graph, [0, 1], each=True, threads=threads)
    press = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    with pytest.raises(KeyboardInterrupt):
        bf.sssp(graph, [7] * 20_000, each=True, threads=threads, time_limit=60)
    press.join()
    bf.sssp(graph, [0, 1, 2, 3], each=True, threads=threads).verify()


def test_progress_counts_sources() -> None:
    told: list[tuple[str, int, int]] = []
    graph = bf.generate("grid:100x100", weights=(1, 9))
    with pytest.raises(bf.TimeLimitError):
        bf.sssp(graph, [7] * 20_000, each=True, time_limit=0.5,
                progress=lambda *what: told.append(what))  # fmt: skip
    assert told
    assert told[-1][1] >= told[0][1] > 0
    assert told[0][2] == 20_000

"""What a run holds is what it counts, and no more than `memory_limit`: by measured allocations.

Large pages and memory that compiled code asks for are not seen by Python's own count of
allocations: the first are turned off here, and the second added.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import pages
from broadfront.backends.cpu.device import workspace
from broadfront.backends.cpu.device.growing import ACCOUNT_WORDS, LIMIT
from broadfront.backends.cpu.memory.need import allow, array_bytes, graph_bytes
from broadfront.backends.cpu.operators import tiles
from broadfront.partition.kept import kept_with

BESIDE = 1 << 18
"""Bytes of Python objects, and of small arrays that no device has."""

UNDIRECTED = bf.generate("kron:14:16:simple=yes")
ONE_WAY = UNDIRECTED.sources() < UNDIRECTED.targets
DIRECTED = bf.from_edges(
    UNDIRECTED.sources()[ONE_WAY], UNDIRECTED.targets[ONE_WAY], num_vertices=1 << 14
)
GRAPHS = {"undirected": UNDIRECTED, "directed": DIRECTED}

PRIMITIVES: dict[str, Callable[..., Any]] = {
    "bfs": lambda graph, **how: bf.bfs(graph, 0, **how),
    "sssp": lambda graph, **how: bf.sssp(graph, 0, **how),
    "components": bf.connected_components,
    "pagerank": bf.pagerank,
    "betweenness": lambda graph, **how: bf.betweenness(graph, sources=[0, 1], **how),
    "triangles": bf.triangles,
}


@pytest.fixture(autouse=True, scope="module")
def _older_objects() -> Iterator[None]:
    """Leave what was there before out of collections: the compiler has left millions."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def each_counts(graph: bf.Graph, result: Any) -> list[int]:
    """Return the bytes of each device, as the report has them."""
    report = result.report
    if report.devices:
        return [device.bytes for device in report.devices]
    return [held_graph(graph).nbytes + report.peak_bytes]


def held_graph(graph: bf.Graph) -> bf.Graph:
    """Return the graph that ran: the undirected view where there is one."""
    view: bf.Graph = graph._layouts.get("undirected view", (graph,))[0]
    return view


def fresh(graph: bf.Graph) -> None:
    graph.forget()
    workspace.release()
    gc.collect()


def measured(graph: bf.Graph, call: Callable[[], Any]) -> tuple[Any, int]:
    """Return a result, and what is held for it beyond the graph as it was and what it answers."""
    fresh(graph)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    result = call()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    shelf = workspace._shelf
    held = after - before + sum(space.growing_bytes for space in shelf)
    held -= sum(array.nbytes for space in shelf for array in space._sparse.values())
    held -= sum(array.nbytes for array in vars(result).values() if isinstance(array, np.ndarray))
    return result, held


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_what_is_held_is_counted(
    name: str, devices: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "LARGE_PAGE", 1 << 62)
    monkeypatch.setattr(pages, "WORTH_KEEPING", 1 << 62)
    graph, primitive = GRAPHS[kind], PRIMITIVES[name]
    how: dict[str, Any] = {"devices": devices, "threads": 1}
    primitive(graph, **how)  # compiled
    result, held = measured(graph, lambda: primitive(graph, **how))
    counts = each_counts(graph, result)
    rows = graph.offsets.nbytes + graph.targets.nbytes
    view = held_graph(graph)
    if devices == 1:
        held += rows if view is graph else 0
    else:  # the graph that is split is not a device's, nor is what was built from it
        held -= graph.nbytes - rows + (0 if view is graph else view.nbytes)
    assert held <= sum(counts) + BESIDE


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_run_fits_its_limit_or_is_refused(name: str, devices: int, kind: str) -> None:
    graph, primitive = GRAPHS[kind], PRIMITIVES[name]
    how: dict[str, Any] = {"devices": devices, "threads": 1}
    fresh(graph)
    enough = max(each_counts(graph, primitive(graph, **how)))
    refused = 0
    for share in (1.0, 0.9, 0.75):
        limit = int(share * enough)
        fresh(graph)
        try:
            result = primitive(graph, **how, memory_limit=limit)
        except bf.DeviceMemoryError as error:
            refused += 1
            assert error.wanted > limit  # noqa: PT017
            assert share < 1.0
        else:
            assert max(each_counts(graph, result)) <= limit
    assert refused > 0


def test_nothing_is_built_for_a_run_that_is_refused() -> None:
    for devices in (1, 4):
        fresh(DIRECTED)
        used = max(each_counts(DIRECTED, bf.pagerank(DIRECTED, devices=devices, threads=1)))
        fresh(DIRECTED)
        with pytest.raises(bf.DeviceMemoryError):
            bf.pagerank(DIRECTED, devices=devices, threads=1, memory_limit=int(0.9 * used))
        assert not DIRECTED.keeps("tiles")
        for one in kept_with(DIRECTED)._made.values():
            assert one._parts == {}
            assert one._layouts == {}


def test_a_run_with_a_limit_holds_nothing_of_earlier_ones() -> None:
    fresh(UNDIRECTED)
    bf.triangles(UNDIRECTED, threads=2)
    bf.bfs(UNDIRECTED, 0, threads=1, memory_limit=1 << 30)
    space = workspace._shelf[-1]
    assert not any("list" in name for name in space._arrays)
    assert space.nbytes == space.used_bytes


@pytest.mark.parametrize("filled_up", [False, True])
def test_outlined_tiles(filled_up: bool) -> None:
    for graph in (UNDIRECTED, DIRECTED):
        arcs = graph.num_arcs
        outline = tiles.outlined(graph.num_vertices, arcs, arcs, filled_up=filled_up)
        there = tiles.tiles_of(graph)
        assert outline[3:] == there[3:]
        assert len(outline.starts) == len(there.starts)
        assert len(outline.arcs) == len(there.arcs)
        assert (len(outline.pairs) >= len(there.pairs)) is filled_up
        assert abs(array_bytes(outline) - array_bytes(there)) < 0.2 * array_bytes(there)


def test_incoming_arcs_are_counted_before_they_are_built() -> None:
    fresh(DIRECTED)
    before = graph_bytes(DIRECTED, True)
    assert before > graph_bytes(DIRECTED, False) == DIRECTED.nbytes
    _ = DIRECTED.transpose
    assert graph_bytes(DIRECTED, True) == DIRECTED.nbytes == before


def test_a_limit_that_leaves_nothing_is_a_limit() -> None:
    account = np.zeros(ACCOUNT_WORDS, np.int64)
    allow(SimpleNamespace(), account, 1000, 1000)  # type: ignore[arg-type]
    assert account[LIMIT] == 1


def test_where_vertices_live_needs_no_other_parts() -> None:
    fresh(DIRECTED)
    partition = bf.split(DIRECTED, 3)
    parts = partition.parts(looks_back=True)
    home = partition.home()
    assert len(partition._parts) == 1
    for part in parts:
        assert np.array_equal(home[part.owned_ids], np.arange(part.owned))
    other = bf.Partition(DIRECTED, partition.owner, 3, "other")
    assert np.array_equal(other.home(), home)

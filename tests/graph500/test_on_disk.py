"""A list that is kept on the disk gives the graph, the index and the counts of one in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import broadfront as bf
from broadfront.graph.external import room
from broadfront.graph.external.scratch import Scratch
from broadfront.graph.external.sort import OnDisk
from broadfront.graph500 import (
    Benchmark,
    EdgeList,
    Settings,
    draw_edges,
    implementation,
    index_edges,
)
from broadfront.graph500.flow import Input
from broadfront.graph500.on_disk import graph_on_disk
from broadfront.residence import guarding
from graph500.lists import LISTS, copied, graph_of

pytestmark = pytest.mark.skipif(not guarding(), reason="this system tells nothing of its memory")

LIMIT = 1 << 40
KRON = draw_edges(9, 8, seed=2, weighted=True)


@pytest.fixture(params=[700, 1 << 27], ids=["small blocks", "one block"])
def at_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks have so many tuples at most."""
    monkeypatch.setattr(room, "MOST_AT_ONCE", request.param)


def same_arrays(one: object, other: object, *names: str) -> None:
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@pytest.mark.parametrize("edges", [KRON, LISTS["loops and duplicates"]], ids=["kron", "loops"])
def test_the_same_graph_and_index(at_once: None, edges: EdgeList) -> None:
    graph, expected = graph_on_disk(edges, LIMIT), graph_of(edges)
    assert graph.mapped
    assert graph.num_self_loops == expected.num_self_loops
    same_arrays(graph, expected, "offsets", "targets", "weights")
    used = copied(edges)
    index = index_edges(used, LIMIT)
    assert len(used) == 0
    same_arrays(index, index_edges(copied(edges)), "offsets", "ranks", "weights", "rank_of")


def test_edges_are_drawn_into_files() -> None:
    settings = Settings(9, 8, seed=2, kernels=("bfs", "sssp"), memory_limit=LIMIT)
    given = Input(settings)
    same_arrays(given.edges, KRON, "source", "target", "weight")
    assert given.roots == Input(replace(settings, memory_limit=None)).roots
    assert not given.edges.source.flags.owndata


@pytest.mark.parametrize("validate", [True, False])
def test_the_flow_counts_the_same(validate: bool) -> None:
    asked = Settings(7, 8, roots=3, seed=1, kernels=("bfs", "sssp"), validate=validate)
    lines: list[str] = []
    own = implementation("broadfront", memory_limit=LIMIT)
    found = Benchmark(replace(asked, memory_limit=LIMIT), own, lines.append).run()
    expected = Benchmark(asked, implementation("broadfront"), lines.append).run()
    for kernel in ("bfs", "sssp"):
        edges = [(search.root, search.edges) for search in found.searches[kernel]]
        assert edges == [(search.root, search.edges) for search in expected.searches[kernel]]


def test_a_limit_that_nothing_fits_in_is_told() -> None:
    settings = Settings(7, memory_limit=1 << 20)
    benchmark = Benchmark(settings, implementation("broadfront", memory_limit=1 << 20), print)
    with pytest.raises(bf.OutOfMemoryError, match="is not enough to build this graph"):
        benchmark.run()


def test_numbers_that_must_be_wider_are_written_anew(tmp_path: Path) -> None:
    with Scratch(tmp_path) as scratch:
        scratch.append(np.arange(5, dtype=np.int32))
        scratch.append(np.arange(99, dtype=np.int32))
        mapped = OnDisk(scratch, 5, np.int32, np.int64).mapped()
    assert mapped.dtype == np.int64
    assert mapped.tolist() == [0, 1, 2, 3, 4]
    assert list(tmp_path.iterdir()) == []

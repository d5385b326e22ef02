"""Operators applied by hand do what a program does."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront.algorithms.bfs import FIELDS, HOP, one_hop_further, unreached


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("direction", ["push", "pull", None])
def test_a_search_by_hand(threads: int, direction: str | None) -> None:
    graph = bf.generate("kron:9")
    search = bf.explore(graph, FIELDS, threads=threads)
    search["depth"][5] = 0
    search["parent"][5] = 5
    frontier = np.array([5])
    depth = 0
    while len(frontier):
        assert set(search["depth"][frontier]) == {depth}
        frontier = search.advance(
            frontier, one_hop_further, into="depth", cond=unreached, record_source="parent",
            direction=direction,
        )  # fmt: skip
        depth += 1
    expected = bf.bfs(graph, 5)
    np.testing.assert_array_equal(search["depth"].view(np.int32), expected.depth)
    bf.verify.verify_bfs(graph, [5], expected.depth, search["parent"])
    assert HOP.functor is one_hop_further


def is_even(vertex, state):  # type: ignore[no-untyped-def]
    return vertex % 2 == 0


def mark(vertex, state):  # type: ignore[no-untyped-def]
    state.marked[vertex] = 1


def test_filter_and_compute() -> None:
    search = bf.explore(bf.generate("path:10"), {"marked": bf.Field(np.int8)})
    frontier = search.filter([1, 2, 3, 4, 9], is_even)
    assert frontier.tolist() == [2, 4]
    search.compute(mark, frontier)
    assert np.flatnonzero(search["marked"]).tolist() == [2, 4]
    search.compute(mark)
    assert search["marked"].sum() == 10
    assert search.record is not None

"""Answers broken in each of the ways that the rules name are rejected, by that rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from broadfront.errors import VerificationError
from broadfront.graph500 import (
    IMPLEMENTATIONS,
    EdgeList,
    check_distances,
    check_levels,
    index,
    index_edges,
)
from graph500.lists import KRON, copied, list_of
from zoo import Animal, edges

CSR = IMPLEMENTATIONS["csr"]

# 0 - 1 - 2 - 3 - 4, with the short cut 0 - 2, the loop 1 - 1, a pair 5 - 6 elsewhere, and 7 alone
SMALL = EdgeList(
    np.array([0, 1, 2, 3, 0, 1, 5, 2], np.int32), np.array([1, 2, 3, 4, 2, 1, 6, 1], np.int32), 8,
    np.array([0.25, 0.25, 0.5, 0.0, 0.75, 0.125, 0.5, 0.5], np.float32),
)  # fmt: skip
PARENT = [0, 0, 0, 2, 3, -1, -1, -1]
DEPTH = [0, 1, 1, 2, 3, -1, -1, -1]
SHORTEST = [0, 0, 1, 2, 3, -1, -1, -1]
INF = np.inf
DISTANCE = [0, 0.25, 0.5, 1.0, 1.0, INF, INF, INF]


def levels(parent: list[int], depth: list[int]) -> int:
    found = np.array(parent, np.int32), np.array(depth, np.int32)
    return check_levels(index_edges(copied(SMALL)), 0, *found)


def distances(parent: list[int], distance: list[float]) -> int:
    found = np.array(parent, np.int32), np.array(distance, np.float32)
    return check_distances(index_edges(copied(SMALL)), 0, *found)


def test_right_answers_count_tuples_with_duplicates_and_loops() -> None:
    assert levels(PARENT, DEPTH) == 7
    assert distances(SHORTEST, DISTANCE) == 7


@pytest.mark.parametrize(
    ("rule", "parent", "depth"),
    [
        pytest.param(1, [1, 0, 0, 2, 3, -1, -1, -1], DEPTH, id="root has another parent"),
        pytest.param(1, PARENT, [1, 1, 1, 2, 3, -1, -1, -1], id="root is not at 0"),
        pytest.param(1, PARENT, [0, 0, 1, 2, 3, -1, -1, -1], id="another is at 0"),
        pytest.param(1, [0, 0, 0, 4, 3, -1, -1, -1], DEPTH, id="cycle of two"),
        pytest.param(1, [0, 0, 0, 3, 3, -1, -1, -1], DEPTH, id="its own parent"),
        pytest.param(1, [0, 0, 0, 2, -1, -1, -1, -1], DEPTH, id="reached without a parent"),
        pytest.param(1, [0, 0, 0, 2, 3, 6, -1, -1], DEPTH, id="parent of what is not reached"),
        pytest.param(1, [0, 0, 0, 2, 9, -1, -1, -1], DEPTH, id="parent is no vertex"),
        pytest.param(1, [0, 0, 0, 2, 3, -2, -1, -1], DEPTH, id="parent below -1"),
        pytest.param(1, [0, 0, 0, 2, 3, 9, -1, -1], DEPTH, id="no vertex of unreached"),
        pytest.param(1, PARENT, [0, 1, 1, 2, 3, -2, -1, -1], id="depth below -1"),
        pytest.param(1, [0, 0, 0, 2, 3, 6, 5, -1], [0, 1, 1, 2, 3, 5, 4, -1], id="cycle apart"),
        pytest.param(2, PARENT, [0, 1, 1, 2, 2, -1, -1, -1], id="level as that of the parent"),
        pytest.param(2, PARENT, [0, 1, 1, 2, 4, -1, -1, -1], id="level two below the parent"),
        pytest.param(3, [0, 0, 1, 2, 3, -1, -1, -1], [0, 1, 2, 3, 4, -1, -1, -1], id="short cut"),
        pytest.param(4, [0, 0, 0, 2, -1, -1, -1, -1], [0, 1, 1, 2, -1, -1, -1, -1], id="end"),
        pytest.param(4, [0] + 7 * [-1], [0] + 7 * [-1], id="root alone"),
        pytest.param(5, [0, 0, 0, 1, 3, -1, -1, -1], DEPTH, id="no such edge"),
        pytest.param(5, [0, 0, 0, 2, 3, -1, -1, 2], [0, 1, 1, 2, 3, -1, -1, 2], id="isolated"),
    ],
)
def test_broken_searches(rule: int, parent: list[int], depth: list[int]) -> None:
    with pytest.raises(VerificationError, match=f"^rule {rule}: .* root 0"):
        levels(parent, depth)


@pytest.mark.parametrize(
    ("rule", "parent", "distance"),
    [
        pytest.param(1, SHORTEST, [0.5, 0.25, 0.5, 1, 1, INF, INF, INF], id="root is not at 0"),
        pytest.param(1, [0, 0, 1, 4, 3, -1, -1, -1], DISTANCE, id="cycle of weight zero"),
        pytest.param(1, [0, 0, 1, 2, -1, -1, -1, -1], DISTANCE, id="reached without a parent"),
        pytest.param(1, [0, 0, 1, 2, 3, 6, -1, -1], DISTANCE, id="parent of what is not reached"),
        pytest.param(2, SHORTEST, [0, 0.25, 0.5, 0.875, 0.875, INF, INF, INF], id="too near"),
        pytest.param(2, [0, 0, 0, 2, 3, -1, -1, -1], DISTANCE, id="parent by a longer edge"),
        pytest.param(1, SHORTEST, [0, 0.25, 0.5, np.nan, 1, INF, INF, INF], id="not a number"),
        pytest.param(
            3, [0, 0, 0, 2, 3, -1, -1, -1], [0, 0.25, 0.75, 1.25, 1.25, INF, INF, INF], id="longer"
        ),
        pytest.param(
            4, [0, 0, 1, 2, -1, -1, -1, -1], [0, 0.25, 0.5, 1, INF, INF, INF, INF], id="end"
        ),
        pytest.param(5, [0, 0, 1, 1, 3, -1, -1, -1], DISTANCE, id="no such edge"),
    ],
)
def test_broken_paths(rule: int, parent: list[int], distance: list[float]) -> None:
    with pytest.raises(VerificationError, match=f"^rule {rule}: .* root 0"):
        distances(parent, distance)


def test_levels_beyond_a_byte() -> None:
    path = EdgeList(np.arange(300, dtype=np.int32), np.arange(1, 301, dtype=np.int32), 301)
    tree = CSR.search(CSR.build(path), 0)
    rows = index_edges(copied(path))
    assert check_levels(rows, 0, *tree) == 300
    tree.depth[260:] -= 256
    with pytest.raises(VerificationError, match="rule"):
        check_levels(rows, 0, *tree)


@pytest.mark.parametrize("length", [0, 7, 9])
def test_answers_of_another_length(length: int) -> None:
    with pytest.raises(VerificationError, match="rule 1: .* shape"):
        levels([0] * length, [0] * length)


@given(animal=edges(), chance=st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_any_other_depth_or_reach_is_rejected(animal: Animal, chance: object) -> None:
    """Depths are exact: whichever one is changed, some rule is broken."""
    one = list_of(animal)
    parent, depth = CSR.search(CSR.build(one), 0)
    vertex = chance.randrange(one.num_vertices)  # type: ignore[attr-defined]
    depth[vertex] += chance.choice([-2, -1, 1, 2])  # type: ignore[attr-defined]
    with pytest.raises(VerificationError, match="rule"):
        check_levels(index_edges(one), 0, parent, depth)


@given(animal=edges(weighted=True))
@settings(max_examples=40, deadline=None)
def test_distances_of_scipy_are_accepted_with_their_tree(animal: Animal) -> None:
    """Weights are whole, so that float32 is exact, and from 1 on: SciPy has no edge of weight 0."""
    one = list_of(animal)
    one.weight = (one.weight % 16 + 1).round().astype(np.float32)  # type: ignore[operator]
    best: dict[tuple[int, int], float] = {}
    for tail, head, weight in zip(one.source, one.target, one.weight, strict=True):
        for ends in ((tail, head), (head, tail)):
            best[ends] = min(weight, best.get(ends, INF))
    ends = np.array(list(best), np.int32).reshape(-1, 2).T
    matrix = scipy.sparse.csr_array(
        (list(best.values()), tuple(ends)), shape=(one.num_vertices,) * 2
    )
    distance, before = scipy.sparse.csgraph.dijkstra(matrix, indices=0, return_predecessors=True)
    parent = np.where(before < 0, -1, before)
    parent[0] = 0
    index_of_list = index_edges(one)
    check_distances(index_of_list, 0, parent, distance.astype(np.float32))
    reached = np.flatnonzero(np.isfinite(distance))
    distance[reached[-1]] += 1
    with pytest.raises(VerificationError, match="rule"):
        check_distances(index_of_list, 0, parent, distance.astype(np.float32))


def test_a_tuple_lost_on_the_way_to_the_index_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., object] = index.rows_from

    def forgetful(columns: object, *given: object, **options: object) -> object:
        columns.target[0] ^= 1  # type: ignore[attr-defined]
        return real(columns, *given, **options)

    monkeypatch.setattr(index, "rows_from", forgetful)
    with pytest.raises(VerificationError, match="the index holds the edge list"):
        index_edges(copied(KRON))


def test_arrays_of_any_integer_dtype_are_taken_as_they_are() -> None:
    parent: NDArray[np.int64] = np.array(PARENT)
    assert check_levels(index_edges(copied(SMALL)), 0, parent, np.array(DEPTH)) == 7
    parent[3] += 1 << 32
    with pytest.raises(VerificationError, match="rule 1: .* parent has values that int32"):
        check_levels(index_edges(copied(SMALL)), 0, parent, np.array(DEPTH))


def test_parents_that_lead_out_of_the_graph_after_another_offence() -> None:
    parent, depth = np.array([0, 2, 9, -1], np.int32), np.array([0, 1, 2, -1], np.int32)
    two = EdgeList(np.array([0, 1], np.int32), np.array([1, 2], np.int32), 4)
    with pytest.raises(VerificationError, match="rule"):
        check_levels(index_edges(two), 0, parent, depth)

"""Frontiers as arrays: the same by NumPy where they are small and by kernels where they are not."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront.execution.ends import FEW, arcs_of, increasing, places_in


@pytest.mark.parametrize("size", [1, 64, 100, FEW - 1, FEW, FEW + 1, 3 * FEW + 17])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_positions_come_back_in_order_and_once(size: int, dtype: type) -> None:
    chance = np.random.default_rng(size)
    for count in (0, 1, size // 3, size):
        places = chance.integers(0, size, count).astype(dtype)
        found = increasing(places, size)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, np.unique(places))
        words = np.zeros(size // 64 + 2, np.uint64)
        for place in places.tolist():
            words[place >> 6] |= np.uint64(1 << (place & 63))
        np.testing.assert_array_equal(places_in(words, size), np.unique(places))


def test_arcs_that_leave_a_queue() -> None:
    graph = bf.generate("kron:14")
    for count in (0, 5, FEW, graph.num_vertices):
        queue = np.random.default_rng(3).permutation(graph.num_vertices)[:count]
        assert arcs_of(graph, queue.astype(np.int32)) == graph.degrees[queue].sum()

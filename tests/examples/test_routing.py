"""The listings of the Groute paper as examples, against NumPy and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import broadfront as bf
from filtering import filtered
from routing_router import sum_everywhere
from routing_worklist import UNREACHED, breadth_first


@pytest.mark.parametrize("devices", [1, 2, 4])
@pytest.mark.parametrize("length", [0, 10, 700_000])
def test_filtering(devices: int, length: int) -> None:
    values = np.random.default_rng(length).integers(0, 1000, length)
    found = filtered(values, lambda part: part < 300, devices)
    np.testing.assert_array_equal(found, values[values < 300])


@pytest.mark.parametrize("devices", [1, 2, 3, 8])
def test_sum_everywhere(devices: int) -> None:
    arrays = list(np.random.default_rng(0).integers(0, 9, (devices, 200_000)))
    sums = sum_everywhere(arrays)
    assert len(sums) == devices
    for found in sums.values():
        np.testing.assert_array_equal(found, np.sum(arrays, axis=0))


@pytest.mark.parametrize("devices", [1, 2, 3, 8])
@pytest.mark.parametrize("spec", ["grid:20x20", "kron:8", "path:100"])
def test_breadth_first(spec: str, devices: int) -> None:
    graph = bf.generate(spec)
    levels = breadth_first(graph, 1, devices)
    expected = nx.single_source_shortest_path_length(graph.to_networkx(), 1)
    assert {vertex: level for vertex, level in enumerate(levels) if level != UNREACHED} == expected

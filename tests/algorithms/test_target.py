"""`target=` means one thing: what is no further than the target is answered, and no more."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from problems import with_weights, without_weights
from zoo import ZOO

NAMES = ["one loop", "two ways", "islands", "star inwards", "path", "directed cycle", "diamond",
         "tail isolated"]  # fmt: skip


@pytest.mark.parametrize("devices", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_with_and_without_weights(name: str, devices: int) -> None:
    animal = without_weights(ZOO[name])
    graph = animal.graph()
    weighted = with_weights(animal._replace(weight=[1.0] * len(animal.source))).graph()
    source, last = 0, animal.num_vertices - 1
    whole = bf.bfs(graph, source).depth
    for target in {source, last // 2, last}:
        near = (whole >= 0) & ((whole <= whole[target]) | (whole[target] < 0))
        found = bf.bfs(graph, source, target=target, devices=devices)
        assert found.depth.tolist() == np.where(near, whole, -1).tolist()
        assert ((found.parent >= 0) == near).all()
        for kind in (graph, weighted):
            ways = bf.sssp(kind, source, target=target, parents=True, devices=devices)
            assert ways.reached.tolist() == near.tolist()
            assert ways.distance[near].tolist() == whole[near].tolist()
            assert ((ways.parent >= 0) == near).all()


@pytest.mark.parametrize("devices", [1, 2, 3])
def test_a_source_that_is_the_target_is_all_there_is(devices: int) -> None:
    graph = bf.generate("path:9")
    found = bf.bfs(graph, 4, target=4, devices=devices)
    assert np.flatnonzero(found.depth >= 0).tolist() == [4]
    assert found.report.edges_visited == 0
    assert found.path_to(4) == [4]
    several = bf.bfs(graph, [1, 4], target=4, deterministic=True, devices=devices)
    assert np.flatnonzero(several.depth >= 0).tolist() == [1, 4]
    assert np.flatnonzero(several.parent >= 0).tolist() == [1, 4]
    each = bf.bfs(graph, [1, 4], each=True, target=4, devices=devices)
    assert each.depth.tolist() == [[1, 0, 1, 2, 3, -1, -1, -1, -1], [-1] * 4 + [0] + [-1] * 4]

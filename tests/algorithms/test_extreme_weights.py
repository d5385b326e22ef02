"""Weights at the edge of what floats hold: answered right, or refused with the edge or vertex."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront.algorithms.distances import working_dtype

DEVICES = [1, 2]
RING = ([0, 0, 1, 2, 3], [1, 2, 2, 0, 0])


def path(*weights: float, dtype: type = np.float64) -> bf.Graph:
    count = len(weights)
    return bf.from_edges(range(count), range(1, count + 1), weight=np.array(weights, dtype))


def ring(*weights: float) -> bf.Graph:
    return bf.from_edges(*RING, weight=np.array(weights, np.float64))


@pytest.mark.parametrize("devices", DEVICES)
def test_no_path_takes_an_edge_of_infinite_weight(devices: int) -> None:
    graph = path(1, np.inf, 1)
    found = bf.sssp(graph, 0, parents=True, devices=devices)
    assert found.distance.tolist() == [0, 1, np.inf, np.inf]
    assert found.reached.tolist() == [True, True, False, False]
    assert found.parent.tolist() == [0, 0, -1, -1]
    found.verify()
    assert bf.sssp(graph, 0, devices=devices).path_to(2) == []
    each = bf.sssp(graph, [0, 2], each=True, parents=True, devices=devices)
    assert each.parent.tolist() == [[0, 0, -1, -1], [-1, -1, 2, 2]]
    each.verify()


def test_infinite_weights_beside_a_way_round() -> None:
    graph = bf.from_edges([0, 0, 1, 3], [2, 1, 2, 2], weight=[np.inf, 2.0, 3.0, 1.0])
    found = bf.sssp(graph, 0, parents=True)
    assert found.distance.tolist() == [0, 2, 5, np.inf]
    assert found.parent.tolist() == [0, 0, 1, -1]
    found.verify()


@pytest.mark.parametrize("devices", DEVICES)
def test_a_path_too_long_for_float64(devices: int) -> None:
    with pytest.raises(bf.GraphError, match=r"longer than float64 holds: 1 -> 2 weighs 1e\+308"):
        bf.sssp(path(1e308, 1e308, 1), 0, devices=devices)
    with pytest.raises(bf.GraphError, match="1 -> 2"):
        bf.sssp(path(1e308, 1e308, 1), [3, 0], each=True, devices=devices)
    with pytest.raises(bf.GraphError, match="1 -> 2"):
        bf.sssp(path(1e308, 1e308, 1), 0, target=3, devices=devices)
    near = bf.sssp(path(1e308, 1e308, 1), 0, target=1, devices=devices)
    assert near.reached.tolist() == [True, True, False, False]
    long = bf.sssp(path(1e308, 1e300, np.inf), 0, parents=True, devices=devices)
    assert long.distance.tolist() == [0, 1e308, 1e308 + 1e300, np.inf]
    long.verify()


def test_a_path_too_long_for_float32() -> None:
    with pytest.raises(bf.GraphError, match="longer than float32 holds: 1 -> 2 .* use float64"):
        bf.sssp(path(3e38, 3e38, dtype=np.float32), 0, parents=True)
    found = bf.sssp(path(3e38, 3e37, dtype=np.float32), 0, parents=True)
    assert found.reached.all()
    found.verify()


def test_betweenness_counts_along_finite_weights() -> None:
    with pytest.raises(bf.GraphError, match="finite weights; 0 -> 2 weighs inf"):
        bf.betweenness(ring(1, np.inf, 1, 1, 1), weighted=True)
    with pytest.raises(bf.GraphError, match="longer than float64 holds"):
        bf.betweenness(ring(1e308, 1e308, 1e308, 1e308, 1e308), weighted=True)
    found = bf.betweenness(ring(1e307, 1e307, 1e307, 1e307, 1e307), weighted=True)
    assert found.centrality.tolist() == bf.betweenness(ring(1, 1, 1, 1, 1)).centrality.tolist()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1e308] * 5, "that leave 0 add up"),
        ([5e-324] * 5, "that leave 0 add up"),
        ([1, 1, 5e-310, 1, 1], "that leave 1 add up"),
        ([0, 0, 1e-310, 1, 1], "that leave 1 add up"),
        ([1, np.inf, 1, 1, 1], "0 -> 2 weighs inf"),
        ([1, 1, -1, 1, 1], "1 -> 2 weighs -1.0"),
    ],
)
def test_ranks_that_float64_cannot_divide(weights: list[float], message: str) -> None:
    graph = ring(*weights)
    for _ in range(2):
        with pytest.raises(bf.GraphError, match=message):
            bf.pagerank(graph, weighted=True)
    assert bf.pagerank(graph).converged


@pytest.mark.parametrize("scale", [1e-299, 1e-3, 1e289])
def test_ranks_do_not_depend_on_the_scale_of_weights(scale: float) -> None:
    weights = np.array([1.0, 2.0, 0.0, 1.0, 3.0])
    plain = bf.pagerank(ring(*weights), weighted=True)
    found = bf.pagerank(ring(*(weights * scale)), weighted=True)
    np.testing.assert_allclose(found.rank, plain.rank, rtol=1e-12)
    found.verify()


def test_jumps_of_any_scale() -> None:
    graph = bf.generate("cycle:4")
    for wanted in ([1e308] * 4, [5e-324] * 4, dict.fromkeys(range(4), 1e308)):
        found = bf.pagerank(graph, personalization=wanted)
        np.testing.assert_allclose(found.rank, 0.25)
        found.verify()
    for wrong in ("everywhere", {0: "a"}, [np.inf] * 4, [0] * 4, [[1] * 4]):
        with pytest.raises(bf.OptionError, match="personalization"):
            bf.pagerank(graph, personalization=wrong)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("heavy", [(1 << 30) - 9, (1 << 30) - 8, (1 << 30) - 7, (1 << 31) - 1])
def test_lengths_about_the_largest_of_32_bits(heavy: int, directed: bool) -> None:
    """Paths are added up in 32 bits only where the weights of all arcs leave room for one more."""
    weights = [3, heavy, 4, 1]
    graph = bf.from_edges(
        range(4), range(1, 5), weight=np.array(weights, np.int64), num_vertices=6, directed=directed
    )
    expected = [0, *np.cumsum(weights).tolist(), np.iinfo(np.int64).max]
    assert working_dtype(graph) == (np.int32 if 2 * heavy + 8 < (1 << 31) - 1 else np.int64)
    assert bf.sssp(graph, 0, threads=1).distance.tolist() == expected

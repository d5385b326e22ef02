"""Components by routers against SciPy: the zoo, any graph, 1 to 8 devices, both memories."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components as classes_of

import broadfront as bf
from broadfront.routing import components
from zoo import Animal, edges


def expected(graph: bf.Graph) -> list[int]:
    if graph.num_vertices == 0:
        return []
    count, classes = classes_of(graph.to_scipy(), connection="weak")
    smallest = np.full(count, graph.num_vertices)
    np.minimum.at(smallest, classes, np.arange(graph.num_vertices))
    return smallest[classes].tolist()


@pytest.mark.parametrize("memory", ["own", "shared"])
def test_zoo(animal: Animal, memory: str) -> None:
    graph = animal.graph()
    for devices in (1, 2, 3, 8):
        found = components.connected_components(graph, devices, memory=memory)
        assert found.dtype == graph.targets.dtype
        assert found.tolist() == expected(graph)


@given(edges(), st.integers(1, 8))
@settings(max_examples=40)
def test_any_graph(animal: Animal, devices: int) -> None:
    graph = animal.graph()
    assert components.connected_components(graph, devices).tolist() == expected(graph)


@pytest.mark.parametrize(
    "spec", ["kron:12", "grid:60x60:0.5", "rmat:11:2:directed=yes", "path:5000", "uniform:12:1"]
)
@pytest.mark.parametrize("packet", [64, 1 << 22])
def test_larger_graphs(spec: str, packet: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small packets cut rows in two."""
    monkeypatch.setattr(components, "PACKET", packet)
    graph = bf.generate(spec)
    for devices in (2, 5):
        assert components.connected_components(graph, devices).tolist() == expected(graph)


def test_the_time_limit() -> None:
    with pytest.raises(bf.TimeLimitError, match="time_limit=0 s is over"):
        components.connected_components(bf.generate("kron:12"), time_limit=0)

"""Vertex programs, in both styles, against NetworkX and the built-in primitives.

`make models` goes through all programs, styles and numbers of devices, on larger graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import broadfront as bf
from broadfront import gas
from gas_searches import BFS, search, shortest_paths
from gas_sums import components, pagerank
from problems import with_weights
from zoo import ZOO, Animal, edges

STYLES = pytest.mark.parametrize("style", gas.STYLES)


def check_searches(animal: Animal, **options: object) -> None:
    """Compare depths and distances from vertex 0 with those of NetworkX."""
    graph = with_weights(animal).graph()
    if graph.num_vertices == 0:
        return
    other = graph.to_networkx()
    depth = nx.single_source_shortest_path_length(other, 0)
    found = search(graph, 0, **options)["depth"]
    assert found.tolist() == [depth.get(vertex, -1) for vertex in range(len(found))]
    distance = nx.single_source_dijkstra_path_length(other, 0)
    expected = [distance.get(vertex, np.inf) for vertex in range(len(found))]
    np.testing.assert_allclose(shortest_paths(graph, 0, **options)["distance"], expected)


def check_sums(animal: Animal, **options: object) -> None:
    """Compare labels with components of NetworkX, and ranks with those of the built-in."""
    graph = animal._replace(weight=None).graph()
    expected = np.zeros(graph.num_vertices, int)
    for group in nx.connected_components(graph.to_networkx().to_undirected()):
        expected[list(group)] = min(group)
    assert components(graph, **options)["label"].tolist() == expected.tolist()
    np.testing.assert_allclose(pagerank(graph, **options)["rank"], bf.pagerank(graph).rank, 1e-9)


@STYLES
@pytest.mark.parametrize("check", [check_searches, check_sums])
def test_zoo_in_python(animal: Animal, style: str, check: Callable[..., None]) -> None:
    check(animal, style=style, devices="python")


@STYLES
@given(animal=edges())
@settings(max_examples=15)
def test_any_graph_in_python(animal: Animal, style: str) -> None:
    check_searches(animal, style=style, devices="python")
    check_sums(animal, style=style, devices="python")


@given(animal=edges())
@settings(max_examples=25)
def test_searches_on_any_graph(animal: Animal) -> None:
    check_searches(animal, style="expand", threads=2)
    for devices in (2, 4):
        check_searches(animal, style="expand", devices=devices, partitioner="range")


@pytest.mark.parametrize("name", ["loops and duplicates", "islands", "star", "complete"])
def test_sums_on_the_zoo(name: str) -> None:
    check_sums(ZOO[name], style="activate", threads=2)


@STYLES
def test_on_a_larger_graph(style: str) -> None:
    graph = bf.generate("kron:13")
    source = int(np.argmax(graph.degrees))
    found = search(graph, source, style=style, threads=2)
    np.testing.assert_array_equal(found["depth"], bf.bfs(graph, source).depth)
    assert list(found.fields) == ["depth"]


def test_styles_count_what_their_models_do() -> None:
    graph = bf.generate("kron:13")
    source = int(np.argmax(graph.degrees))  # more edges than a thread goes along alone
    expand, activate = (
        search(graph, source, style=style, threads=2).record for style in ("expand", "activate")
    )
    assert expand.iterations == activate.iterations
    assert expand.edges_visited == activate.edges_visited, "both stop at the first"
    assert activate.barriers > expand.barriers
    weighted = bf.generate("kron:13:weights=1-63")
    expand, activate = (
        shortest_paths(weighted, source, style=style, threads=2).record
        for style in ("expand", "activate")
    )
    assert activate.atomics.sum() == 0 < expand.atomics.sum()


def test_fused_pagerank_needs_fewer_barriers_and_bytes() -> None:
    graph = bf.generate("kron:9")
    together, apart = (
        pagerank(graph, style=style, threads=1).record for style in ("activate", "expand")
    )
    assert together.iterations == apart.iterations
    assert together.atomics.sum() == apart.atomics.sum() == 0
    assert together.barriers < apart.barriers
    assert together.answer_bytes < apart.answer_bytes


# ---------------------------------------------------------------------- what is refused


FIELD = {"seen": bf.Field(np.int32)}


def touch(vertex, state):
    state.seen[vertex] = 1
    return True


def forget(vertex, state):
    state.seen[vertex] = 1


def anyone(neighbor, state):
    return True


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"apply": touch}, "until= or limit="),
        ({"apply": anyone, "gather": anyone, "limit": 1}, "apply=anyone takes 2 arguments"),
        ({"apply": touch, "scatter": anyone, "sums": ("seen",)}, "sums="),
        ({"apply": touch, "scatter": anyone, "scatter_along": "up"}, "scatter_along='up'"),
        ({"apply": forget, "scatter": anyone}, "apply=forget returns nothing"),
        ({"apply": touch, "limit": 1, "identity": "0"}, "identity='0'"),
        ({"apply": touch, "limit": 1, "sum": "mean"}, "sum='mean'"),
        ({"apply": touch, "limit": 1, "fields": {"signal": bf.Field(np.int32)}}, "'signal'"),
    ],
)
def test_what_is_wrong_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(bf.OptionError, match=said):
        gas.VertexProgram(**{"fields": FIELD, **given})


def test_another_style_is_refused() -> None:
    with pytest.raises(bf.OptionError, match="style='push'"):
        gas.run(BFS, bf.generate("path:3"), frontier=[0], style="push")

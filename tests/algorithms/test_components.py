"""Connected components against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse.csgraph import connected_components

import broadfront as bf
from broadfront.algorithms.components import METHODS
from zoo import Animal, edges

THREADS = [1, 2, 4]


def expected(graph: bf.Graph) -> tuple[int, list[int]]:
    if graph.num_vertices == 0:
        return 0, []
    count, classes = connected_components(graph.to_scipy(), connection="weak")
    smallest = np.full(count, graph.num_vertices)
    np.minimum.at(smallest, classes, np.arange(graph.num_vertices))
    return count, smallest[classes].tolist()


def check(graph: bf.Graph) -> None:
    for threads in THREADS:
        for method in METHODS:
            found = bf.connected_components(graph, method=method, threads=threads)
            assert (found.count, found.component.tolist()) == expected(graph)
            found.verify()


def test_zoo(animal: Animal) -> None:
    check(animal.graph())


@given(edges())
def test_any_graph(animal: Animal) -> None:
    check(animal.graph())


@pytest.mark.parametrize(
    "spec",
    [
        "kron:12",
        "grid:60x60:0.5",
        "rmat:11:2:directed=yes",
        "path:5000",
        "uniform:12:1",
        "tree:2:11",
    ],
)
def test_larger_graphs(spec: str) -> None:
    check(bf.generate(spec))


def test_an_edge_out_of_the_largest_component_of_a_directed_graph() -> None:
    """It is seen from inside alone."""
    ring = np.arange(2000)
    graph = bf.from_edges(np.append(ring, 5), np.append(np.roll(ring, 1), 2000), num_vertices=2002)
    check(graph)


def test_unknown_method() -> None:
    with pytest.raises(bf.OptionError, match="method='magic': expected one of sampling, min_label"):
        bf.connected_components(bf.generate("path:3"), method="magic")


def test_the_story_and_a_broken_answer() -> None:
    found = bf.connected_components(bf.generate("grid:30x30:0.6"))
    assert f"{found.count:,} components, the largest of" in repr(found)
    assert set(found.to_pandas().columns) == {"vertex", "component"}
    found.component[found.component != 0] = 1
    with pytest.raises(bf.VerificationError):
        found.verify()

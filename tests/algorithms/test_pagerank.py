"""PageRank against NetworkX."""

from __future__ import annotations

import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront.algorithms.pagerank import steps_below
from zoo import Animal, edges

THREADS = [1, 2, 4]
EXACT = {"tol": 1e-12, "max_iterations": 2000}


def expected(graph: bf.Graph, weighted: bool = False, **options: object) -> np.ndarray:
    if graph.num_vertices == 0:
        return np.zeros(0)
    weight = "weight" if weighted else None
    other = graph.to_networkx().to_directed()
    found = nx.pagerank(other, tol=1e-14, max_iter=5000, weight=weight, **options)
    return np.array([found[vertex] for vertex in range(graph.num_vertices)])


def test_zoo(animal: Animal) -> None:
    graph = animal.graph()
    for threads in THREADS:
        found = bf.pagerank(graph, threads=threads, **EXACT)
        np.testing.assert_allclose(found.rank, expected(graph), atol=1e-10)
        found.verify()
        assert found.converged


@given(edges(weighted=True), st.floats(0.1, 0.95))
def test_any_graph(animal: Animal, damping: float) -> None:
    graph = animal.graph()
    for weighted in (False, True):
        found = bf.pagerank(graph, damping, weighted=weighted, **EXACT)
        wanted = expected(graph, weighted, alpha=damping)
        np.testing.assert_allclose(found.rank, wanted, atol=1e-9)
        assert found.rank.sum() == pytest.approx(1)
        found.verify()


@pytest.mark.parametrize("spec", ["kron:12", "grid:70x70", "rmat:12:4:directed=yes"])
def test_same_bits_for_any_number_of_threads(spec: str) -> None:
    graph = bf.generate(spec)
    alone = bf.pagerank(graph, threads=1)
    for threads in (2, 3, 4):
        found = bf.pagerank(graph, threads=threads)
        np.testing.assert_array_equal(found.rank, alone.rank)
        assert found.iterations == alone.iterations
    alone.verify()


def test_personalization() -> None:
    graph = bf.from_edges(["a", "b", "c"], ["b", "c", "a"])
    found = bf.pagerank(graph, personalization={"a": 3, "b": 1}, **EXACT)
    wanted = nx.pagerank(
        graph.to_networkx(), personalization={"a": 3, "b": 1}, tol=1e-14, max_iter=5000
    )
    np.testing.assert_allclose(found.rank, [wanted[name] for name in "abc"], atol=1e-9)
    found.verify()
    dangling = bf.from_edges([0, 1], [1, 2])
    found = bf.pagerank(dangling, personalization=[0, 0, 5], **EXACT)
    wanted = nx.pagerank(dangling.to_networkx(), personalization={2: 1}, tol=1e-14, max_iter=5000)
    np.testing.assert_allclose(found.rank, [wanted[name] for name in range(3)], atol=1e-9)


def test_how_it_ends() -> None:
    graph = bf.generate("kron:8")
    short = bf.pagerank(graph, max_iterations=3)
    assert (short.iterations, short.converged) == (3, False)
    short.verify()
    told = repr(short)
    assert "stopped after 3 iterations, the last of which changed the ranks by 0." in told
    assert "\n  3 iterations, " in told
    assert short.report.iterations == short.totals()["iterations"] == 3
    assert len(short.report.to_pandas()) == 3
    assert short.report.edges_visited == 3 * graph.num_arcs
    assert short.change == short.totals()["change"] > 1e-6
    enough = int(re.search(r"max_iterations=(\d+) is enough", told)[1])
    assert bf.pagerank(graph, max_iterations=enough).converged
    long = bf.pagerank(graph, tol=1e-3)
    assert long.converged
    assert long.iterations < 20
    assert long.change < 1e-3
    assert "enough" not in repr(long)
    assert "enough" not in repr(bf.pagerank(graph, tol=0, max_iterations=2))


def test_iterations_on_devices_are_counted_alike() -> None:
    found = bf.pagerank(bf.generate("kron:8"), max_iterations=3, devices=2, threads=1)
    assert (found.iterations, found.report.iterations) == (3, 3)


@pytest.mark.parametrize(("tol", "damping"), [(1e-6, 0.85), (1e-10, 0.85), (1e-12, 0.97)])
def test_iterations_are_enough_by_default(tol: float, damping: float) -> None:
    """On two vertices that swap their ranks the change falls by no more than the damping."""
    graph = bf.from_edges([0, 1], [1, 0])
    found = bf.pagerank(graph, damping, tol, personalization=[1, 0])
    assert found.converged
    bound = steps_below(tol / 2, damping)
    assert bound - 2 <= found.iterations <= bound
    assert 2 * damping**bound < tol <= 2 * damping ** (bound - 1)


def test_iterations_end_where_nothing_converges() -> None:
    graph = bf.from_edges([0, 1], [1, 0])
    found = bf.pagerank(graph, damping=1, personalization=[1, 0])
    assert (found.iterations, found.converged, found.change) == (100, False, 2)
    assert "enough" not in repr(found)
    assert bf.pagerank(graph, tol=0, personalization=[1, 0], max_iterations=7).iterations == 7


def test_dropping_what_has_no_way_out() -> None:
    graph = bf.from_edges([0, 1], [1, 2])
    found = bf.pagerank(graph, dangling="drop", **EXACT)
    assert found.rank.sum() < 1
    np.testing.assert_allclose(found.rank, 0.05 * np.array([1, 1.85, 1 + 0.85 * 1.85]), atol=1e-9)
    found.verify()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"damping": 1.5}, "damping=1.5"),
        ({"max_iterations": 0}, "max_iterations=0"),
        ({"dangling": "keep"}, "dangling='keep'"),
        ({"personalization": [1, 2]}, "has shape"),
        ({"personalization": [0, 0, 0]}, "not all 0"),
        ({"personalization": [1, -1, 1]}, "at least 0"),
    ],
)
def test_refusals(options: dict, message: str) -> None:
    with pytest.raises(bf.OptionError, match=message):
        bf.pagerank(bf.from_edges([0, 1], [1, 2]), **options)


def test_weights_are_needed_and_checked() -> None:
    with pytest.raises(bf.GraphError, match="no weights"):
        bf.pagerank(bf.from_edges([0], [1]), weighted=True)
    with pytest.raises(bf.GraphError, match="at least 0"):
        bf.pagerank(bf.from_edges([0], [1], weight=[-1]), weighted=True)
    with pytest.raises(bf.VertexError, match="no vertex 'x'"):
        bf.pagerank(bf.from_edges([0], [1]), personalization={"x": 1})

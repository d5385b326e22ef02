"""Products over semirings against plain Python, SciPy and NetworkX.

`make models` goes through the examples on larger graphs, several devices and blocks.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import broadfront as bf
import semirings as example
from broadfront import semiring
from problems import with_weights
from zoo import Animal, edges

RINGS = {name: ring for name, ring in vars(semiring).items() if isinstance(ring, semiring.Semiring)}
ADDS = {"sum": lambda a, b: a + b, "min": min, "max": max, "or": lambda a, b: a | b}
PYTHON = {"devices": "python"}


def greatest_divisor(one, other):
    while other != 0:
        one, other = other, one % other
    return one


DIVISORS = semiring.Semiring(bf.Monoid(greatest_divisor, 0, idempotent=True), lambda x, a: x * a)


def multiplied(
    graph: bf.Graph, x: dict[int, Any], ring: semiring.Semiring, left: bool
) -> dict[int, list[Any]]:
    """Return all products for each element of the result, in plain Python."""
    weights = [1] * graph.num_arcs if graph.weights is None else graph.weights.tolist()
    products: dict[int, list[Any]] = {}
    for i, j, a in zip(graph.sources().tolist(), graph.targets.tolist(), weights, strict=True):
        if left and i in x:
            products.setdefault(j, []).append(ring.multiply(x[i], a))
        if not left and j in x:
            products.setdefault(i, []).append(ring.multiply(a, x[j]))
    return products


def check_sparse(
    graph: bf.Graph,
    x: dict[int, Any],
    ring: semiring.Semiring,
    left: bool,
    mask: set[int],
    **options: Any,
) -> None:
    size = graph.num_vertices
    vector = semiring.Vector(size, list(x), np.array(list(x.values()), np.int64))
    chosen = semiring.Vector(size, sorted(mask))
    settings = {"mask": chosen, "complement": True, **options}
    found = (
        semiring.vxm(vector, graph, ring, **settings)
        if left
        else semiring.mxv(graph, vector, ring, **settings)
    )
    products = multiplied(graph, x, ring, left)
    expected = {place: heard for place, heard in products.items() if place not in mask}
    told = dict(zip(found.indices.tolist(), found.values.tolist(), strict=True))
    if ring.add == "any":
        assert told.keys() == expected.keys()
        assert all(value in expected[place] for place, value in told.items())
        return
    meet = ring.add.function if isinstance(ring.add, bf.Monoid) else ADDS[ring.add]
    zero = ring.zero(found.values.dtype)
    totals = {place: reduce(meet, heard) for place, heard in expected.items()}
    if ring.add != "sum":
        totals = {place: total for place, total in totals.items() if total != zero}
    assert told == totals


@pytest.mark.parametrize("ring", [*RINGS.values(), DIVISORS], ids=[*RINGS, "divisors"])
@given(animal=edges(), data=st.data())
@settings(max_examples=12)
def test_every_semiring_in_python(
    animal: Animal, ring: semiring.Semiring, data: st.DataObject
) -> None:
    weights = None if animal.weight is None else [float(int(w) % 9 + 1) for w in animal.weight]
    graph = animal._replace(weight=weights).graph()
    if graph.weights is not None:
        graph = graph.with_weights(graph.weights.astype(np.int64))
    vertex = st.integers(0, graph.num_vertices - 1)
    least = 0 if ring is DIVISORS else -5  # whose sign depends on the order
    x = data.draw(st.dictionaries(vertex, st.integers(least, 5), max_size=10))
    mask = data.draw(st.sets(vertex, max_size=10))
    check_sparse(graph, x, ring, data.draw(st.booleans()), mask, **PYTHON)
    blocks = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    check_sparse(graph, x, ring, data.draw(st.booleans()), mask, blocks=blocks, **PYTHON)


@given(animal=edges(weighted=True), data=st.data())
@settings(max_examples=20)
def test_dense_products_are_those_of_scipy(animal: Animal, data: st.DataObject) -> None:
    matrix = with_weights(animal).graph().to_scipy()
    size = matrix.shape[0]
    x = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size)), float)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    ring = semiring.plus_times
    np.testing.assert_allclose(semiring.vxm(x, matrix, ring), x @ matrix, atol=1e-6)
    np.testing.assert_allclose(semiring.mxv(matrix, x, ring, **PYTHON), matrix @ x, atol=1e-6)
    total = np.arange(size, dtype=float)
    semiring.mxv(matrix, x, ring, mask=mask, into=total, **PYTHON)
    np.testing.assert_allclose(total, np.arange(size) + np.where(mask, matrix @ x, 0), atol=1e-6)
    np.testing.assert_allclose(
        semiring.mxv(matrix, x, ring, blocks=(2, 2), **PYTHON), matrix @ x, atol=1e-6
    )


@given(animal=edges(weighted=True))
@settings(max_examples=15)
def test_the_masked_square_is_that_of_scipy(animal: Animal) -> None:
    graph = animal._replace(weight=[w % 9 + 1 for w in animal.weight or []]).graph()
    matrix = graph.to_scipy()
    entries = matrix.astype(bool).astype(float)
    found = semiring.masked_square(graph, semiring.plus_times, **PYTHON)
    expected = (matrix @ matrix).multiply(entries)
    np.testing.assert_allclose(found.toarray(), expected.toarray())
    pairs = (entries @ entries).multiply(entries)
    found = semiring.masked_square(graph, semiring.plus_pair, **PYTHON)
    np.testing.assert_array_equal(found.toarray(), pairs.toarray())
    assert semiring.masked_square_sum(graph, semiring.plus_pair, **PYTHON) == pairs.sum()


@st.composite
def three_matrices(draw: Any) -> list[scipy.sparse.csr_array]:
    """Return square matrices of whole numbers, of one size."""
    size = draw(st.integers(1, 7))
    cells = st.lists(st.integers(0, 3), min_size=size * size, max_size=size * size)
    found = (np.array(draw(cells), float).reshape(size, size) for _ in range(3))
    return [scipy.sparse.csr_array(dense) for dense in found]


def by_definition(
    left: Any, right: Any, ring: semiring.Semiring, mask: Any, zero: float
) -> np.ndarray[Any, Any]:
    """Return the masked product of dense matrices, in plain Python."""
    meet = ring.add.function if isinstance(ring.add, bf.Monoid) else ADDS[ring.add]
    found = np.zeros_like(left)
    for i, j in zip(*np.nonzero(mask), strict=True):
        both = np.flatnonzero((left[i] != 0) & (right[:, j] != 0))
        products = [ring.multiply(left[i, k], right[k, j]) for k in both]
        found[i, j] = reduce(meet, products, zero)
    return found


@pytest.mark.parametrize("ring", [semiring.plus_times, semiring.min_plus, semiring.max_min])
@given(matrices=three_matrices())
@settings(max_examples=12, deadline=None)
def test_masked_products_of_three_matrices(ring: semiring.Semiring, matrices: Any) -> None:
    left, right, mask = matrices
    dense = [matrix.toarray() for matrix in matrices]
    expected = by_definition(*dense[:2], ring, dense[2], ring.zero(np.float64))
    compiled = [{"threads": 2}, {"devices": 3}] if ring is semiring.min_plus else []
    for options in (PYTHON, *compiled):
        found = semiring.mxm(left, right, ring, mask=mask, **options)
        np.testing.assert_array_equal(found.toarray(), expected)


def test_the_masked_square_is_the_same_on_several_devices() -> None:
    graph = bf.generate("rmat:7:4:directed=yes:weights=1-9:simple=yes")
    with_divisors = semiring.Semiring(DIVISORS.add, DIVISORS.multiply, np.int64)
    expected = semiring.masked_square(graph, with_divisors, **PYTHON)
    for devices in (1, 2, 4):
        found = semiring.masked_square(graph, with_divisors, devices=devices)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())


def check_examples(graph: bf.Graph, **options: Any) -> None:
    """Compare the searches of the example with those of NetworkX."""
    other = graph.to_networkx()
    depth = nx.single_source_shortest_path_length(other, 0)
    found = example.bfs(graph, 0, **options)
    assert found.tolist() == [depth.get(vertex, -1) for vertex in range(len(found))]
    distance = nx.single_source_dijkstra_path_length(other, 0)
    expected = [distance.get(vertex, np.inf) for vertex in range(len(found))]
    np.testing.assert_allclose(example.sssp(graph, 0, **options), expected)


def test_examples_on_the_zoo(animal: Animal) -> None:
    graph = with_weights(animal).graph()
    if graph.num_vertices == 0:
        return
    check_examples(graph)
    check_examples(graph, blocks=(2, 2))
    check_examples(graph, **PYTHON)
    np.testing.assert_allclose(
        example.pagerank(graph), bf.pagerank(graph, tol=1e-6).rank, rtol=1e-9
    )


def test_searches_and_triangles_on_several_devices() -> None:
    graph = bf.generate("kron:8:simple=yes")
    for devices in (2, 3):
        np.testing.assert_array_equal(
            example.bfs(graph, 5, devices=devices), bf.bfs(graph, 5).depth
        )
    assert example.triangles(graph) == bf.triangles(graph).total
    common = semiring.masked_square(graph, semiring.plus_pair, **PYTHON)
    matrix = graph.to_scipy()
    assert (common != (matrix @ matrix).multiply(matrix)).nnz == 0


def test_any_element_stops_at_the_first_product() -> None:
    star = bf.from_edges(np.repeat(np.arange(99), 99), np.tile(np.arange(99), 99), directed=True)
    records: list[Any] = []
    everyone = semiring.Vector(99, np.arange(99))
    found = semiring.vxm(everyone, star, semiring.any_pair, mask=np.ones(99), records=records)
    assert len(found) == 99
    assert records[0].edges_visited == 99


# ---------------------------------------------------------------------- vectors, and refusals


def test_vectors_come_from_scipy_and_go_there() -> None:
    vector = semiring.Vector.of(6, {4: 2.5, 1: -1.0})
    assert vector.to_scipy().toarray().tolist() == [[0, -1, 0, 0, 2.5, 0]]
    for array in (
        vector.to_scipy(),
        vector.to_scipy().T,
        scipy.sparse.coo_array(vector.to_dense()),
    ):
        again = semiring.Vector.from_scipy(array)
        assert repr(again) == repr(vector)
    assert repr(semiring.Vector.from_dense(vector.to_dense())) == repr(vector)
    assert len(semiring.Vector(0, [])) == 0


GRAPH = bf.generate("path:4")
PARALLEL = bf.from_edges([0, 0, 1], [1, 1, 2], num_vertices=4, duplicates="keep")
MIN = semiring.min_plus


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: semiring.Vector(3, [1, 1]), "indices holds 1 twice"),
        (lambda: semiring.Vector(3, [3]), "indices holds 3"),
        (lambda: semiring.Vector(3, [0, 1], [1.0]), "2 indices"),
        (lambda: semiring.Semiring("plus", max), "add='plus'"),
        (lambda: semiring.Semiring("sum", lambda one: one), "a function of two"),
        (lambda: semiring.vxm(np.ones(3), GRAPH, MIN), "x has 3 elements, and the matrix 4"),
        (lambda: semiring.vxm(np.ones(4), np.ones((4, 4)), MIN), "a Graph or a SciPy"),
        (lambda: semiring.vxm(np.ones(4), GRAPH, "min_plus"), "expected a Semiring"),
        (lambda: semiring.vxm(np.ones(4), GRAPH, MIN, mask=np.ones(3)), "mask has shape"),
        (lambda: semiring.vxm(np.ones(4), GRAPH, MIN, complement=True), "complement=True"),
        (lambda: semiring.vxm(np.ones(4), GRAPH, MIN, into=np.ones(3)), "an array of 4"),
        (lambda: semiring.vxm(np.ones(4), GRAPH, MIN, blocks=2), "blocks=2"),
        (lambda: semiring.vxm(np.ones(4), GRAPH, MIN, masked=1), "unknown option 'masked'"),
        (
            lambda: semiring.vxm(np.ones(4), GRAPH, semiring.any_first, into=np.ones(4)),
            "with 'any' use mask=",
        ),
        (lambda: semiring.masked_square(GRAPH, semiring.any_pair), "add='any'"),
        (lambda: semiring.mxm(GRAPH, GRAPH, MIN, mask=np.ones((4, 4))), "a Graph or a SciPy"),
        (lambda: semiring.mxm(GRAPH, bf.generate("path:3"), MIN, mask=GRAPH), "4, 3, 4 rows"),
        (lambda: semiring.mxm(GRAPH, PARALLEL, MIN, mask=GRAPH), "right has parallel edges"),
        (lambda: semiring.mxm(GRAPH, GRAPH, "min", mask=GRAPH), "expected a Semiring"),
    ],
)
def test_what_is_wrong_is_refused(call: Any, said: str) -> None:
    with pytest.raises(bf.OptionError, match=said):
        call()

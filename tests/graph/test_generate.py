"""Generators: the same graph for any number of threads, and the graph that was asked for."""

from __future__ import annotations

import importlib
import itertools
import math

import networkx as nx
import numpy as np
import pytest

from broadfront import Graph, OptionError, threads
from broadfront.graph.edges import edge_arrays
from broadfront.graph.generate import (
    complete,
    cycle,
    delaunay,
    generate,
    grid,
    kron,
    path,
    random_weights,
    regular,
    rgg,
    rmat,
    smallworld,
    star,
    tree,
    uniform,
)
from broadfront.graph.generate.geometric import scattered
from broadfront.graph.generate.kronecker import LEVELS, OUTCOMES, THRESHOLD_BITS, alias_table
from specs import SPECS

GRAINS = {
    "kronecker": "EDGES_PER_PIECE",
    "uniform": "EDGES_PER_PIECE",
    "regular": "EDGES_PER_PIECE",
    "smallworld": "EDGES_PER_PIECE",
    "geometric": "POINTS_PER_PIECE",
    "lattice": "VERTICES_PER_PIECE",
    "weights": "ARCS_PER_PIECE",
}
SEEDED = [
    spec
    for spec in SPECS
    if spec.split(":")[0] not in {"path", "cycle", "star", "tree", "complete"}
]


def edge_set(graph: Graph) -> set[tuple[int, int]]:
    source, target, _ = edge_arrays(graph)
    return set(zip(source.tolist(), target.tolist(), strict=True))


def same(one: Graph, other: Graph) -> bool:
    weights = (one.weights is None) == (other.weights is None) and (
        one.weights is None or np.array_equal(one.weights, other.weights)
    )
    return (
        weights
        and np.array_equal(one.offsets, other.offsets)
        and np.array_equal(one.targets, other.targets)
    )


# ---------------------------------------------------------------------- all of them


@pytest.mark.parametrize("spec", SPECS)
def test_same_graph_for_any_number_of_threads(spec, monkeypatch):
    for name, grain in GRAINS.items():
        module = importlib.import_module(f"broadfront.graph.generate.{name}")
        monkeypatch.setattr(module, grain, 100)
    graphs = []
    for count in (1, 2, 3):
        with threads.limit(count):
            graphs.append(generate(spec, seed=5, weights=(1, 63)))
    assert same(graphs[0], graphs[1])
    assert same(graphs[0], graphs[2])
    monkeypatch.undo()
    assert same(graphs[0], generate(spec, seed=5, weights=(1, 63)))


@pytest.mark.parametrize("spec", SEEDED)
def test_seeds_differ(spec):
    graphs = [generate(spec, seed) for seed in (0, 1, 2)]
    assert not any(same(one, other) for one, other in itertools.combinations(graphs, 2))
    assert same(generate(spec + ":seed=2", seed=1), graphs[2])


@pytest.mark.parametrize("spec", SPECS)
def test_stored_rows_are_sound(spec):
    graph = generate(spec)
    assert graph.origin.name == spec
    assert graph.targets.dtype == np.int32
    adjacency = graph.to_scipy()
    assert graph.directed == spec.endswith("directed=yes")
    if not graph.directed:
        assert (adjacency != adjacency.T).nnz == 0
    assert generate(spec, simple=True).num_self_loops == 0


def test_direct_call_is_named_by_a_spec_that_gives_it_again():
    for graph in (
        kron(6), kron(6, 8, seed=3), kron(scale=6), rmat(6, a=0.4, directed=True, permuted=False),
        grid(5, 4), grid(5, 4, 0.5, seed=2), grid(height=4, width=5), regular(10, 3),
        smallworld(20, 4, 0.5, seed=-1), tree(2, 3), rgg(5, 0.7), delaunay(4), uniform(5), star(4),
    ):  # fmt: skip
        assert same(generate(graph.origin.name), graph), graph.origin.name
    assert grid(5, 4, 0.5, seed=2).origin.name == "grid:5x4:0.5:seed=2"


def test_tiny_graphs():
    sizes = {
        "kron:0": (1, 1), "kron:0:0": (1, 0), "kron:3:0": (8, 0), "uniform:0": (1, 1),
        "uniform:1:0": (2, 0), "rgg:0": (1, 0), "rgg:1:100": (2, 1), "delaunay:0": (1, 0),
        "delaunay:1": (2, 1), "grid:0x0": (0, 0), "grid:0x5": (0, 0), "grid:1x1": (1, 0),
        "grid:1x2:0": (2, 1), "grid:2x1:0": (2, 1), "grid:2x2:1": (4, 0), "regular:0:0": (0, 0),
        "regular:1:0": (1, 0), "regular:2:1": (2, 1), "regular:3:2": (3, 3),
        "smallworld:0:0:0.5": (0, 0), "smallworld:1:0:1": (1, 0), "smallworld:3:2:1": (3, 3),
        "path:0": (0, 0), "path:1": (1, 0), "path:2": (2, 1), "cycle:0": (0, 0),
        "cycle:1": (1, 1), "cycle:2": (2, 1), "star:0": (0, 0), "star:1": (1, 0),
        "star:2": (2, 1), "tree:1:0": (1, 0), "tree:1:1": (2, 1), "tree:5:0": (1, 0),
        "complete:0": (0, 0), "complete:1": (1, 0), "complete:2": (2, 1),
    }  # fmt: skip
    for spec, (vertices, edges) in sizes.items():
        graph = generate(spec, weights=(1, 2))
        if spec != "smallworld:3:2:1":
            assert graph.num_edges == edges, spec
        assert graph.num_vertices == vertices, spec


# ---------------------------------------------------------------------- kron, rmat, uniform


def test_alias_table_has_the_product_distribution():
    quarters = (0.5, 0.3, 0.15, 0.05)
    table = alias_table(*quarters[:3]).astype(np.int64)
    whole = 1 << THRESHOLD_BITS
    stays = table >> 2 * LEVELS
    stays[table == np.arange(OUTCOMES)] = whole
    chances = stays.astype(float)
    np.add.at(chances, table & OUTCOMES - 1, whole - stays)
    chances /= whole * OUTCOMES
    for outcome in range(OUTCOMES):
        row, column = outcome >> LEVELS, outcome & (1 << LEVELS) - 1
        expected = math.prod(
            quarters[2 * (row >> level & 1) + (column >> level & 1)] for level in range(LEVELS)
        )
        assert chances[outcome] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("scale", [3, 7, 12])
def test_quarters_at_every_level(scale):
    from broadfront.graph.generate.registry import GENERATORS

    quarters = np.array([0.5, 0.3, 0.15, 0.05])
    factor = (1 << 16) >> scale
    edges = GENERATORS["rmat"](scale, factor, a=0.5, b=0.3, c=0.15, permuted=False)
    for level in range(scale):
        figure = 2 * (edges.source >> level & 1) + (edges.target >> level & 1)
        shares = np.bincount(figure, minlength=4) / len(figure)
        assert abs(shares - quarters).max() < 0.01


def test_levels_are_independent():
    from broadfront.graph.generate.registry import GENERATORS

    edges = GENERATORS["rmat"](12, 32, permuted=False)
    upper = [edges.source >> level & 1 == 0 for level in range(12)]
    for one, other in itertools.combinations(upper, 2):
        assert np.mean(one & other) == pytest.approx(0.76**2, abs=0.01)


def test_kron_is_skewed_and_permuted():
    graph = kron(12)
    assert graph.num_vertices == 4096
    assert graph.origin.edges_read == 65536
    assert graph.degrees.max() > 20 * graph.degrees.mean()
    halves = graph.degrees[::2].sum() / graph.num_arcs
    assert 0.3 < halves < 0.7
    plain = rmat(12, permuted=False)
    assert plain.degrees[::2].sum() / plain.num_arcs > 0.65
    assert sorted(plain.degrees.tolist()) == sorted(graph.degrees.tolist())


def test_rmat_directed_keeps_direction():
    both, one_way = rmat(8, 4, permuted=False), rmat(8, 4, directed=True, permuted=False)
    assert one_way.directed
    ways = edge_set(one_way)
    assert {(min(pair), max(pair)) for pair in ways} == edge_set(both)
    assert sum(tail < head for tail, head in ways) == pytest.approx(len(ways) / 2, rel=0.1)


def test_rmat_corner_probabilities():
    assert edge_set(rmat(5, a=1, b=0, c=0, permuted=False)) == {(0, 0)}
    assert edge_set(rmat(5, a=0, b=0, c=0, permuted=False)) == {(31, 31)}
    assert edge_set(rmat(5, a=0, b=1, c=0, permuted=False, directed=True)) == {(0, 31)}


def test_uniform_degrees_are_poisson():
    degrees = uniform(12, 8).degrees
    assert degrees.mean() == pytest.approx(16, rel=0.02)
    assert degrees.var() == pytest.approx(16, rel=0.1)


# ---------------------------------------------------------------------- points


@pytest.mark.parametrize("scale", range(10))
@pytest.mark.parametrize("factor", [0.0, 0.1, 0.55, 2.0, 50.0])
def test_rgg_joins_exactly_the_near_points(scale, factor):
    count = 1 << scale
    radius = factor * math.sqrt(math.log(count) / count)
    graph = rgg(scale, factor, seed=3)
    side = max(1, min(math.isqrt(count), int(0.999 / radius) if radius > 0 else 1))
    points = scattered(count, side, 3)
    across, up = np.subtract.outer(points.x, points.x), np.subtract.outer(points.y, points.y)
    near = (across**2 + up**2 <= min(radius, 2) ** 2) & ~np.eye(count, dtype=bool)
    assert np.array_equal(graph.to_scipy().toarray() > 0, near)


def test_points_are_the_same_whatever_the_cells():
    coarse, fine = scattered(500, 1, 0), scattered(500, 20, 0)
    assert sorted(zip(coarse.x, coarse.y, strict=True)) == sorted(zip(fine.x, fine.y, strict=True))
    cells = (fine.y * 20).astype(int) * 20 + (fine.x * 20).astype(int)
    assert np.all(np.diff(cells) >= 0)
    assert np.array_equal(np.searchsorted(cells, np.arange(401)), fine.starts)


@pytest.mark.parametrize("scale", [2, 3, 6, 9])
def test_delaunay_has_the_triangles_edges(scale):
    from scipy.spatial import Delaunay

    count = 1 << scale
    points = scattered(count, math.isqrt(count), 4)
    triangles = Delaunay(np.column_stack([points.x, points.y])).simplices
    expected = {
        (min(pair), max(pair))
        for triangle in triangles.tolist()
        for pair in itertools.combinations(triangle, 2)
    }
    graph = delaunay(scale, seed=4)
    assert edge_set(graph) == expected
    assert graph.origin.duplicates == 0
    assert graph.degrees.min() > 0


# ---------------------------------------------------------------------- grid, regular, smallworld


@pytest.mark.parametrize(("width", "height"), [(1, 7), (7, 1), (4, 3), (20, 30)])
def test_full_grid_is_the_lattice(width, height):
    lattice = nx.convert_node_labels_to_integers(nx.grid_2d_graph(height, width))
    graph = grid(width, height, 0)
    assert edge_set(graph) == {(min(pair), max(pair)) for pair in lattice.edges}
    assert graph.num_edges == 2 * width * height - width - height


def test_grid_removes_the_share():
    full = edge_set(grid(100, 100, 0))
    assert edge_set(grid(100, 100, 0.3)) < edge_set(grid(100, 100)) < full
    assert grid(100, 100, 0.3).num_edges == pytest.approx(0.7 * len(full), rel=0.03)
    assert same(generate("grid:100x100"), grid(100, 100, 0.1))
    assert generate("grid:5x5:1").num_edges == 0


@pytest.mark.parametrize("seed", range(3))
def test_regular_degrees_are_exact(seed):
    for n in range(1, 13):
        for degree in range(n):
            if n * degree % 2 == 0:
                graph = regular(n, degree, seed=seed)
                assert np.all(graph.degrees == degree), (n, degree)
                assert graph.num_self_loops == graph.origin.duplicates == 0
                assert graph.num_edges == n * degree // 2


@pytest.mark.parametrize(("n", "degree"), [(1000, 4), (1001, 4), (400, 150), (400, 250), (64, 62)])
def test_regular_larger(n, degree):
    assert np.all(regular(n, degree).degrees == degree)


def test_regular_joins_all_pairs_alike():
    seen = np.zeros((8, 8))
    for seed in range(400):
        seen += regular(8, 3, seed=seed).to_scipy().toarray()
    expected = 400 * 3 / 7
    assert np.all(np.abs(seen[~np.eye(8, dtype=bool)] - expected) < 50)


@pytest.mark.parametrize(("n", "k"), [(10, 4), (10, 0), (11, 10), (3, 2), (100, 6)])
def test_smallworld_unrewired_is_the_ring(n, k):
    ring = nx.watts_strogatz_graph(n, k, 0)
    assert edge_set(smallworld(n, k, 0)) == {(min(pair), max(pair)) for pair in ring.edges}


def test_smallworld_rewires_the_share():
    ring = edge_set(smallworld(1000, 10, 0))
    graph = smallworld(1000, 10, 0.2)
    assert graph.num_edges == 5000
    assert graph.num_self_loops == 0
    assert len(edge_set(graph) - ring) == pytest.approx(1000, rel=0.1)
    loose = smallworld(1000, 10, 1)
    assert loose.num_edges == 5000
    assert loose.degrees.min() >= 5
    assert smallworld(9, 8, 1).num_self_loops == 0


# ---------------------------------------------------------------------- the named ones


def test_named_graphs_are_those_of_networkx():
    pairs = [
        (tree(branching, depth), nx.balanced_tree(branching, depth))
        for branching in (1, 2, 3) for depth in range(4)
    ]  # fmt: skip
    for n in range(1, 9):
        pairs += [
            (path(n), nx.path_graph(n)), (cycle(n), nx.cycle_graph(n)),
            (star(n), nx.star_graph(n - 1)), (complete(n), nx.complete_graph(n)),
        ]  # fmt: skip
    for graph, expected in pairs:
        assert graph.num_vertices == len(expected), graph.origin.name
        ordered = {(min(pair), max(pair)) for pair in expected.edges}
        assert edge_set(graph) == ordered, graph.origin.name


# ---------------------------------------------------------------------- weights


@pytest.mark.parametrize("spec", ["kron:10", "rmat:10:directed=yes", "star:5000", "grid:30x30"])
def test_weights_are_in_range_and_symmetric(spec):
    plain, graph = generate(spec), generate(spec, weights=(1, 63))
    assert same(plain, generate(spec)), "the edges do not depend on the weights"
    assert np.array_equal(plain.targets, graph.targets)
    assert graph.weights.dtype == np.int32
    assert set(np.unique(graph.weights)) == set(range(1, 64))
    matrix = graph.to_scipy().toarray()
    assert graph.directed or np.array_equal(matrix, matrix.T)
    assert same(graph, generate(spec + ":weights=1-63"))
    assert not same(random_weights(plain, 1, 63, seed=1), graph)


def test_directed_weights_differ_by_way():
    matrix = generate("rmat:8:directed=yes", weights=(1, 1000)).to_scipy().toarray()
    both = (matrix > 0) & (matrix.T > 0) & ~np.eye(len(matrix), dtype=bool)
    assert np.mean(matrix[both] != matrix.T[both]) > 0.9


def test_weights_of_all_of_int32():
    weights = random_weights(kron(10), -(2**31), 2**31 - 1).weights
    assert weights.min() < -(2**30) * 1.9
    assert weights.max() > 2**30 * 1.9
    assert np.all(generate("path:9:weights=-5--5").weights == -5)
    for low, high in ((2, 1), (0, 2**31), (-(2**31) - 1, 0)):
        with pytest.raises(OptionError, match="weights="):
            random_weights(path(3), low, high)

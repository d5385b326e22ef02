"""Generators: the same graph for any number of threads, and the graph that was asked for."""

from __future__ import annotations

import importlib
import itertools
import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broadfront import Graph, OptionError, OutOfMemoryError, threads
from broadfront.graph.convert import edge_arrays
from broadfront.graph.generate import (
    complete,
    cycle,
    delaunay,
    generate,
    grid,
    is_spec,
    known,
    kron,
    path,
    random_weights,
    regular,
    rgg,
    rmat,
    smallworld,
    star,
    summaries,
    tree,
    uniform,
)
from broadfront.graph.generate.geometric import scattered
from broadfront.graph.generate.kronecker import LEVELS, OUTCOMES, THRESHOLD_BITS, alias_table
from broadfront.graph.generate.random import below, key, permutation, permuted, unit
from broadfront.graph.generate.repeats import repeated

size = importlib.import_module("broadfront.graph.generate.size")

GRAINS = {
    "kronecker": "EDGES_PER_PIECE",
    "uniform": "EDGES_PER_PIECE",
    "regular": "EDGES_PER_PIECE",
    "smallworld": "EDGES_PER_PIECE",
    "geometric": "POINTS_PER_PIECE",
    "lattice": "VERTICES_PER_PIECE",
    "weights": "ARCS_PER_PIECE",
}
SPECS = [
    "kron:11",
    "rmat:11:8:a=0.45:b=0.22:c=0.22:directed=yes",
    "rmat:9:permuted=no",
    "uniform:11:4",
    "rgg:11",
    "grid:70x50",
    "delaunay:9",
    "regular:300:7",
    "regular:41:30",
    "smallworld:500:6:0.3",
    "path:100",
    "cycle:100",
    "star:100",
    "tree:3:5",
    "complete:40",
]
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


@pytest.fixture
def small_memory(monkeypatch):
    """Make every graph of more than a few thousand edges an absurd one."""
    monkeypatch.setattr(size, "memory", lambda: 100_000)


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


# ---------------------------------------------------------------------- random numbers


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_permutation_is_a_bijection(seed):
    for count in [*range(1, 301), *(1 << bits for bits in range(9, 15))]:
        order = permutation(count, seed, "test")
        images = sorted(int(permuted(value, order)) for value in range(count))
        assert images == list(range(count))


def test_permutation_tears_neighbours_apart():
    count = 1 << 14
    order = permutation(count, 0, "test")
    images = np.array([int(permuted(value, order)) for value in range(count)])
    steps = np.bincount((images[1:] - images[:-1]) % count * 64 // count, minlength=64)
    expected = count / 64
    assert ((steps - expected) ** 2 / expected).sum() < 120  # 63 degrees of freedom: p about 1e-5


def test_random_numbers_are_spread():
    stream = key(0, "test")
    assert stream != key(1, "test")
    assert stream != key(0, "tests")
    values = np.array([unit(stream, index) for index in range(10_000)])
    assert 0 <= values.min() < 0.001
    assert 0.999 < values.max() < 1
    assert abs(values.mean() - 0.5) < 0.02
    figures = np.bincount([below(stream, index, 7) for index in range(7_000)])
    assert len(figures) == 7
    assert abs(figures - 1000).max() < 150


def test_repeated_finds_all_but_the_first():
    assert repeated(np.array([5, 3, 5, 5, 3, 1])).tolist() == [2, 3, 4]
    assert repeated(np.array([], np.int64)).tolist() == []


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


# ---------------------------------------------------------------------- the text form


def test_specs_are_told_from_files():
    assert all(is_spec(spec) for spec in SPECS)
    assert is_spec("kron:")
    for text in ("kron", "kron.mtx", "", ":", "C:/kron:20", "kran:20", "KRON:20", "a/kron:20"):
        assert not is_spec(text)


def test_known_forms():
    forms = known()
    assert forms["kron"] == "kron:SCALE[:EDGE_FACTOR]"
    assert forms["grid"] == "grid:WIDTHxHEIGHT[:REMOVED]"
    assert forms["smallworld"] == "smallworld:N:K:P"
    assert forms["rmat"].startswith("rmat:SCALE[:EDGE_FACTOR][:a=0.57]")
    assert forms["rmat"].endswith("[:directed=no][:permuted=yes]")
    assert set(forms) == {spec.split(":")[0] for spec in SPECS} == set(summaries())
    assert all(line.endswith(".") for line in summaries().values())


def test_keys_and_positions_say_the_same():
    assert same(generate("kron:6:8"), generate("kron:edge_factor=8:scale=6"))
    assert same(generate("grid:6x5:0.2"), generate("grid:width=6:height=5:removed=0.2"))
    assert generate("kron:5:simple=yes").num_self_loops == 0


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("kran:20", "unknown generator 'kran'; did you mean kron?"),
        ("zzz:20", "known: complete, cycle, delaunay"),
        ("", "unknown generator ''"),
        ("kron", "SCALE is missing; the form is kron:SCALE[:EDGE_FACTOR]"),
        ("kron:", "scale is an integer, not ''"),
        ("kron:x", "scale is an integer, not 'x'"),
        ("kron:4.0", "scale is an integer, not '4.0'"),
        ("kron:" + "9" * 5000, "scale is an integer"),
        ("kron:4:4:4", "'4' is one argument too many"),
        ("kron:4:scale=4", "scale is given twice"),
        ("kron:4:depth=4", "there is no key 'depth'"),
        ("kron:60", "scale=60 is not in 0..40"),
        ("kron:40", "this machine has"),
        ("kron:-1", "scale=-1 is not in 0..40"),
        ("kron:4:-1", "edge_factor=-1 is below 0"),
        ("kron:4:999999999999999999", "more vertices or edges than any memory holds"),
        ("rmat:4:a=0.9", "are not probabilities"),
        ("rmat:4:a=nan", "are not probabilities"),
        ("rmat:4:directed=perhaps", "directed is yes or no, not 'perhaps'"),
        ("grid:5", "'5' is not WIDTHxHEIGHT"),
        ("grid:5x5x5", "'5x5x5' is not WIDTHxHEIGHT"),
        ("grid:5x-5", "height=-5 is below 0"),
        ("grid:5x5:1.5", "removed=1.5 is not in 0..1"),
        ("grid:5x5:nan", "removed=nan is not in 0..1"),
        ("grid:999999999x999999999", "more vertices or edges"),
        ("rgg:5:inf", "radius_factor=inf is not a length"),
        ("rgg:5:-1", "radius_factor=-1.0 is not a length"),
        ("rgg:30:1000", "more vertices or edges"),
        ("delaunay:39", "this machine has"),
        ("uniform:38", "this machine has"),
        ("regular:5:3", "both odd"),
        ("regular:5:5", "degree=5 needs more than 5 vertices"),
        ("smallworld:10:3:0.5", "k=3 is not an even number below n=10"),
        ("smallworld:10:10:0.5", "k=10 is not an even number below n=10"),
        ("smallworld:10:4:2", "p=2.0 is not in 0..1"),
        ("smallworld:10:4", "P is missing"),
        ("path:-1", "n=-1 is below 0"),
        ("path:999999999999999", "more vertices or edges"),
        ("tree:0:3", "branching=0 is below 1"),
        ("tree:2:999999999999", "more vertices than any memory holds"),
        ("tree:1:999999999999999", "more vertices or edges"),
        ("complete:99999999", "more vertices or edges"),
        ("path:4:weights=5", "weights is a range such as 1-63, not '5'"),
        ("path:4:weights=5-1", "weights=5-1 is not a range"),
        ("path:4:seed=x", "seed is an integer, not 'x'"),
        ("path:4\n:5", "n is an integer, not '4\\n'"),
    ],
)
def test_bad_specs_are_refused_in_one_line(spec, said):
    with pytest.raises(OptionError) as caught:
        generate(spec)
    message = str(caught.value)
    assert said in message
    assert "\n" not in message
    assert len(message) < 300


def test_no_memory_is_told_as_such(monkeypatch):
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("broadfront.graph.generate.kronecker._draw", full)
    with pytest.raises(OutOfMemoryError, match="'kron:4': there is not enough free memory"):
        generate("kron:4")


def test_machine_memory_is_asked(monkeypatch, tmp_path):
    assert 1 << 20 < size.memory() <= size.LARGEST
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(size, "CONTAINER_LIMIT", limit)
    limit.write_text("max\n")
    free = size.memory()
    limit.write_text("1000000\n")
    assert size.memory() == 1_000_000 < free
    with pytest.raises(OptionError, match=r"need about .* this machine has 976.6 KiB"):
        generate("kron:16")


def test_progress_is_told():
    heard = []
    generate("kron:8", weights=(1, 2), progress=lambda *news: heard.append(news))
    assert {"generating edges", "drawing weights"} <= {stage for stage, _, _ in heard}
    assert all(0 <= done <= total for _, done, total in heard)


numbers = st.one_of(
    st.integers(-2, 40).map(str),
    st.integers().map(str),
    st.floats(-0.5, 1.5).map(str),
    st.sampled_from(["", "nan", "inf", "1e3", "3x4", "0x0", "x", "-", "seed=1", "weights=1-9",
                     "weights=9", "a=0.2", "simple=yes", "directed=yes", "removed=1"]),
)  # fmt: skip
likely = st.builds(
    lambda name, parts: ":".join([name, *parts]),
    st.sampled_from([*known(), "kran", ""]),
    st.lists(numbers, max_size=4),
)


@pytest.mark.usefixtures("small_memory")
def test_any_text_gives_a_graph_or_an_option_error():
    said: set[str] = set()

    @settings(max_examples=300, deadline=None)
    @given(st.one_of(likely, st.text(max_size=30)))
    def check(text: str) -> None:
        try:
            graph = generate(text)
        except OptionError as error:
            said.add(str(error))
        else:
            assert isinstance(graph, Graph)
            assert graph.origin.name == text

    check()
    assert said
    assert all(len(message.splitlines()) == 1 for message in said)


def test_weights_as_text_or_as_a_pair() -> None:
    text, pair = (generate("path:9", weights=weights) for weights in ("1-3", (1, 3)))
    np.testing.assert_array_equal(text.weights, pair.weights)
    for wrong in ("1", "a-b", 5, (1,), (1, 2, 3), (1.5, 2)):
        with pytest.raises(OptionError, match="expected a range such as"):
            generate("path:9", weights=wrong)  # type: ignore[arg-type]

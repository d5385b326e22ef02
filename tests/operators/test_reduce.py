"""Reductions by rows and by tiles: the same totals, for any tiles and any number of threads."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront import Field, Phase, Program, Reduce
from broadfront.backends.cpu.operators import tiles
from broadfront.graph.csr import Graph
from zoo import Animal, edges

THREADS = [1, 2, 4]
COMBINES = [("min", 1e9), ("max", -1.0), ("sum", 0.5)]


def offer(neighbor, state):  # type: ignore[no-untyped-def]
    return state.value[neighbor] * 0.7


def keep(vertex, total, state):  # type: ignore[no-untyped-def]
    state.total[vertex] = total
    return total


def program(combine: str, start: float, layout: str) -> Program:
    return Program(
        {
            "value": Field(np.float64),
            "total": Field(np.float64),
            "all": Field(np.float64, length=1),
        },
        step=[Reduce(offer, keep, identity=start, combine=combine, sums=("all",), layout=layout)],
    )


PROGRAMS = {
    (combine, layout): program(combine, start, layout)
    for combine, start in COMBINES
    for layout in ("rows", "tiles")
}


def in_tiles(graph: bf.Graph, bits: int) -> bf.Graph:
    """Cut a graph into tiles far smaller than it would be."""
    graph.kept("tiles", lambda: tiles.cut(graph.offsets, graph.targets, graph.num_vertices, bits))
    return graph


def compare(graph: bf.Graph, threads: int) -> None:
    value = np.random.default_rng(1).random(graph.num_vertices)
    for combine, _ in COMBINES:
        one, other = (
            bf.run(PROGRAMS[combine, layout], graph, init={"value": value}, threads=threads)
            for layout in ("rows", "tiles")
        )
        tolerance = 1e-12 if combine == "sum" else 0
        np.testing.assert_allclose(other["total"], one["total"], rtol=tolerance)
        np.testing.assert_allclose(other["all"], one["all"], rtol=1e-12)
        assert other.record.edges_visited == one.record.edges_visited == graph.num_arcs


@pytest.mark.parametrize("bits", [1, 3])
def test_zoo(animal: Animal, bits: int) -> None:
    compare(in_tiles(animal.graph(), bits), 2)


@given(edges(), st.integers(1, 6), st.sampled_from(THREADS))
def test_any_graph(animal: Animal, bits: int, threads: int) -> None:
    compare(in_tiles(animal.graph(), bits), threads)


@given(edges(), st.integers(1, 7))
def test_tiles_hold_every_arc_once(animal: Animal, bits: int) -> None:
    graph = animal.graph()
    cut = tiles.cut(graph.offsets, graph.targets, graph.num_vertices, bits)
    found = []
    for number in range(cut.stripes**2):
        target, source = divmod(number, cut.stripes)
        pairs = cut.pairs[cut.starts[number] : cut.starts[number + 1]].view(np.uint32)
        assert len(pairs) % tiles.TOGETHER == 0
        pairs = pairs[(pairs & 0xFFFF) < 1 << bits].astype(np.int64)
        found += zip(
            (pairs >> 16) + (source << bits), (pairs & 0xFFFF) + (target << bits), strict=True
        )
    assert sorted(found) == list(zip(graph.sources(), graph.targets, strict=True))
    assert cut.arcs.sum() == graph.num_arcs


@pytest.mark.parametrize("layout", ["rows", "tiles"])
@pytest.mark.parametrize("spec", ["kron:12", "grid:70x70", "rmat:12:4:directed=yes"])
def test_same_bits_for_any_number_of_threads(spec: str, layout: str) -> None:
    graph = in_tiles(bf.generate(spec), 7)
    start = {"value": np.random.default_rng(1).random(graph.num_vertices)}
    alone = bf.run(PROGRAMS["sum", layout], graph, init=start, threads=1)
    for threads in (2, 3, 4):
        found = bf.run(PROGRAMS["sum", layout], graph, init=start, threads=threads)
        np.testing.assert_array_equal(found["total"], alone["total"])
        assert found["all"][0] == alone["all"][0]


def test_vertex_ids_of_64_bits() -> None:
    small = bf.generate("rmat:9:directed=yes")
    graph = Graph(
        small.offsets.astype(np.int64), small.targets.astype(np.int64), None,
        directed=True, self_loops=small.num_self_loops,
    )  # fmt: skip
    compare(in_tiles(graph, 5), 2)


# ---------------------------------------------------------------------- what users write


def own_label(neighbor, state):  # type: ignore[no-untyped-def]
    return state.label[neighbor]


def take_smaller(vertex, least, state):  # type: ignore[no-untyped-def]
    before = state.label[vertex]
    state.label[vertex] = min(before, least)
    return before > least


def settled(state):  # type: ignore[no-untyped-def]
    return state.changed[0] == 0


@pytest.mark.parametrize("layout", [None, "rows", "tiles"])
def test_labels_that_are_written_where_they_are_read(layout: str | None) -> None:
    """Integers stay integers, beyond 2**53 too, and a step sees the labels before it."""
    far = 2**60
    spread = Program(
        {"label": Field(np.int64), "changed": Field(np.float64, length=1)},
        phases=[
            Phase(
                [
                    Reduce(
                        own_label, take_smaller, identity=2**62, combine="min", sums=("changed",),
                        layout=layout,
                    )
                ],
                until=settled,
            )
        ],
    )  # fmt: skip
    path = in_tiles(bf.generate("path:200"), 4)
    for threads in THREADS:
        answer = bf.run(spread, path, init={"label": far + np.arange(200)}, threads=threads)
        assert (answer["label"] == far).all()
        assert answer.record.iterations == 200


def test_wrong_reductions() -> None:
    def at_every_edge(neighbor, vertex, edge, state):  # type: ignore[no-untyped-def]
        return state.value[neighbor]

    with pytest.raises(bf.OptionError, match="layout='squares': expected one of rows, tiles"):
        Reduce(offer, keep, layout="squares")
    with pytest.raises(bf.OptionError, match=r"needs a functor\(neighbor, state\)"):
        Reduce(at_every_edge, keep, layout="tiles")
    with pytest.raises(bf.OptionError, match="combine='mean'"):
        Reduce(offer, keep, combine="mean")
    real_for_integers = Program(
        {"value": Field(np.float64), "total": Field(np.float64)},
        step=[Reduce(offer, keep, identity=0)],
    )
    with pytest.raises(bf.FunctorError, match="functor offer returns float64, which does not go"):
        bf.run(real_for_integers, bf.from_edges([0], [1]))


def never(state):  # type: ignore[no-untyped-def]
    return False


@pytest.mark.parametrize("threads", THREADS)
def test_a_time_limit_stops_tiles(threads: int) -> None:
    endless = Program(
        {"value": Field(np.float64), "total": Field(np.float64)},
        phases=[Phase([Reduce(offer, keep, layout="tiles")], until=never)],
    )
    graph = in_tiles(bf.generate("kron:9"), 5)
    with pytest.raises(bf.TimeLimitError):
        bf.run(endless, graph, threads=threads, time_limit=0.2)


@pytest.mark.parametrize(
    ("phase", "often"), [({}, False), ({"limit": 2}, False), ({"limit": 9}, True)]
)
def test_tiles_are_not_cut_for_a_few_iterations(phase: dict, often: bool) -> None:
    graph = bf.generate("grid:100x100")
    before = graph.nbytes
    fields = {"value": Field(np.float64, fill=1), "total": Field(np.float64)}
    answer = bf.run(Program(fields, phases=[Phase([Reduce(offer, keep)], **phase)]), graph)
    np.testing.assert_allclose(answer["total"], 0.7 * graph.degrees, rtol=1e-12)
    assert (graph.nbytes > before) == often


# ---------------------------------------------------------------------- kept with the graph


def test_tiles_are_kept_with_the_graph_and_go_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = bf.generate("kron:10")
    before = graph.nbytes
    plain = bf.pagerank(graph, tol=1e-12)
    assert graph.nbytes == before
    monkeypatch.setattr(tiles, "LARGE", 500)
    found = bf.pagerank(graph, tol=1e-12)
    found.verify()
    np.testing.assert_allclose(found.rank, plain.rank, rtol=1e-12)
    assert before + 4 * graph.num_arcs <= graph.nbytes <= before + 5 * graph.num_arcs
    kept = graph.kept("tiles", lambda: ())
    bf.pagerank(graph)
    assert graph.kept("tiles", lambda: ()) is kept
    assert pickle.loads(pickle.dumps(graph)).nbytes == before
    pairs = weakref.ref(kept.pairs)
    del graph, kept, found, plain
    gc.collect()
    assert pairs() is None


def test_who_gets_tiles() -> None:
    class Size:
        def __init__(self, vertices: int, arcs: int) -> None:
            self.num_vertices, self.num_arcs = vertices, arcs

    assert not tiles.suit(Size(0, 0))  # type: ignore[arg-type]
    assert not tiles.suit(Size(1 << 13, 1 << 24))  # type: ignore[arg-type]
    assert tiles.suit(Size(1 << 18, 1 << 20))  # type: ignore[arg-type]
    assert tiles.suit(Size(1 << 26, 1 << 30))  # type: ignore[arg-type]
    assert not tiles.suit(Size(1 << 26, 1 << 20))  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", ["kron:14", "rmat:14:8:directed=yes"])
def test_tiles_of_parts(spec: str) -> None:
    graph = bf.generate(spec)
    assert tiles.suit(graph)
    alone = bf.pagerank(graph, tol=1e-10)
    many = bf.pagerank(graph, tol=1e-10, devices=3, threads=1)
    many.verify()
    np.testing.assert_allclose(many.rank, alone.rank, rtol=1e-9)

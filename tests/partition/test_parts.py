"""Parts: what each device gets, and that together they are the graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from broadfront import threads
from reassembly import check
from zoo import Animal, edges

COUNTS = (1, 2, 3, 8)
MODES = [(relabel, back) for relabel in (True, False) for back in (False, True)]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(("relabel", "looks_back"), MODES)
def test_the_zoo(animal: Animal, count: int, relabel: bool, looks_back: bool) -> None:
    for by in ("random", "range", "static"):
        check(bf.split(animal.graph(), count, by), relabel, looks_back)


@given(edges(), st.sampled_from([1, 2, 3, 8, 50]), st.sampled_from(MODES), st.randoms())
def test_any_owners(animal: Animal, count: int, mode: tuple[bool, bool], chance: object) -> None:
    def anyhow(graph: bf.Graph, count: int) -> list[int]:
        return [chance.randrange(count) for _ in range(graph.num_vertices)]  # type: ignore[attr-defined]

    check(bf.split(animal.graph(), count, anyhow), *mode)


@pytest.mark.parametrize("weights", ["int32", "int64", "float32", "float64"])
def test_weights_keep_their_kind(weights: str) -> None:
    chance = np.random.default_rng(5)
    ends = chance.integers(0, 200, (2, 3000))
    scale = 2**40 if weights == "int64" else 1  # small ones are kept as int32
    graph = bf.from_edges(*ends, weight=(chance.integers(1, 99, 3000) * scale).astype(weights))
    for mode in MODES:
        partition = bf.split(graph, 4)
        check(partition, *mode)
        for part in partition.parts(*mode):
            assert part.weights is not None
            assert part.weights.dtype == weights


def test_more_parts_than_a_byte_holds() -> None:
    partition = bf.split(bf.generate("kron:9"), 300)
    assert partition.owner.dtype == np.uint16
    check(partition, True, False)


def test_wide_ids() -> None:
    narrow = bf.generate("kron:8")
    wide = bf.Graph(
        narrow.offsets.astype(np.int64), narrow.targets.astype(np.int64), None,
        directed=False, self_loops=narrow.num_self_loops,
    )  # fmt: skip
    for mode in MODES:
        check(bf.split(wide, 3), *mode)


def test_the_same_parts_on_any_number_of_threads() -> None:
    graph = bf.generate("kron:12:weights=1-9")
    for relabel in (True, False):
        found = []
        for number in (1, 2, 5):
            with threads.limit(number):
                found.append(bf.split(graph, 6).parts(relabel=relabel))
        for parts in found[1:]:
            for part, first in zip(parts, found[0], strict=True):
                for name, value in vars(first).items():
                    np.testing.assert_array_equal(getattr(part, name), value, name)


def test_parts_are_built_once() -> None:
    partition = bf.split(bf.generate("kron:8"), 3)
    first = partition.parts()
    assert partition.parts(looks_back=True)[0] is first[0], "undirected: looking back is free"
    assert partition.parts(relabel=False)[0] is not first[0]
    directed = bf.split(bf.from_edges([0, 1], [1, 2]), 2)
    assert directed.parts()[0] is not directed.parts(looks_back=True)[0]


def test_one_part_is_the_graph_without_a_copy() -> None:
    graph = bf.generate("kron:8:weights=1-9")
    (part,) = bf.split(graph, 1).parts()
    assert np.shares_memory(part.targets, graph.targets)
    assert part.num_ghosts == 0
    assert part.in_offsets is part.offsets


def test_what_a_part_tells() -> None:
    (first, second) = bf.split(bf.generate("path:4"), 2, by="range").parts()
    assert first.ids is not None
    assert first.ids.tolist() == [0, 1, 2]
    assert first.ghost_starts.tolist() == [2, 2, 3]
    assert first.offsets.tolist() == [0, 1, 3, 3]
    assert first.targets.tolist() == [1, 0, 2]
    assert first.shared.tolist() == [1]
    assert second.shared.tolist() == [0]
    assert second.ids is not None
    assert second.ids.tolist() == [2, 3, 1]
    assert repr(first) == "Part(0 of 2, 2 owned, 1 ghosts, 3 arcs, 92 bytes)"
    arrays = (first.ids, first.ghost_starts, first.shared_starts, first.shared, first.offsets,
              first.targets)  # fmt: skip
    assert first.nbytes == sum(array.nbytes for array in arrays)


def test_vertices_of_like_degree_are_together_where_degrees_differ_much() -> None:
    star = bf.from_edges([9] * 40, range(10, 50), directed=False)
    hub = star.vertex(9)
    for part in bf.split(star, 2).parts():
        assert part.ids is not None
        first = part.ids[0] if hub in part.owned_ids else part.ids[part.owned]
        assert first == hub, "the hub is first among its like, at its owner and as a copy"
    grid = bf.split(bf.generate("grid:9x9"), 3)
    assert all((np.diff(part.owned_ids) > 0).all() for part in grid.parts())


@pytest.mark.parametrize("spec", ["kron:8", "grid:9x9"])
def test_where_vertices_are(spec: str) -> None:
    graph = bf.generate(spec)
    partition = bf.split(graph, 3)
    parts = partition.parts()
    everyone = np.arange(graph.num_vertices)
    for part in parts:
        assert part.ids is not None
        found = partition.positions(everyone, part, parts)
        known = {int(vertex): place for place, vertex in enumerate(part.ids)}
        assert found.tolist() == [known.get(vertex, -1) for vertex in range(len(everyone))]


def test_interrupting_leaves_a_partition_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    partition = bf.split(bf.generate("kron:8"), 4)

    def stop(stage: str, done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    from broadfront import progress

    with threads.limit(1), pytest.raises(KeyboardInterrupt), progress.listening(stop):
        partition.parts()
    check(partition, True, False)

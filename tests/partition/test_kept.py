"""Partitions by name: found again either way, and dropped beyond the budget."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import broadfront as bf
from broadfront.clock import Clock
from broadfront.execution import spread
from broadfront.partition.kept import kept_with


def test_the_same_arguments_find_it_again() -> None:
    graph = bf.generate("kron:8")
    first = bf.split(graph, 2, "biased", seed=3, speeds=[2, 1], factor=0.5)
    assert bf.split(graph, 2, "biased", seed=3, speeds=(2.0, 1.0), factor=0.5) is first
    assert bf.split(graph, 2, "biased", seed=4, speeds=[2, 1], factor=0.5) is not first
    assert bf.split(graph, 2, "biased", seed=3, factor=0.5) is not first
    assert bf.split(graph, 2, "biased", seed=3, speeds=[2, 1]) is not first
    assert bf.split(bf.generate("kron:8"), 2, "biased", seed=3, speeds=[2, 1]) is not first


@pytest.mark.parametrize(("devices", "speeds"), [(2, None), (["cpu*2", "cpu"], [2, 1])])
def test_a_run_uses_what_was_split(
    monkeypatch: pytest.MonkeyPatch, devices: object, speeds: list[int] | None
) -> None:
    graph = bf.generate("kron:8")
    partition = bf.split(graph, 2, "metis", speeds=speeds)
    found = []

    def noted(*given: object, **options: object) -> bf.Partition:
        found.append(bf.split(*given, **options))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(spread, "split", noted)
    bf.bfs(graph, 0, devices=devices, partitioner="metis")  # type: ignore[arg-type]
    assert found == [partition]
    assert partition.nbytes > partition.owner.nbytes  # its parts were built, for this run


def test_a_split_finds_what_a_run_made() -> None:
    graph = bf.generate("kron:8")
    bf.bfs(graph, 0, devices=2, partitioner="range")
    assert bf.split(graph, 2, "range").nbytes > graph.targets.nbytes


def test_a_users_own_function_is_asked_each_time() -> None:
    graph = bf.generate("path:10")

    def halves(graph: bf.Graph, count: int) -> np.ndarray:
        return np.arange(graph.num_vertices) % count

    assert bf.split(graph, 2, halves) is not bf.split(graph, 2, halves)
    assert len(kept_with(graph)) == 0


# ---------------------------------------------------------------------- the budget


def run_on_many(graph: bf.Graph) -> list[weakref.ref[bf.Partition]]:
    made = []
    for by in ("random", "static", "range", "biased"):
        for devices in (2, 3):
            bf.bfs(graph, 0, devices=devices, partitioner=by)
            bf.bfs(graph, 0, devices=devices, partitioner=by, relabel=False)
            made.append(weakref.ref(bf.split(graph, devices, by)))
    return made


@pytest.mark.parametrize("factor", [0.5, 2, 5])
def test_the_least_recently_used_go(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    monkeypatch.setenv("BROADFRONT_KEEP", str(factor))
    graph = bf.generate("kron:10")
    alive = [one() is not None for one in run_on_many(graph)]
    assert alive == sorted(alive)
    assert alive[-1]
    assert sum(alive) == len(kept_with(graph)) < len(alive)
    last = bf.split(graph, 3, "biased")
    held = sum(one.nbytes for one in kept_with(graph)._made.values())
    assert held <= max(factor * graph.nbytes, last.nbytes)


def test_all_that_hangs_on_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADFRONT_KEEP", "0.1")
    graph = bf.generate("kron:10")
    bf.bfs(graph, 0, devices=2, partitioner="static")
    parts = [weakref.ref(part) for part in bf.split(graph, 2, "static").parts()]
    assert all(part() is not None for part in parts)
    bf.bfs(graph, 0, devices=2, partitioner="range")
    assert all(part() is None for part in parts)


def test_what_a_user_holds_lives_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADFRONT_KEEP", "0")
    graph = bf.generate("kron:8")
    mine = bf.split(graph, 2)
    parts = mine.parts()
    bf.bfs(graph, 0, devices=2)
    assert len(kept_with(graph)) == 0
    assert mine.parts()[0] is parts[0]
    bf.bfs(graph, 0, devices=2, partitioner=mine).verify()


def test_one_in_use_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = bf.generate("kron:8")
    first = bf.split(graph, 2)
    first.parts()
    kept = kept_with(graph)
    monkeypatch.setenv("BROADFRONT_KEEP", "0")
    with kept.using(first):
        bf.split(graph, 3)
        assert list(kept._made.values()) == [first]
    assert len(kept) == 0


def test_forgetting_by_hand() -> None:
    graph = bf.from_edges([0, 1, 2, 0], [1, 2, 3, 3])
    small = graph.nbytes
    bf.pagerank(graph)
    bf.bfs(graph, 0, devices=2, relabel=False)
    bf.connected_components(graph, method="min_label")
    first = weakref.ref(bf.split(graph, 2))
    turned = graph.transpose
    assert graph.has_transpose
    graph.forget()
    gc.collect()  # the undirected view and its partitions refer to each other
    assert first() is None
    assert not graph.has_transpose
    assert graph.nbytes == small
    np.testing.assert_array_equal(turned.transpose.targets, graph.targets)
    bf.bfs(graph, 0, devices=2).verify()


@pytest.mark.parametrize("wrong", ["x", "-1", "nan"])
def test_a_factor_that_is_none(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("BROADFRONT_KEEP", wrong)
    with pytest.raises(bf.OptionError, match=f"BROADFRONT_KEEP='{wrong}'"):
        bf.split(bf.generate("path:5"), 2)


# ---------------------------------------------------------------------- the record


def test_splitting_and_building_are_told_apart() -> None:
    graph = bf.generate("kron:10")
    clock = Clock()
    first = bf.bfs(graph, 0, devices=2, partitioner="biased").report
    assert first.prepare_seconds > 0
    assert first.seconds + first.prepare_seconds <= clock.seconds
    again = bf.bfs(graph, 0, devices=2, partitioner="biased").report
    assert again.prepare_seconds < first.prepare_seconds
    assert again.totals()["prepare_seconds"] == again.prepare_seconds

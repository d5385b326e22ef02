"""The value: quality against a plain computation, files, tables, copies."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import broadfront as bf
from zoo import Animal, edges


def check_quality(partition: bf.Partition) -> None:
    graph, owner, count = partition.graph, partition.owner.astype(int), partition.count
    source, target = graph.sources(), graph.targets
    cut = owner[source] != owner[target]
    quality = partition.quality()
    np.testing.assert_array_equal(quality.vertices, np.bincount(owner, minlength=count))
    np.testing.assert_array_equal(quality.arcs, np.bincount(owner[source], minlength=count))
    np.testing.assert_array_equal(
        quality.arcs_cut, np.bincount(owner[source][cut], minlength=count)
    )
    edges_cut = cut.sum() if graph.directed else cut.sum() // 2
    assert quality.edges_cut == edges_cut
    assert quality.fraction_cut == pytest.approx(edges_cut / max(1, graph.num_edges))
    ghosts = [len(np.unique(target[cut & (owner[source] == part)])) for part in range(count)]
    assert quality.ghosts.tolist() == ghosts
    size = graph.num_vertices
    assert quality.replication == pytest.approx((size + sum(ghosts)) / size if size else 1)
    for balance, amounts in (
        (quality.vertex_balance, quality.vertices),
        (quality.edge_balance, quality.arcs),
    ):
        assert balance == pytest.approx(amounts.max() / amounts.mean() if amounts.any() else 1)


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_quality_of_the_zoo(animal: Animal, count: int) -> None:
    check_quality(bf.split(animal.graph(), count))


@given(edges(), st.sampled_from([1, 2, 3, 8, 50]), st.integers(0, 99))
def test_quality_of_any(animal: Animal, count: int, seed: int) -> None:
    partition = bf.split(animal.graph(), count, seed=seed)
    check_quality(partition)
    parts = partition.parts()
    assert partition.quality().ghosts.tolist() == [part.num_ghosts for part in parts]


def test_balance_is_against_what_was_asked_for() -> None:
    graph = bf.generate("grid:30x30:0")
    partition = bf.split(graph, 2, "range", speeds=[3, 1])
    assert partition.speeds == (3.0, 1.0)
    assert partition.quality().edge_balance == pytest.approx(1, abs=0.02)
    assert bf.split(graph, 2, "range").quality().edge_balance == pytest.approx(1, abs=0.02)


def test_what_it_tells() -> None:
    partition = bf.split(bf.generate("path:10"), 2, "range")
    lines = repr(partition).splitlines()
    assert lines[0] == "Partition of 10 vertices, 9 edges, undirected, into 2 by range"
    assert lines[1] == "  5 to 5 vertices each"
    assert lines[2].endswith(" ms")
    partition.quality()
    assert "  1 edges cut, 11.1% of them" in repr(partition).splitlines()
    assert repr(bf.split(bf.from_edges([], []), 3)).startswith("Partition of 0 vertices")


def test_a_table_by_labels() -> None:
    graph = bf.from_edges(["a", "b", "c"], ["b", "c", "d"])
    table = bf.split(graph, 2, "static").to_pandas()
    assert table.columns.tolist() == ["vertex", "owner"]
    assert table["vertex"].tolist() == ["a", "b", "c", "d"]
    assert table["owner"].tolist() == [0, 1, 0, 1]


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("name", ["split.npz", "split", "split.npz.gz"])
def test_round_trip(tmp_path: Path, name: str) -> None:
    graph = bf.generate("kron:8")
    for count, speeds in ((1, None), (3, [2, 1, 1]), (300, None)):
        partition = bf.split(graph, count, speeds=speeds)
        partition.save(tmp_path / name)
        again = bf.Partition.load(tmp_path / name, graph)
        np.testing.assert_array_equal(again.owner, partition.owner)
        assert again.owner.dtype == partition.owner.dtype
        assert again.graph is graph
        assert (again.count, again.name, again.seconds, again.speeds) == (
            partition.count, partition.name, partition.seconds, partition.speeds
        )  # fmt: skip


def test_the_empty_graph_too(tmp_path: Path) -> None:
    graph = bf.from_edges([], [])
    bf.split(graph, 3).save(tmp_path / "none.npz")
    assert len(bf.Partition.load(tmp_path / "none.npz", graph).owner) == 0


def test_a_partition_of_another_graph(tmp_path: Path) -> None:
    path = tmp_path / "split.npz"
    bf.split(bf.generate("path:10"), 2).save(path)
    for other in ("path:11", "cycle:10"):
        with pytest.raises(bf.FormatError, match=r"split\.npz: a partition of another graph: 10"):
            bf.Partition.load(path, bf.generate(other))


def test_files_that_are_none(tmp_path: Path) -> None:
    graph = bf.generate("path:10")
    good, path = tmp_path / "good.npz", tmp_path / "bad.npz"
    bf.split(graph, 2).save(good)
    content = good.read_bytes()
    for wrong in (b"", b"no", content[:100], content[:-30], b"PK" + content[5:]):
        path.write_bytes(wrong)
        with pytest.raises(bf.FormatError, match=r"bad\.npz: not a partition"):
            bf.Partition.load(path, graph)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(bf.FormatError, match="not a partition"):
        bf.Partition.load(path, graph)
    with pytest.raises(FileNotFoundError):
        bf.Partition.load(tmp_path / "absent.npz", graph)


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (b'"count": 2', b'"count": 0', "not understood"),
        (b'"count": 2', b'"count": 1', "an owner is 1"),
        (b'"count": 2', b'"count": "x"', "not understood"),
        (b'"name": "random"', b'"name": 7', "not understood"),
        (b'"speeds": null', b'"speeds": [1.0]', "not understood"),
        (b"partition 1", b"partition 9", "found 'broadfront partition 9'"),
    ],
)
def test_facts_that_lie(tmp_path: Path, before: bytes, after: bytes, problem: str) -> None:
    graph = bf.generate("path:10")
    path = tmp_path / "split.npz"
    bf.split(graph, 2).save(path)
    with np.load(path) as arrays:
        owner, facts = arrays["owner"], arrays["facts"].tobytes()
    assert before in facts
    np.savez(path, owner=owner, facts=np.frombuffer(facts.replace(before, after), np.uint8))
    with pytest.raises(bf.FormatError, match=problem):
        bf.Partition.load(path, graph)


def test_owners_that_lie(tmp_path: Path) -> None:
    graph = bf.generate("path:10")
    path = tmp_path / "split.npz"
    bf.split(graph, 2).save(path)
    with np.load(path) as arrays:
        facts = arrays["facts"]
    for owner in (np.zeros(9, np.uint8), np.zeros(10, np.int64), np.zeros((10, 1), np.uint8)):
        np.savez(path, owner=owner, facts=facts)
        with pytest.raises(bf.FormatError, match="unexpected owners"):
            bf.Partition.load(path, graph)


@pytest.mark.parametrize(
    ("owner", "count", "message"),
    [
        ([0, 1, 2, 0], 2, "gave vertex 2 to 2, which is not a part in 0..1"),
        ([0, -1, 0, 0], 2, "gave vertex 1 to -1"),
        ([0, 1, 0], 2, r"shape \(3,\); expected \(4,\)"),
        ([0.5, 1, 0, 0], 2, "float64; expected integers"),
        ([[0], [0, 1]], 2, "returned no array"),
        ([0, 1, 0, 1], 0, "count=0"),
        ([0, 1, 0, 1], 10**9, "1 to 1,024"),
    ],
)
def test_owners_that_make_no_sense(owner: Any, count: int, message: str) -> None:
    with pytest.raises(bf.OptionError, match=message):
        bf.Partition(bf.generate("path:4"), owner, count, "by hand")


def test_owners_given_by_hand() -> None:
    graph = bf.generate("path:4")
    given = np.array([1, 0, 1, 0])
    partition = bf.Partition(graph, given, 2, "by hand")
    assert partition.owner.dtype == np.uint8
    given[:] = 9
    assert partition.owner.tolist() == [1, 0, 1, 0]
    assert bf.bfs(graph, 0, partitioner=partition, devices=2).depth.tolist() == [0, 1, 2, 3]


def test_saving_is_whole_or_not_at_all(tmp_path: Path) -> None:
    partition = bf.split(bf.generate("path:10"), 2)
    with pytest.raises(OSError, match="absent"):
        partition.save(tmp_path / "absent" / "split.npz")
    partition.save(tmp_path / "split.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["split.npz"]
    assert zipfile.is_zipfile(tmp_path / "split.npz")


def test_pickles() -> None:
    partition = bf.split(bf.generate("kron:8"), 3)
    partition.parts()
    again = pickle.loads(pickle.dumps(partition))
    np.testing.assert_array_equal(again.owner, partition.owner)
    assert not again.owner.flags.writeable
    assert [part.num_arcs for part in again.parts()] == [p.num_arcs for p in partition.parts()]
    part = pickle.loads(pickle.dumps(partition.parts()[0]))
    np.testing.assert_array_equal(part.targets, partition.parts()[0].targets)

"""Studies of tiny graphs: bfs for real on two devices, the rest by pretence."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.benchmark.asked import ASKED
from broadfront.partition.partition import Partition
from broadfront.scaling import Settings, Study, measure
from scaling.made_up import Pretender

SMALL: dict[str, Any] = {"graphs": ["rgg=rgg:6"], "primitives": ["bfs"], "devices": [2],
                         "repeats": 3}  # fmt: skip


@pytest.fixture
def pretender(monkeypatch: pytest.MonkeyPatch) -> Pretender:
    made = Pretender()
    monkeypatch.setitem(ASKED, "bfs", made)
    return made


def test_strong_scaling_of_a_real_search() -> None:
    said: list[str] = []
    found = bf.scaling.study(studies=["strong"], **SMALL, tell=said.append)
    one, two = found.rows
    graph = bf.generate("rgg:6")
    assert (one.devices, two.devices, one.threads, two.threads) == (1, 2, 1, 1)
    for row in (one, two):
        assert (row.study, row.family, row.graph, row.status) == ("strong", "rgg", "rgg:6", "done")
        assert (row.vertices, row.edges) == (graph.num_vertices, graph.num_edges)
        assert len(row.trials) == 3
        assert row.seconds == sorted(row.trials)[1] > 0
        assert 0 < row.edges_reached <= graph.num_edges
    assert one.frontier[0] == 1
    assert two.frontier == ()
    assert (one.redundancy, one.bytes_sent, one.partition_seconds) == (1, 0, 0)
    assert two.redundancy == two.edges_visited / one.edges_visited
    assert two.bytes_sent > 0 < two.partition_seconds
    assert two.memory_bytes > one.memory_bytes > graph.nbytes
    assert not found.stopped
    assert said[0] == "rgg:6: loading"
    assert said[1].startswith("1 of 1: strong bfs on rgg:6: 1x1 ")


def test_every_repeat_has_the_next_source_on_all_devices(pretender: Pretender) -> None:
    bf.scaling.study(studies=["strong"], **{**SMALL, "graphs": ["rgg=rgg:8"]})
    asked = pretender.asked
    sources = [{one["source"] for one in asked[2 * turn : 2 * turn + 2]} for turn in range(4)]
    assert [len(some) for some in sources] == [1] * 4
    assert sources[0] == sources[1]  # the first call, and the first repeat
    assert len(set.union(*sources)) == 3
    assert {one["devices"] for one in asked[2:4]} == {1, 2}


def test_runs_of_a_cell_are_repeated_equally_often_within_the_limit(pretender: Pretender) -> None:
    found = bf.scaling.study(studies=["strong"], **{**SMALL, "repeats": 50}, limit_seconds=1e-9)
    assert [len(row.trials) for row in found.rows] == [1, 1]


def test_ways_to_run_are_passed_on(pretender: Pretender) -> None:
    settings = {**SMALL, "repeats": 1, "threads": 2}
    found = bf.scaling.study(
        studies=["partitioners", "ids", "memory"], partitioners=["static"], **settings
    )
    assert [(row.study, row.variant) for row in found.rows] == [
        ("partitioners", "random"), ("partitioners", "static"), ("ids", "relabelled"),
        ("ids", "kept"), ("memory", "minimal"), ("memory", "profile"), ("memory", "fixed"),
    ]  # fmt: skip
    many = [one for one in pretender.asked if one["devices"] == 2]
    assert all(isinstance(one["partitioner"], Partition) for one in many)
    assert {one["partitioner"].name for one in many} == {"random", "static"}
    assert {one["relabel"] for one in many} == {True, False}
    schemes = {one.get("memory") for one in many}
    assert {scheme for scheme in schemes if isinstance(scheme, str)} == {"minimal", "fixed"}
    assert any(isinstance(scheme, bf.MemoryProfile) for scheme in schemes)
    assert {one["threads"] for one in pretender.asked} == {2}
    alone = [one for one in pretender.asked if one["devices"] == 1]
    assert len(alone) == 3
    assert not any("memory" in one or "partitioner" in one for one in alone)


def test_a_memory_scheme_may_need_a_record(pretender: Pretender) -> None:
    schemes = {"minimal": "minimal", "profile": lambda record: ("by", record.edges_visited)}
    found = bf.scaling.study(studies=["memory"], schemes=schemes, **SMALL)
    assert [row.variant for row in found.rows] == ["minimal", "profile"]
    assert found.settings["schemes"] == ["minimal", "profile"]
    profiles = {one["memory"] for one in pretender.asked if "memory" in one} - {"minimal"}
    assert profiles == {("by", found.rows[0].edges_visited)}
    del schemes["minimal"]
    with pytest.raises(bf.OptionError, match="--schemes profile: needs another scheme before it"):
        bf.scaling.study(studies=["memory"], schemes=schemes, **SMALL)


def test_weak_scaling_is_checked_on_each_graph(
    pretender: Pretender, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = {"weak-edges": (3, 2), "weak-vertices": (3, 2)}
    monkeypatch.setattr("broadfront.scaling.families.QUICK_WEAK", tiny)
    found = bf.scaling.study(studies=["weak-edges", "weak-vertices"], **SMALL, quick=True)
    assert [row.graph for row in found.rows] == ["rmat:3:2", "rmat:3:4", "rmat:3:2", "rmat:4:2"]
    assert [row.devices for row in found.rows] == [1, 2, 1, 2]
    assert all(row.status == "done" for row in found.rows)


def test_a_wrong_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def liar(graph: bf.Graph, question: Any, devices: int, **options: Any) -> bf.BreadthFirst:
        found = bf.bfs(graph, question.source, threads=1)
        if devices > 1:
            np.asarray(found.depth)[0] += 1
        return found

    monkeypatch.setitem(ASKED, "bfs", liar)
    found = bf.scaling.study(studies=["strong"], **SMALL)
    assert [row.status for row in found.rows] == ["done", "wrong"]
    assert found.rows[1].trials == ()
    assert "differs from that of one device" in found.table()
    assert "WRONG" in found.table()


def test_what_fails_on_many_devices_does_not_end_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def weakling(graph: bf.Graph, question: Any, devices: int, **options: Any) -> bf.BreadthFirst:
        if devices > 1:
            raise bf.DeviceMemoryError("cpu:1 needs more", 1, 10)
        return bf.bfs(graph, question.source, threads=1)

    monkeypatch.setitem(ASKED, "bfs", weakling)
    found = bf.scaling.study(studies=["strong"], **SMALL)
    assert [(row.status, row.note) for row in found.rows] == [
        ("done", ""), ("failed", "cpu:1 needs more"),
    ]  # fmt: skip
    assert "strong 2x1 bfs: failed, cpu:1 needs more (rgg:6)" in found.table()


def test_others_at_work_are_noted(pretender: Pretender, monkeypatch: pytest.MonkeyPatch) -> None:
    for busy, notes in ((0.1, []), (3.14, ["others were at work: load 3.1 at the start"])):
        monkeypatch.setattr(measure, "load_average", lambda busy=busy: busy)
        assert bf.scaling.study(studies=["strong"], **SMALL).notes == notes


def test_ctrl_c_keeps_what_there_is(pretender: Pretender) -> None:
    def press(line: str) -> None:
        if line.startswith("1 of 2"):
            raise KeyboardInterrupt

    settings = {**SMALL, "studies": ["strong", "ids"]}
    found = bf.scaling.study(**settings, tell=press)
    assert found.stopped
    assert [row.study for row in found.rows] == ["strong", "strong"]
    assert "stopped by Ctrl-C" in found.table()
    assert gc.isenabled()
    study = Study(Settings(**settings), press)
    with pytest.raises(KeyboardInterrupt):
        study.run()
    assert len(study.findings.rows) == 2

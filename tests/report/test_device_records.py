"""What a run on many devices tells."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront.report.devices import chrome_trace, one_after_the_other
from broadfront.report.record import joined
from problems import LABEL_PROPAGATION

GRAPH = bf.generate("grid:30x30")


def search(**options: object) -> bf.BreadthFirst:
    return bf.bfs(GRAPH, 0, threads=1, **options)  # type: ignore[arg-type]


def test_devices_add_up_to_the_whole() -> None:
    report = search(devices=3).report
    partition = bf.split(GRAPH, 3)
    quality = partition.quality()
    assert [one.owned for one in report.devices] == quality.vertices.tolist()
    assert [one.ghosts for one in report.devices] == quality.ghosts.tolist()
    assert [one.arcs for one in report.devices] == quality.arcs.tolist()
    for name in ("frontier", "edges"):
        total = np.sum([getattr(one, name) for one in report.devices], axis=0)
        np.testing.assert_array_equal(total, getattr(report, name))
    np.testing.assert_array_equal(report.frontier, search().report.frontier)
    for number, one in enumerate(report.devices):
        assert one.sent_bytes.shape == (report.iterations, 3)
        assert one.sent_bytes[:, number].sum() == 0
        assert (one.sent_vertices >= 0).all()
        assert one.bytes > one.part_bytes > 0


def test_times_are_those_of_computing_exchanging_and_waiting() -> None:
    report = search(devices=2).report
    for one in report.devices:
        parts = one.computing + one.exchanging + one.waiting
        np.testing.assert_allclose(parts, one.microseconds, atol=1e-6)
        assert (parts >= 0).all()
        ends = one.began[:-1] + 1000 * one.microseconds[:-1]
        assert (ends <= one.began[1:] + 1).all()


def test_totals() -> None:
    report = search(devices=2).report
    totals = report.totals()
    assert totals["devices"] == 2
    assert totals["bytes_sent"] == sum(one.sent_bytes.sum() for one in report.devices) > 0
    assert 1 <= totals["imbalance"] <= 2
    assert 1 <= totals["speed_up"] <= 2
    alone = search().report.totals()
    assert (alone["devices"], alone["bytes_sent"]) == (1, 0)


def test_redundancy_is_edges_visited_against_one_device() -> None:
    one, two = search().report, search(devices=2).report
    assert two.redundancy(one) == two.edges.sum() / one.edges.sum() > 0
    assert one.redundancy(one) == 1
    assert joined([one, one]).redundancy(one) == 2
    nothing = joined([])
    assert nothing.redundancy(nothing) == 1
    assert one.redundancy(nothing) == np.inf


def test_all_that_is_sent_is_counted_also_before_the_first_operator_is_done() -> None:
    """Labels go to ghosts before each round but the first: 8 - 1 times every ghost."""
    start = {"label": np.arange(GRAPH.num_vertices)}
    answer = bf.run(LABEL_PROPAGATION, GRAPH, init=start, parameters={"most_rounds": 8},
                    devices=2, threads=1)  # fmt: skip
    ghosts = bf.split(GRAPH, 2).quality().ghosts.sum()
    sent = np.sum([one.sent_vertices.sum(axis=1) for one in answer.record.devices], axis=0)
    assert answer.record.iterations == 8
    assert set(sent.tolist()) <= {0, ghosts}
    assert sent.sum() in (7 * ghosts, 8 * ghosts)
    assert (sent[1:] == ghosts).all()


def test_more_vertices_cross_where_more_edges_are_cut() -> None:
    by_range = search(devices=2, partitioner="range").report.totals()
    at_random = search(devices=2, partitioner="random").report.totals()
    assert by_range["vertices_sent"] < at_random["vertices_sent"]


def test_a_result_tells_of_its_devices() -> None:
    told = repr(search(devices=2))
    assert "ms on 2 devices by random, 2 threads" in told
    assert "vertices sent between devices" in told
    assert "devices" not in repr(search())


def test_runs_one_after_the_other() -> None:
    first, second = search(devices=2).report, search(devices=2).report
    both = joined([first, second])
    assert both.iterations == first.iterations + second.iterations
    assert [len(one.frontier) for one in both.devices] == [both.iterations] * 2
    assert one_after_the_other([first.devices, search(devices=3).report.devices]) == ()
    nothing = joined([])
    assert (nothing.iterations, nothing.edges_visited, nothing.peak_bytes) == (0, 0, 0)


def test_a_data_frame_per_device() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.concat([one.to_pandas() for one in search(devices=2).report.devices])
    assert set(frame["device"]) == {"cpu:0", "cpu:1"}
    assert {"frontier", "sent_bytes", "computing", "waiting"} <= set(frame.columns)


def test_a_short_run_after_a_long_one_has_a_record_of_its_own() -> None:
    search(devices=2)
    near = bf.bfs(GRAPH, 0, target=1, devices=2, threads=1).report
    assert near.iterations <= 2
    for one in near.devices:
        assert (one.sent_bytes >= 0).all()
        assert (one.microseconds < 1e9).all()


def test_totals_of_a_long_run_are_exact() -> None:
    graph = bf.generate("path:40000")
    one = bf.bfs(graph, 0, threads=1).report
    where = {"devices": 2, "partitioner": "range", "execution": "bsp"}
    report = bf.bfs(graph, 0, threads=1, **where).report
    assert report.iterations == report.spans.sum() == 40_000
    assert len(report.spans) == len(one.spans) < 40_000
    assert report.edges_visited == one.edges_visited == graph.num_arcs
    assert report.redundancy(one) == 1
    np.testing.assert_array_equal(report.frontier, one.frontier)
    totals = report.totals()
    assert totals["vertices_sent"] == sum(one.sent_vertices.sum() for one in report.devices) > 0
    for device in report.devices:
        assert device.sent_bytes.shape == (len(report.spans), 2)
        assert (device.sent_bytes >= 0).all()
        assert device.frontier.sum() == device.owned
        np.testing.assert_array_equal(device.spans, report.spans)
        assert device.to_pandas()["iterations"].sum() == 40_000
        assert (np.diff(device.began) >= 0).all()
    events = chrome_trace(report)["traceEvents"]
    assert sum(event["args"].get("iterations", 0) for event in events) == 2 * 3 * 40_000

"""What an asynchronous run tells of its time: rows that add up, in a fixed number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.backends.cpu.asynchronous import log
from broadfront.report.devices import chrome_trace

ROADS = bf.generate("grid:40x400")
WHERE: dict[str, Any] = {"devices": 3, "partitioner": "random", "execution": "async"}


def check(report: Any) -> None:
    """Check that rows are in order, and add up to the totals of the run."""
    work = report.work
    for number, device in enumerate(report.devices):
        assert 0 < len(device.began) == len(device.threshold) <= log.ROWS
        assert (np.diff(device.began) > 0).all()
        parts = device.computing + device.exchanging + device.waiting
        np.testing.assert_allclose(parts, device.microseconds, atol=1e-3)
        ends = device.began + 1000 * device.microseconds
        np.testing.assert_allclose(ends[:-1], device.began[1:])
        assert device.microseconds.sum() == pytest.approx(1e6 * work.seconds[number])
        assert device.frontier.sum() == work.consumed[number] - work.useless[number]
        np.testing.assert_array_equal(device.sent_bytes.sum(axis=0), work.bytes[number])
        assert device.edges.min() >= 0
    assert sum(device.edges.sum() for device in report.devices) == report.edges_visited


def test_rows_add_up() -> None:
    report = bf.bfs(ROADS, 0, **WHERE).report
    check(report)
    assert (report.devices[0].threshold >= 0).all()
    assert report.devices[0].threshold.max() > 100
    told = report.devices[0].to_pandas()
    assert len(told) == len(report.devices[0].began)
    at_each = told.groupby("threshold")[["computing", "exchanging", "waiting"]].sum()
    assert at_each.to_numpy().sum() == pytest.approx(report.devices[0].microseconds.sum())


def test_rows_of_a_long_run_cover_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "SPAN_AT_FIRST", 1)
    check(bf.bfs(ROADS, 1, **WHERE).report)


def test_the_trace_shows_what_devices_did_and_the_threshold() -> None:
    report = bf.bfs(ROADS, 2, **WHERE).report
    events = chrome_trace(report)["traceEvents"]
    for number, device in enumerate(report.devices):
        own = [event for event in events if event["pid"] == number]
        for stage in ("compute", "exchange", "wait"):
            lengths = [event["dur"] for event in own if event["name"] == stage]
            assert len(lengths) == len(device.began)
        lowest = [event["args"]["lowest bucket"] for event in own if event["ph"] == "C"]
        assert lowest == device.threshold.tolist()

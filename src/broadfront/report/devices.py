"""What each of several devices did: its part, its iterations, what it sent, how long it waited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import require

if TYPE_CHECKING:
    import pandas

    from broadfront.report.record import Record

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class DeviceRecord:
    """The record of one device.

    Attributes
    ----------
    name, threads
        What it is called, and how many threads it has.
    owned, ghosts, arcs
        The vertices that it owns, those of others that it has copies of, and arcs of its part.
    spans
        Per row, how many iterations it covers: 1 for the first 8,192, then more. Of an asynchronous
        run a row is a while, and spans are 1.
    frontier, edges, microseconds
        Per row: its own vertices, edges it traversed, and time.
    exchanging, waiting
        Per row, microseconds of packing and unpacking, and of waiting for others.
    sent_bytes, sent_vertices
        Per row and device: what it sent there.
    began
        Nanoseconds at which each row began, on a clock that all devices share.
    part_bytes, field_bytes, workspace_bytes, box_bytes
        Its memory: its part of the graph with its tiles, fields, what operators need, and boxes of
        messages.
    """

    name: str
    threads: int
    owned: int
    ghosts: int
    arcs: int
    spans: Array
    frontier: Array
    edges: Array
    microseconds: Array
    exchanging: Array
    waiting: Array
    sent_bytes: Array
    sent_vertices: Array
    began: Array
    part_bytes: int
    field_bytes: int
    workspace_bytes: int
    box_bytes: int
    threshold: Array = field(default_factory=lambda: np.empty(0, np.int64))
    """Per row of an asynchronous run, the lowest bucket of all devices when it ended."""

    @property
    def bytes(self) -> int:
        """All memory of the device."""
        return self.part_bytes + self.field_bytes + self.workspace_bytes + self.box_bytes

    @property
    def begins(self) -> Array:
        """Per row, its first iteration."""
        begins: Array = np.cumsum(self.spans) - self.spans
        return begins

    @property
    def computing(self) -> Array:
        """Per row, microseconds of operators."""
        left: Array = np.maximum(0.0, self.microseconds - self.exchanging - self.waiting)
        return left

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per iteration or, beyond 8,192, per several.

        Of an asynchronous run a row is a while, and there is a column ``threshold``.
        """
        pandas_: Any = require("pandas", "pandas")
        columns = {
            "device": self.name,
            "iteration": self.begins,
            "iterations": self.spans,
            "frontier": self.frontier,
            "edges": self.edges,
            "sent_bytes": self.sent_bytes.sum(axis=1),
            "sent_vertices": self.sent_vertices.sum(axis=1),
            "computing": self.computing,
            "exchanging": self.exchanging,
            "waiting": self.waiting,
        }
        if len(self.threshold):
            columns["threshold"] = self.threshold
        return pandas_.DataFrame(columns)


def summary(devices: Sequence[DeviceRecord]) -> dict[str, int | float]:
    """Return what matters of all devices together.

    ``speed_up`` is how many times the work of all devices fits into the time of the busiest,
    ``imbalance`` the edges that the busiest traversed against the mean.
    """
    computing = np.array([device.computing.sum() for device in devices])
    edges = np.array([device.edges.sum() for device in devices])
    return {
        "devices": len(devices),
        "bytes_sent": int(sum(device.sent_bytes.sum() for device in devices)),
        "vertices_sent": int(sum(device.sent_vertices.sum() for device in devices)),
        "speed_up": float(computing.sum() / max(1e-9, computing.max())),
        "imbalance": float(edges.max() / max(1.0, edges.mean())),
        "device_bytes": int(sum(device.bytes for device in devices)),
    }


def one_after_the_other(runs: Sequence[tuple[DeviceRecord, ...]]) -> tuple[DeviceRecord, ...]:
    """Return the records of devices over several runs; empty if these had not the same devices."""
    if not runs or len({len(run) for run in runs}) > 1:
        return ()
    return tuple(map(_joined, zip(*runs, strict=True)))


def _joined(records: Sequence[DeviceRecord]) -> DeviceRecord:
    together: dict[str, Any] = {}
    for name in (each.name for each in fields(DeviceRecord)):
        values = [getattr(record, name) for record in records]
        whole = isinstance(values[0], np.ndarray)
        together[name] = np.concatenate(values) if whole else max(values)
    return DeviceRecord(**together)


def chrome_trace(report: Record) -> dict[str, Any]:
    """Return a run as events that Chrome's and Perfetto's viewers show: a process per device."""
    if not report.devices:
        return {"traceEvents": [_name(0, "cpu:0"), *_alone(report)], "displayTimeUnit": "ms"}
    begin = min((int(one.began[0]) for one in report.devices if len(one.began)), default=0)
    events: list[dict[str, Any]] = []
    for number, device in enumerate(report.devices):
        events.append(_name(number, device.name))
        stages = {"compute": device.computing, "exchange": device.exchanging,
                  "wait": device.waiting}  # fmt: skip
        for row, iteration in enumerate(device.begins.tolist()):
            at = (int(device.began[row]) - begin) / 1000
            told = {
                "iteration": iteration,
                "iterations": int(device.spans[row]),
                "frontier": int(device.frontier[row]),
                "edges": int(device.edges[row]),
                "bytes_sent": int(device.sent_bytes[row].sum()),
            }
            if len(device.threshold):
                lowest = int(device.threshold[row])
                told["threshold"] = lowest
                events.append({"name": "threshold", "ph": "C", "pid": number, "ts": at,
                               "args": {"lowest bucket": lowest}})  # fmt: skip
            for stage, length in stages.items():
                events.append(_event(stage, number, at, length[row], told))
                at += float(length[row])
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _alone(report: Record) -> Iterator[dict[str, Any]]:
    """Give the iterations of one device, one after the other."""
    at = 0.0
    columns = report.by_iteration()
    for row, length in enumerate(report.microseconds.tolist()):
        told = {name: column[row].item() for name, column in columns.items()}
        yield _event(str(told["direction"]), 0, at, length, told)
        at += length


def _name(number: int, name: str) -> dict[str, Any]:
    return {"name": "process_name", "ph": "M", "pid": number, "tid": 0, "args": {"name": name}}


def _event(
    name: str, number: int, at: float, length: float, told: dict[str, Any]
) -> dict[str, Any]:
    return {"name": name, "ph": "X", "pid": number, "tid": 0, "ts": at, "dur": float(length),
            "args": told}  # fmt: skip

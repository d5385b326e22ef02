"""`--trace FILE`: what happened in each iteration, and on each device, as JSON.

After 8,192 iterations an entry covers several, `iterations` from `iteration` on.

There are two forms: columns by iteration, for programs, and events, for the viewers of Chrome and
Perfetto. The suffix ``.perfetto.json`` asks for the second.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from broadfront.graph import files
from broadfront.report.devices import DeviceRecord, chrome_trace
from broadfront.report.record import Record
from broadfront.report.result import Result

FORMATS = ("json", "chrome")


def add(command: argparse.ArgumentParser) -> None:
    """Add the options."""
    command.add_argument(
        "--trace", metavar="FILE", help="write what happened in each iteration, as JSON"
    )
    command.add_argument(
        "--trace-format", choices=FORMATS,
        help="columns, or events for the viewers of Chrome and Perfetto (*.perfetto.json)",
    )  # fmt: skip


def write(result: Result, path: str, form: str | None = None) -> None:
    """Write the record of a result in the form asked for, or in that of the suffix."""
    events = form == "chrome" or (form is None and path.endswith(".perfetto.json"))
    told = chrome_trace(result.report) if events else columns(result.report)
    with files.written(path) as stream:
        stream.write(json.dumps(told).encode())


def columns(report: Record) -> dict[str, Any]:
    """Return a record as plain values: totals, and columns by iteration and by device."""
    return {
        "totals": report.totals(),
        "iterations": {name: column.tolist() for name, column in report.by_iteration().items()},
        "devices": [_device(device) for device in report.devices],
    }


def _device(device: DeviceRecord) -> dict[str, Any]:
    columns = {"iteration": "begins", "iterations": "spans"}
    columns |= {name: name for name in ("frontier", "edges", "sent_bytes", "sent_vertices",
                                        "computing", "exchanging", "waiting")}  # fmt: skip
    if len(device.threshold):
        columns["threshold"] = "threshold"
    totals = ("name", "threads", "owned", "ghosts", "arcs", "bytes")
    return {
        **{name: getattr(device, name) for name in totals},
        "iterations": {name: getattr(device, held).tolist() for name, held in columns.items()},
    }

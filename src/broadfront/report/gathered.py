"""The record of a run on several devices, gathered from what each has left in its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.devices import control
from broadfront.devices.mail import EXCHANGED, HELD, LOG_ROWS, WAITED, log_columns
from broadfront.operators.cpu import frontier
from broadfront.report.devices import DeviceRecord
from broadfront.report.record import Record

if TYPE_CHECKING:
    from broadfront.devices.choose import Device
    from broadfront.execution.many import One

Array = NDArray[Any]


def gathered(
    crew: Sequence[One], devices: Sequence[Device], iterations: int, clock: Clock, team: Any
) -> Record:
    """Return the record of the run that has just ended, and leave the rows of it empty."""
    tables = [_table(one, iterations) for one in crew]
    told = [
        _device(one, device, table, len(crew))
        for one, device, table in zip(crew, devices, tables, strict=True)
    ]
    ways = np.bitwise_or.reduce([table[:, frontier.R_WAYS] for table in tables])
    ends = np.max([table[:, frontier.R_END] for table in tables], axis=0)
    begins = np.min([table[:, frontier.R_BEGIN] for table in tables], axis=0)
    held = [
        sum(device.field_bytes for device in told),
        sum(device.workspace_bytes + device.box_bytes for device in told),
    ]
    return Record(
        iterations,
        np.sum([table[:, frontier.R_FRONTIER] for table in tables], axis=0),
        np.sum([table[:, frontier.R_EDGES] for table in tables], axis=0),
        np.sum([table[:, frontier.R_ATOMICS] for table in tables], axis=0),
        ways,
        (ends - begins) / 1000,
        clock.seconds,
        clock.compile_seconds,
        clock.load_seconds,
        sum(device.threads for device in devices),
        int(team.control[:, control.BARRIERS].sum()),
        len(devices),
        np.array([held], np.int64),
        tuple(told),
    )


def _table(one: One, iterations: int) -> Array:
    rows = min(iterations, frontier.RECORD_ROWS)
    written = one.work.record[: rows * frontier.RECORD_COLUMNS]
    table = written.reshape(rows, frontier.RECORD_COLUMNS).copy()
    written[:] = 0
    return table


def _device(one: One, device: Device, table: Array, count: int) -> DeviceRecord:
    mail, part, rows = one.work.mail, one.part, len(table)
    columns = log_columns(count)
    log = mail.log[: min(rows, LOG_ROWS) * columns].reshape(-1, columns)
    last = [*mail.sent, *mail.account[[WAITED, EXCHANGED]]]
    steps = np.diff(np.vstack([log, last]), axis=0) if rows else log
    sent = steps[:, : 2 * count].reshape(rows, count, 2)
    waiting, exchanging = steps[:, -2] / 1000, steps[:, -1] / 1000
    begins, ends = table[:, frontier.R_BEGIN], table[:, frontier.R_END]
    microseconds = (ends - begins) / 1000 + exchanging
    return DeviceRecord(
        device.name, device.threads, part.owned, part.num_ghosts, part.num_arcs,
        table[:, frontier.R_FRONTIER], table[:, frontier.R_EDGES], microseconds,
        np.maximum(0.0, exchanging - waiting), waiting, sent[:, :, 0], sent[:, :, 1], begins,
        part.nbytes, sum(array.nbytes for array in one.fields.values()),
        one.space.asked_bytes + rows * 8 * (frontier.RECORD_COLUMNS + columns),
        int(mail.account[HELD]),
    )  # fmt: skip

"""The record of a run on several devices, gathered from what each has left in its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.devices import control
from broadfront.devices.growing import EXCHANGED, GROWTHS, WAITED
from broadfront.devices.mail import log_columns
from broadfront.devices.profile import MemoryProfile
from broadfront.operators.cpu import frontier
from broadfront.report.devices import DeviceRecord
from broadfront.report.record import Record

if TYPE_CHECKING:
    from broadfront.devices.choose import Device
    from broadfront.execution.many import One

Array = NDArray[Any]


def gathered(
    crew: Sequence[One],
    devices: Sequence[Device],
    iterations: int,
    clock: Clock,
    team: Any,
    profile: MemoryProfile,
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
        sum(int(one.work.account[GROWTHS]) for one in crew),
        profile,
    )


def _table(one: One, iterations: int) -> Array:
    rows = min(iterations, frontier.RECORD_ROWS)
    written = one.work.record[: rows * frontier.RECORD_COLUMNS]
    table = written.reshape(rows, frontier.RECORD_COLUMNS).copy()
    written[:] = 0
    return table


def _device(one: One, device: Device, table: Array, count: int) -> DeviceRecord:
    mail, part, rows = one.work.mail, one.part, len(table)
    begins = table[:, frontier.R_BEGIN]
    log = _log(mail, rows, count)
    first = np.zeros((1, log.shape[1]), np.int64)
    first[0, -1] = begins[0] if rows else 0
    steps = np.diff(np.vstack([first, log]), axis=0)
    sent = steps[:, : 2 * count].reshape(rows, count, 2)
    waiting, exchanging, lasting = (steps[:, -3:] / 1000).T
    return DeviceRecord(
        device.name, device.threads, part.owned, part.num_ghosts, part.num_arcs,
        table[:, frontier.R_FRONTIER], table[:, frontier.R_EDGES],
        np.maximum(lasting, exchanging), np.maximum(0.0, exchanging - waiting), waiting,
        sent[:, :, 0], sent[:, :, 1], np.append(first[:, -1], log[:-1, -1])[:rows],
        part.nbytes, sum(array.nbytes for array in one.fields.values()),
        one.space.asked_bytes + one.work.growing_bytes
        + rows * 8 * (frontier.RECORD_COLUMNS + log_columns(count)),
        int(mail.asked.sum()),
    )  # fmt: skip


def _log(mail: Any, rows: int, count: int) -> Array:
    """Return the log, the end of the run in its last row, and leave it empty.

    Rows never fall: one that nobody wrote is that of the iteration before.
    """
    columns = log_columns(count)
    written = mail.log[: rows * columns].reshape(rows, columns)
    log = np.maximum.accumulate(written, axis=0)
    written[:] = 0
    if rows:
        log[-1, :-1] = [*mail.sent, *mail.account[[WAITED, EXCHANGED]]]
    return log

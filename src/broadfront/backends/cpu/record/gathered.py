"""The record of a run on several devices, gathered from what each has left in its memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device.growing import EXCHANGED, GROWTHS, WAITED
from broadfront.backends.cpu.device.mail import log_columns
from broadfront.backends.cpu.device.timeline import iterations_of_rows
from broadfront.backends.cpu.operators import frontier
from broadfront.backends.cpu.record.alone import noted_iterations, taken
from broadfront.clock import Clock
from broadfront.devices.profile import MemoryProfile
from broadfront.report.devices import DeviceRecord
from broadfront.report.record import Record

if TYPE_CHECKING:
    from broadfront.backends.cpu.many import One
    from broadfront.devices.choose import Device

Array = NDArray[Any]


def gathered(
    crew: Sequence[One],
    devices: Sequence[Device],
    iterations: int,
    clock: Clock,
    team: Any,
    profile: MemoryProfile,
    partitioner: str,
) -> Record:
    """Return the record of the run that has just ended, and leave the rows of it empty."""
    iterations = noted_iterations([one.work.record for one in crew], iterations)
    spans, count = iterations_of_rows(iterations), len(crew)
    rows = len(spans)
    tables = np.array([taken(one.work.record, rows, frontier.COLUMNS) for one in crew])
    logs = _logs(crew, rows)
    began = np.concatenate([tables[:, :1, frontier.R_BEGIN], logs[:, :, -1]], axis=1)
    steps = np.diff(logs, axis=1, prepend=0)
    waiting, exchanged = steps[:, :, -3] / 1000, steps[:, :, -2] / 1000
    lasting = np.maximum(np.diff(began, axis=1) / 1000, exchanged)
    exchanging = np.maximum(0.0, exchanged - waiting)
    sent = steps[:, :, : 2 * count].reshape(count, rows, count, 2)
    told = tuple(
        DeviceRecord(
            device.name, device.threads, one.part.owned, one.part.num_ghosts, one.part.num_arcs,
            spans, table[:, frontier.R_FRONTIER], table[:, frontier.R_EDGES],
            lasting[number], exchanging[number], waiting[number],
            sent[number, :, :, 0], sent[number, :, :, 1], began[number, :-1],
            one.part.nbytes + one.extra_bytes, sum(array.nbytes for array in one.fields.values()),
            one.space.asked_bytes + one.work.growing_bytes,
            int(one.work.mail.asked.sum()),
        )
        for number, (one, device, table) in enumerate(zip(crew, devices, tables, strict=True))
    )  # fmt: skip
    held = [
        sum(device.field_bytes for device in told),
        sum(device.workspace_bytes + device.box_bytes for device in told),
    ]
    summed = tables.sum(axis=0)
    return Record(
        iterations,
        spans,
        summed[:, frontier.R_FRONTIER],
        summed[:, frontier.R_EDGES],
        summed[:, frontier.R_ATOMICS],
        np.bitwise_or.reduce(tables[:, :, frontier.R_WAYS], axis=0),
        _lasting(tables[:, :, frontier.R_BEGIN], tables[:, :, frontier.R_END]) / 1000,
        clock.run_seconds,
        clock.compile_seconds,
        clock.load_seconds,
        sum(device.threads for device in devices),
        int(team.control[:, control.BARRIERS].sum()),
        len(devices),
        np.array([held], np.int64),
        told,
        sum(int(one.work.account[GROWTHS]) for one in crew),
        profile,
        clock.prepare_seconds,
        partitioner,
    )


def _lasting(begins: Array, ends: Array) -> Array:
    """Return how long each row took, from the first device's begin; some have nothing in it."""
    first = np.where(ends > 0, begins, np.iinfo(np.int64).max).min(axis=0)
    lasting: Array = np.maximum(0, ends.max(axis=0) - first)
    return lasting


def _logs(crew: Sequence[One], rows: int) -> Array:
    """Return the logs of all devices, the end of the run in the last row of each.

    Rows never fall: one that nobody wrote is the one before.
    """
    columns = log_columns(len(crew))
    logs = np.array([taken(one.work.mail.log, rows, columns) for one in crew])
    np.maximum.accumulate(logs, axis=1, out=logs)
    if rows:
        for log, one in zip(logs, crew, strict=True):
            mail = one.work.mail
            log[-1, :-3] = mail.sent
            log[-1, -3:-1] = mail.account[WAITED], mail.account[EXCHANGED]
    return logs

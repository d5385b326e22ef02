"""The record of an asynchronous run: one row for all of it, and of each device rows of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from broadfront.backends.cpu.asynchronous import desk, worklist
from broadfront.backends.cpu.asynchronous.log import rows_of_log
from broadfront.backends.cpu.asynchronous.mailbox import HEADER_BYTES
from broadfront.clock import Clock
from broadfront.report.asynchronous import WorkRecord
from broadfront.report.devices import DeviceRecord
from broadfront.report.record import Record
from broadfront.report.ways import BUCKETS

if TYPE_CHECKING:
    from broadfront.backends.cpu.asynchronous.run import One
    from broadfront.devices.choose import Device
    from broadfront.execution.asynchronous.settings import Async


def recorded(
    crew: Sequence[One], devices: Sequence[Device], clock: Clock, how: Async, partitioner: str
) -> Record:
    """Return the record of the asynchronous run that has just ended: one row for all of it."""
    words = np.array([one.desk.words for one in crew])
    rings = crew[0].desk.mail.rings
    item = rings.keys.itemsize + rings.values.itemsize
    item += rings.sources.itemsize if len(rings.sources) else 0
    messages = np.array([one.desk.mail.outbox.messages for one in crew])
    entries = np.array([one.desk.mail.outbox.entries for one in crew])
    bytes_ = entries * item + messages * HEADER_BYTES
    seconds = (words[:, desk.ENDED] - words[:, desk.BEGAN]) / 1e9
    idle = words[:, desk.IDLE] / 1e9
    work = WorkRecord(
        words[:, worklist.PRODUCED], words[:, worklist.CONSUMED], words[:, worklist.USELESS],
        words[:, desk.RECEIVED], words[:, desk.REFUSED], messages, bytes_, idle, seconds,
        words[:, desk.STEPS],
    )  # fmt: skip
    one_row = np.ones(1, np.int64)
    served = work.consumed - work.useless
    told = tuple(
        _of_device(one, device, item, rings.nbytes if number == 0 else 0)
        for number, (one, device) in enumerate(zip(crew, devices, strict=True))
    )
    held = [sum(one.field_bytes for one in told), sum(one.workspace_bytes for one in told)]
    lasting = words[:, desk.ENDED].max() - words[:, desk.BEGAN].min()
    return Record(
        0, one_row, served.sum(keepdims=True), words[:, desk.EDGES].sum(keepdims=True),
        np.zeros(1, np.int64), np.array([BUCKETS]), np.array([lasting / 1000]),
        clock.run_seconds, clock.compile_seconds, clock.load_seconds, len(crew),
        0,
        len(crew) if how.fused else int(work.steps.sum()), np.array([held], np.int64), told,
        prepare_seconds=clock.prepare_seconds, partitioner=partitioner, execution=how.text,
        work=work,
    )  # fmt: skip


def _of_device(one: One, device: Device, item: int, box_bytes: int) -> DeviceRecord:
    """Return the record of a device, a row for each of its log; messages have `item` per entry."""
    rows = rows_of_log(one.desk)
    waiting = np.maximum(0.0, rows.microseconds - rows.serving - rows.talking)
    return DeviceRecord(
        device.name, 1, one.part.owned, one.part.num_ghosts, one.part.num_arcs,
        np.ones(len(rows.began), np.int64), rows.served, rows.edges, rows.microseconds,
        rows.talking, waiting, rows.entries * item + rows.messages * HEADER_BYTES, rows.entries,
        rows.began, one.part.nbytes, sum(array.nbytes for array in one.fields.values()),
        one.space.asked_bytes, box_bytes, rows.threshold,
    )  # fmt: skip

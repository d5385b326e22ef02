"""The record of an asynchronous run: one row for all of it, and the work of each device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from broadfront.backends.cpu.asynchronous import desk, worklist
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
        DeviceRecord(
            device.name, 1, one.part.owned, one.part.num_ghosts, one.part.num_arcs, one_row,
            served[number : number + 1], words[number, desk.EDGES : desk.EDGES + 1],
            seconds[number : number + 1] * 1e6, np.zeros(1), idle[number : number + 1] * 1e6,
            bytes_[number : number + 1], entries[number : number + 1],
            words[number, desk.BEGAN : desk.BEGAN + 1], one.part.nbytes,
            sum(array.nbytes for array in one.fields.values()), one.space.asked_bytes,
            rings.nbytes if number == 0 else 0,
        )
        for number, (one, device) in enumerate(zip(crew, devices, strict=True))
    )  # fmt: skip
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

"""What an asynchronous run did: work items, messages, and how long each device was idle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.report.devices import DeviceRecord

if TYPE_CHECKING:
    from broadfront.backends.cpu.asynchronous.run import One
    from broadfront.devices.choose import Device
    from broadfront.execution.asynchronous.settings import Async
    from broadfront.report.record import Record

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class WorkRecord:
    """Work items and messages of an asynchronous run, or of several one after the other.

    Attributes
    ----------
    produced, consumed
        Per device: entries put into its worklist, and taken from it; equal in the end.
    useless
        Per device: entries taken for nothing, since the vertex had been served meanwhile.
    received, refused
        Per device: entries of messages, and those that were no better than what was there.
    messages, bytes
        Per sender and receiver: messages, and what was in them.
    idle_seconds
        Per device: time without anything to do, or waiting for lower buckets elsewhere.
    seconds
        Per device: from its first step to its last.
    steps
        Per device: how often it received, served and sent.
    """

    produced: Array
    consumed: Array
    useless: Array
    received: Array
    refused: Array
    messages: Array
    bytes: Array
    idle_seconds: Array
    seconds: Array
    steps: Array

    @property
    def served(self) -> int:
        """Vertices served in all: the work items that were not useless."""
        return int(self.consumed.sum() - self.useless.sum())

    def totals(self) -> dict[str, int | float]:
        """Return the totals as plain values."""
        return {
            "produced": int(self.produced.sum()),
            "consumed": int(self.consumed.sum()),
            "useless": int(self.useless.sum()),
            "served": self.served,
            "messages": int(self.messages.sum()),
            "idle_seconds": float(self.idle_seconds.sum()),
        }


def added(records: Sequence[WorkRecord]) -> WorkRecord | None:
    """Return the record of several runs on as many devices each; None if there is none such."""
    if not records or len({len(record.produced) for record in records}) > 1:
        return None
    names = [field.name for field in fields(WorkRecord)]
    return WorkRecord(**{name: sum(getattr(record, name) for record in records) for name in names})


def recorded(crew: Sequence[One], devices: Sequence[Device], clock: Clock, how: Async) -> Record:
    """Return the record of the asynchronous run that has just ended: one row for all of it."""
    from broadfront.backends.cpu.asynchronous import desk, worklist
    from broadfront.backends.cpu.asynchronous.mailbox import HEADER_BYTES
    from broadfront.backends.cpu.operators import frontier
    from broadfront.report.record import Record

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
        np.zeros(1, np.int64), np.array([frontier.BUCKETS]), np.array([lasting / 1000]),
        clock.run_seconds, clock.compile_seconds, clock.load_seconds, len(crew),
        0,
        len(crew) if how.fused else int(work.steps.sum()), np.array([held], np.int64), told,
        prepare_seconds=clock.prepare_seconds, execution=how.text, work=work,
    )  # fmt: skip

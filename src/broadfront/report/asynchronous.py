"""What an asynchronous run did: work items, messages, and how long each device was idle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from numpy.typing import NDArray

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

"""One record of several runs: totals added up, iterations one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from broadfront.report.record import Record

LARGEST = ("threads", "workspace_bytes")
"""What is not added up: the largest counts."""


def joined(records: Sequence[Record]) -> Record:
    """Return one record of several runs, one after the other."""
    together: dict[str, Any] = {}
    for name in (field.name for field in fields(Record)):
        values = [getattr(record, name) for record in records]
        if isinstance(values[0], np.ndarray):
            together[name] = np.concatenate(values)
        else:
            together[name] = max(values) if name in LARGEST else sum(values)
    return Record(**together)

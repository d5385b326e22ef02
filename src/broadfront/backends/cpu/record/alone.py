"""The record of a run on one device, from the rows that its first thread has written.

Threads write nothing into it but rank 0 a row per iteration (`..device.timeline`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device.growing import GROWTHS
from broadfront.backends.cpu.device.timeline import iterations_of_rows, rows_until
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators import frontier
from broadfront.clock import Clock
from broadfront.devices.profile import MemoryProfile
from broadfront.report.record import Record

Array = NDArray[Any]


def recorded(
    workspace: Workspace,
    work: frontier.Work,
    iterations: int,
    threads: int,
    clock: Clock,
    answer_bytes: int,
    profile: MemoryProfile,
    calls: int = 1,
) -> Record:
    """Return the record of the run that has just ended in `workspace`, and leave its rows empty."""
    iterations = noted_iterations([work.record], iterations)
    spans = iterations_of_rows(iterations)
    table = taken(work.record, len(spans), frontier.COLUMNS)
    held = [answer_bytes, workspace.asked_bytes + work.growing_bytes]
    return Record(
        iterations,
        spans,
        table[:, frontier.R_FRONTIER],
        table[:, frontier.R_EDGES],
        table[:, frontier.R_ATOMICS],
        table[:, frontier.R_WAYS],
        (table[:, frontier.R_END] - table[:, frontier.R_BEGIN]) / 1000,
        clock.run_seconds,
        clock.compile_seconds,
        clock.load_seconds,
        threads,
        int(workspace.team.control[0, control.BARRIERS]),
        calls,
        np.array([held], np.int64),
        (),
        int(work.account[GROWTHS]),
        profile,
        clock.prepare_seconds,
    )


def noted_iterations(records: Sequence[Array], iterations: int) -> int:
    """Return the iterations that are in the records of devices.

    There is one more than were counted if a phase that does not count was the last to run.
    """
    place = (rows_until(iterations + 1) - 1) * frontier.COLUMNS + frontier.R_COUNT
    return max(iterations, *(int(record[place]) for record in records))


def taken(array: Array, rows: int, columns: int) -> Array:
    """Return a copy of the rows written, and leave them empty."""
    written = array[: rows * columns]
    table = written.reshape(rows, columns).copy()
    written[:] = 0
    return table

"""When a device did what: rows of time, of a fixed number, each with the counts at its end.

A row covers at least `SPAN` nanoseconds. Once all rows are written two become one, and a row covers
twice as much; so a log has room for any run. Counts are those since the beginning, so that the
second of two rows has those of both.

Invariant: rows are in the order of time, and each ends where the next begins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.asynchronous import worklist
from broadfront.backends.cpu.asynchronous.desk import (
    BEGAN,
    EDGES,
    ENDED,
    ROW,
    ROW_BEGAN,
    SERVING,
    SPAN,
    TALKING,
    Desk,
)
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.kernel import inlined, inner

Array = NDArray[Any]

ROWS = 256
SPAN_AT_FIRST = 1 << 14
STARTED, SERVED, EDGES_SO_FAR, SERVING_SO_FAR, TALKING_SO_FAR, LEAST, PEERS = range(7)
"""Words of a row; from the last on, entries and messages for each device."""


def new_log(space: Workspace, devices: int) -> Array:
    """Return the memory of a log."""
    return space.array("log", ROWS * (PEERS + 2 * devices), np.int64)


@inlined
def begin_log(words):
    """Begin with the first row."""
    words[ROW], words[ROW_BEGAN], words[SPAN] = 0, words[BEGAN], SPAN_AT_FIRST


@inlined
def note_time(desk, now):
    """End the row if it is long enough."""
    if now - desk.words[ROW_BEGAN] >= desk.words[SPAN]:
        end_row(desk, now)


@inner
def end_row(desk, now):
    """End the row at a time."""
    words, log, outbox, devices = desk.words, desk.log, desk.mail.outbox, desk.mail.devices
    width = PEERS + 2 * devices
    if words[ROW] == ROWS:
        for row in range(ROWS // 2):
            log[row * width + STARTED] = log[2 * row * width + STARTED]
            for place in range(STARTED + 1, width):
                log[row * width + place] = log[(2 * row + 1) * width + place]
        words[ROW] = ROWS // 2
        words[SPAN] *= 2
    first = words[ROW] * width
    log[first + STARTED] = words[ROW_BEGAN]
    log[first + SERVED] = words[worklist.CONSUMED] - words[worklist.USELESS]
    log[first + EDGES_SO_FAR] = words[EDGES]
    log[first + SERVING_SO_FAR] = words[SERVING]
    log[first + TALKING_SO_FAR] = words[TALKING]
    log[first + LEAST] = words[worklist.THRESHOLD]
    for peer in range(devices):
        log[first + PEERS + peer] = outbox.entries[peer]
        log[first + PEERS + devices + peer] = outbox.messages[peer]
    words[ROW] += 1
    words[ROW_BEGAN] = now


class Rows(NamedTuple):
    """What happened in each row of a log; times in microseconds but for when it began."""

    began: Array
    microseconds: Array
    serving: Array
    talking: Array
    served: Array
    edges: Array
    threshold: Array
    entries: Array
    messages: Array


def rows_of_log(desk: Desk) -> Rows:
    """Return the rows of a run that has ended."""
    devices, count = desk.mail.devices, int(desk.words[ROW])
    width = PEERS + 2 * devices
    told = desk.log[: count * width].reshape(count, width)
    each = np.diff(told, axis=0, prepend=0)
    began = told[:, STARTED].copy()
    lasting = np.diff(began, append=desk.words[ENDED])
    return Rows(
        began, lasting / 1000, each[:, SERVING_SO_FAR] / 1000, each[:, TALKING_SO_FAR] / 1000,
        each[:, SERVED], each[:, EDGES_SO_FAR], told[:, LEAST].copy(),
        each[:, PEERS : PEERS + devices], each[:, PEERS + devices :],
    )  # fmt: skip

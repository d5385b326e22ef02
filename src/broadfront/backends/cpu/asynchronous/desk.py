"""What one device works with: its words, its worklist, and what it knows of the others."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from broadfront.backends.cpu.asynchronous import mailbox
from broadfront.backends.cpu.device.control import idle
from broadfront.kernel import inner

Array = NDArray[Any]

WORDS = 32
(EDGES, RECEIVED, REFUSED, IDLE, STEPS, BEGAN, ENDED, SPINS, IDLE_SINCE, STAGE, JITTER, WAITS) = (
    range(12, 24)
)
POSTED, SERVING, TALKING, ROW, ROW_BEGAN, SPAN, RESTING = range(24, 31)
"""Words of a device after those of its worklist: edges traversed, entries received, those that were
no better, nanoseconds idle, steps, when it began and ended, how long its thread has been idle,
since when it is itself, how far it is, random numbers of delays for tests, and how often it waited
for lower buckets; messages sent, nanoseconds of serving and of sending and receiving, how far
its log is, and since when its thread has been idle."""


class Links(NamedTuple):
    """What one device knows of the others."""

    device: int
    devices: int
    rings: mailbox.Rings
    outbox: mailbox.Outbox
    board: Array
    ghost_starts: Array
    shared_starts: Array
    shared: Array
    owner: Any
    field_io: Any


class Desk(NamedTuple):
    """What one device works with, beside its fields and its part of the graph."""

    words: Array
    pending: Array
    """A bit per vertex: whether it is to be served or, of a copy, to be sent."""
    served: Array
    """A bit per vertex: whether it has been served."""
    ring: Any
    gathered: Any
    blocks: int
    per_width: float
    least_band: int
    most_band: int
    """Between which the buckets are that it may be ahead."""
    queue: Array
    """Where it starts."""
    starting: int
    mail: Links
    log: Array
    roster: Array
    threads: int
    """Threads of the run; each takes turns at every so many-th device."""


@inner
def disturb(control, words):
    """Wait for a random while, where a test has asked for it."""
    if words[JITTER] != 0:
        seed = words[JITTER]
        seed ^= seed << 13
        seed ^= (seed >> 7) & 0x1FFFFFFFFFFFFFF
        seed ^= seed << 17
        words[JITTER] = seed
        if seed & 3 == 0:
            idle(control, (seed >> 8) & 2047)

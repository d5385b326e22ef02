"""How much memory building may take: a limit on what the whole process holds.

Before anything large is made, what the process holds now is asked of the system, and the size of
what comes next follows: blocks of edges are as long as what is left allows.
"""

from __future__ import annotations

import mmap
from contextlib import suppress

from broadfront.errors import OutOfMemoryError
from broadfront.sizes import size_text

STATM = "/proc/self/statm"
ASSUMED = 256 << 20
"""Bytes that a process holds, where the system does not say: the interpreter and compiled code."""
LEAST_AT_ONCE, MOST_AT_ONCE = 1 << 16, 1 << 27
"""Edges in a block: the least that are worth a pass over the disk, and the most."""
SHARE = 0.75
"""Of what is left a block takes so much; the rest is for what nobody counts."""


def resident() -> int:
    """Return the bytes of memory that this process holds."""
    with suppress(OSError), open(STATM) as told:
        return int(told.read().split()[1]) * mmap.PAGESIZE
    return ASSUMED


class Room:
    """What is left of a limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def left(self) -> int:
        """Return the bytes that may still be taken."""
        return self._limit - resident()

    def edges(self, nbytes: int, sure: int = 0) -> int:
        """Return how many edges of so many bytes each may be in memory, beside `sure` bytes."""
        fitting = int(SHARE * (self.left() - sure)) // nbytes
        least = min(LEAST_AT_ONCE, MOST_AT_ONCE)
        if fitting < least:
            held = resident()
            wanted = held + sure + int(least * nbytes / SHARE)
            raise OutOfMemoryError(
                f"memory_limit={self._limit:,} is not enough to build this graph: the process "
                f"holds {size_text(held)}, and {size_text(wanted)} or more are needed"
            )
        return min(fitting, MOST_AT_ONCE)

"""How much memory may stay after a run, for the next one; and giving the rest back.

Runs keep what is dear to build: partitions of a graph, and the memory they work in. How much of it
stays is a factor: partitions up to so many times the bytes of their graph, workspaces up to so many
times what the largest of the last runs took. The least recently used goes first.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any

from broadfront.errors import OptionError

DEFAULT = 2.0
MUCH = 1 << 24
"""Bytes that are worth asking the allocator to return free memory to the system."""


def factor() -> float:
    """Return the factor; the environment variable BROADFRONT_KEEP sets it, 0 keeps nothing."""
    named = os.environ.get("BROADFRONT_KEEP", "")
    try:
        number = float(named) if named else DEFAULT
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise OptionError(f"BROADFRONT_KEEP={named[:40]!r} is not a number, 0 or more")
    return number


def free_memory() -> int:
    """Return the bytes that the system could give now, as far as it tells; else half of all."""
    try:
        with open("/proc/meminfo") as lines:
            told = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(told.split()[1]) << 10
    except (OSError, StopIteration, ValueError, IndexError):
        try:
            return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        except (AttributeError, OSError, ValueError):
            return 0


def give_back(nbytes: int) -> None:
    """Return free memory to the system, if about so much has just been freed and that is much."""
    trim = _trim()
    if nbytes >= MUCH and trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """Return glibc's `malloc_trim`; None where there is another allocator."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)

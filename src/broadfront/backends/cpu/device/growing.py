"""Memory that compiled code enlarges while it runs, by what is needed.

A table holds address and capacity of each piece, both of which stay for the next run. What the
present run has asked for is counted apart, in the device's account, as if every run began with
nothing; so a run tells the same whatever an earlier one has left.

Invariant: a piece moves only while nobody looks at it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from broadfront.backends.cpu.device.control import (
    FAULT,
    FAULT_COUNT,
    LINE,
    OUT_OF_MEMORY,
    WANTED,
    stop,
)
from broadfront.kernel import inner, kernel

Array = NDArray[Any]

HELD, LIMIT, GROWTHS, WAITED, EXCHANGED = range(5)
"""Places in a device's account: bytes of what grows, how many may be (0: any number), how often
something grew, and nanoseconds of waiting for other devices, and of exchanging in all."""
ACCOUNT_WORDS = 2 * LINE

ALLOCATION = 1 << 20
"""The block at which a test has an allocation fail."""

_realloc = types.ExternalFunction("realloc", types.intp(types.intp, types.intp))
_free = types.ExternalFunction("free", types.void(types.intp))


@inner
def allocated(table, slot, nbytes):
    """Make a piece at least so large; return whether there was memory for it."""
    if table[2 * slot + 1] < nbytes:
        address = _realloc(table[2 * slot], nbytes)
        if address == 0:
            return False
        table[2 * slot] = address
        table[2 * slot + 1] = nbytes
    return True


@inner
def _fails(control):
    """Tell whether a test has asked for this allocation to fail."""
    if control[FAULT] != ALLOCATION:
        return False
    control[FAULT_COUNT] -= 1
    return control[FAULT_COUNT] < 0


@inner
def enlarged(control, account, table, slot, nbytes, more):
    """Make a piece `nbytes` large, `more` than before; if that cannot be, stop all devices."""
    held = account[HELD] + more
    too_much = account[LIMIT] > 0 and held > account[LIMIT]
    if too_much or _fails(control) or not allocated(table, slot, nbytes):
        control[WANTED] = held
        stop(control, OUT_OF_MEMORY)
        return False
    account[HELD] = held
    account[GROWTHS] += 1
    return True


@kernel
def allocate(table, sizes):
    """Make the pieces of a table at least so large each; return whether there was memory."""
    for slot in range(len(sizes)):
        if not allocated(table, slot, sizes[slot]):
            return False
    return True


@kernel
def free(table, pieces):
    """Give the first pieces of a table back."""
    for slot in range(pieces):
        _free(table[2 * slot])
        table[2 * slot] = 0
        table[2 * slot + 1] = 0


def viewed(table: Array, slot: int, length: int, dtype: Any) -> Array:
    """Return the first elements of a piece; valid until it grows."""
    kind = np.dtype(dtype)
    octets = (ctypes.c_byte * (length * kind.itemsize)).from_address(int(table[2 * slot]))
    return np.frombuffer(octets, kind)

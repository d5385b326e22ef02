"""Keeping to what there may be of mapped arrays in memory, from inside a compiled loop.

A loop that goes through mapped arrays has `look_after` called, by its address, after so many page
faults (`broadfront.backends.cpu.device.control.keep_pace`). It asks the system how much of files
the process holds, and takes the guarded arrays out of memory where that is too much. One thread
looks at a time, and others that want to wait for it: they touch no new pages meanwhile.

Invariant: between two looks no more comes into memory than `Guard.faults_between_looks` page faults
bring, and what the threads touch before they next ask.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import types
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device.call import address_of
from broadfront.kernel import called_by_address
from broadfront.pointers import at
from broadfront.residence import (
    ADVICE,
    BEFORE,
    COUNT,
    FILE,
    LOOKING,
    MOST,
    PAGE,
    REGIONS,
    TEXT,
    TEXT_BYTES,
    THERE_MAY_BE,
    TIMES,
    Guard,
    page_faults,
)

LIKE_WORDS, LIKE_OCTETS = np.zeros(1, np.int64), np.zeros(1, np.uint8)
SPACE, ZERO, OF_FILES = 32, 48, 2
"""Two characters, and which number of the text, counted from 0, are the pages of files."""

_read = types.ExternalFunction(
    "pread", types.intp(types.int32, types.intp, types.intp, types.int64)
)
_advise = types.ExternalFunction("madvise", types.int32(types.intp, types.intp, types.int32))
_sched_yield = types.ExternalFunction("sched_yield", types.int32())


def keep_to(guard: Guard, words: NDArray[np.int64]) -> None:
    """Have a loop with these control words look after the arrays of a guard, until it ends."""
    words[control.WATCH] = _address()
    words[control.WATCHED] = guard.words.ctypes.data
    words[control.ALLOWED] = guard.faults_between_looks
    words[control.LOOKED] = page_faults()
    guard.at_end.append(lambda: words.__setitem__(control.LOOKED, 0))


@cache
def _address() -> int:
    return address_of(look_after)


@called_by_address
def look_after(address):
    """Take the arrays of a guard out of memory if there is too much of them."""
    words = at(address, LIKE_WORDS)
    if not atomics.compare_and_swap(words, LOOKING, 0, 1):
        while atomics.load(words, LOOKING) != 0:
            _sched_yield()
        return np.int64(0)
    text = at(address + 8 * TEXT, LIKE_OCTETS)
    length = _read(np.int32(words[FILE]), address + 8 * TEXT, TEXT_BYTES, 0)
    number, pages = 0, np.int64(0)
    for place in range(length):
        if text[place] == SPACE:
            number += 1
        elif number == OF_FILES:
            pages = 10 * pages + np.int64(text[place]) - ZERO
    held = pages * words[PAGE] - words[BEFORE]
    words[MOST] = max(words[MOST], held)
    if held > words[THERE_MAY_BE]:
        words[TIMES] += 1
        for region in range(REGIONS, REGIONS + 2 * words[COUNT], 2):
            _advise(words[region], words[region + 1], np.int32(words[ADVICE]))
    atomics.store(words, LOOKING, 0)
    return np.int64(0)

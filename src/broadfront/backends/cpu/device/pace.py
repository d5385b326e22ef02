"""Keeping to what there may be of mapped arrays in memory, from inside a compiled loop.

A loop that goes through mapped arrays calls `look_after` now and then, by its address
(`broadfront.backends.cpu.device.control.keep_pace`): loops in memory pay for one comparison. After
so many page faults it asks the system how much of files the process holds, and takes the guarded
arrays out of memory where that is too much. One thread
looks at a time, and others that want to wait for it: they touch no new pages meanwhile.

Invariant: between two looks no more comes into memory than `Guard.faults_between_looks` page faults
bring, and what the threads touch before they next ask.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device.call import address_of
from broadfront.kernel import called_by_address
from broadfront.pointers import at
from broadfront.residence import (
    ADVICE,
    ALLOWED,
    BEFORE,
    COUNT,
    FAULTS,
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

BYTES_OF_AN_ARC = 8
"""At most, so that pages are rather taken to end too soon."""
LIKE_WORDS, LIKE_OCTETS = np.zeros(1, np.int64), np.zeros(1, np.uint8)
SPACE, ZERO, OF_FILES = 32, 48, 2
"""Two characters, and which number of the text, counted from 0, are the pages of files."""
USAGE_WORDS, MINOR_FAULTS = 18, 8
"""Of what `getrusage` tells: its length, and the first of two numbers of faults."""

_read = types.ExternalFunction(
    "pread", types.intp(types.int32, types.intp, types.intp, types.int64)
)
_advise = types.ExternalFunction("madvise", types.int32(types.intp, types.intp, types.int32))
_sched_yield = types.ExternalFunction("sched_yield", types.int32())


def keep_to(guard: Guard, words: NDArray[np.int64]) -> None:
    """Have a loop with these control words look after the arrays of a guard, until it ends."""
    guard.words[FAULTS], guard.words[ALLOWED] = page_faults(), guard.faults_between_looks
    words[control.PAGE_SHIFT] = (guard.at_a_time // BYTES_OF_AN_ARC).bit_length() - 1
    words[control.WATCHED] = guard.words.ctypes.data
    words[control.WATCH] = _address()
    guard.at_end.append(lambda: words.__setitem__(control.WATCH, 0))


@cache
def _address() -> int:
    return address_of(look_after)


@called_by_address
def look_after(address):
    """Take arrays of a guard out of memory if there is too much, and enough page faults came."""
    words = at(address, LIKE_WORDS)
    faults = _page_faults()
    if faults - atomics.load(words, FAULTS) <= words[ALLOWED]:
        return np.int64(0)
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
    atomics.store(words, FAULTS, faults)
    atomics.store(words, LOOKING, 0)
    return np.int64(0)


@intrinsic
def _page_faults(typing_context: Any) -> Any:
    """Return how many page faults the process has had."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, number = ir.IntType(64), ir.IntType(32)
        usage = cgutils.alloca_once(builder, ir.ArrayType(word, USAGE_WORDS))
        first = builder.bitcast(usage, word.as_pointer())
        kind = ir.FunctionType(number, [number, word.as_pointer()])
        function = cgutils.get_or_insert_function(builder.module, kind, "getrusage")
        builder.call(function, [ir.Constant(number, 0), first])
        minor, major = (
            builder.load(builder.gep(first, [ir.Constant(word, place)]))
            for place in (MINOR_FAULTS, MINOR_FAULTS + 1)
        )
        return builder.add(minor, major)

    return types.int64(), generate

"""Whether all values in a message are the same, found out by several threads together.

A value that is the same in a whole message travels once, as the depths of a search by levels do.
"""

from __future__ import annotations

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE
from broadfront.backends.cpu.operators.frontier import STATS_WORDS
from broadfront.kernel import inner
from broadfront.pointers import any_element, recast, shifted

VALUES_ALIKE = 1
"""The form of a message with one value for all."""
HEADER_BYTES = 24
"""What a header costs on the way: how many, the form, and one value."""


@inner
def tell(stats, rank, alike, any_yet, example, values):
    """Leave what this thread has found: whether its values are alike, and one of them."""
    recast(shifted(stats, rank * STATS_WORDS + 2 * LINE), values)[0] = example
    atomics.store(stats, rank * STATS_WORDS + 3 * LINE, np.int64(alike) + 2 * np.int64(any_yet))


@inner
def hear(stats, threads, values):
    """Return whether the values of all threads are alike, and one of them."""
    alike, any_yet = True, False
    example = any_element(values)
    for thread in range(threads):
        told = atomics.load(stats, thread * STATS_WORDS + 3 * LINE)
        if told >= 2:
            value = recast(shifted(stats, thread * STATS_WORDS + 2 * LINE), values)[0]
            alike = alike and (told & 1) == 1 and (not any_yet or value == example)
            example, any_yet = value, True
    return alike, example

"""Whether all values in a message are the same, found out by several threads together.

A value that is the same in a whole message travels once, as the depths of a search by levels do: it
stands in the head of the run, and the column of values, which is the last one, is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE
from broadfront.backends.cpu.exchange.runs import COUNT, FORM, constant_of, head_of, padded
from broadfront.backends.cpu.operators.frontier import STATS_WORDS
from broadfront.kernel import inlined, inner
from broadfront.pointers import any_element, recast, shifted

VALUES_ALIKE = 1
"""The form of a message with one value for all."""


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


def sealing(place: int, item: int) -> Callable[..., Any]:
    """Return `seal` of messages whose last column are values of `item` bytes, left out if alike.

    `place` is that of the field in the state.
    """

    @inner
    def seal(run, peer, nbytes, threads, state, work):
        alike, example = hear(work.stats, threads, state[place])
        words = head_of(run, work.mail)
        words[FORM] = VALUES_ALIKE if alike else 0
        constant_of(run, state[place])[0] = example
        return nbytes - padded(words[COUNT] * item) if alike else nbytes

    return seal


@inlined
def is_alike(run, mail):
    """Tell whether a run has one value for all its entries."""
    return head_of(run, mail)[FORM] == VALUES_ALIKE

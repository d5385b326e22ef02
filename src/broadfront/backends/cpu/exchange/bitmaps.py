"""Bits of vertices on their way from owners to ghosts, 64 at a time.

Both sides keep the same list, so a message is a bit for each vertex on it. Where the ghosts of an
owner have consecutive positions their bits are moved by whole words; otherwise one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.bits import count_ones, leading_zeros, trailing_zeros
from broadfront.kernel import inlined, inner

FEW = 8
"""Up to so many bits of a word are visited one by one."""


@inner
def first_one(bits, words):
    """Return the first vertex of a bitmap, or 0 if it is empty."""
    for word in range(words):
        if bits[word] != 0:
            return np.int64((np.uint64(word) << np.uint64(6)) | trailing_zeros(bits[word]))
    return np.int64(0)


@inlined
def packed(word, count, start, shared, bits, values, example):
    """Return the bits of 64 vertices of a list, and whether one in it has not the value given."""
    one = np.uint64(1)
    found, other = np.uint64(0), np.uint64(0)
    for entry in range(word << 6, min(count, (word + 1) << 6)):
        vertex = np.int64(shared[start + entry])
        inside = (bits[vertex >> 6] >> np.uint64(vertex & 63)) & one
        found |= inside << np.uint64(entry & 63)
        other |= inside & np.uint64(values[vertex] != example)
    return found, other


def unpacking(consecutive: bool) -> Callable[..., Any]:
    """Return ``unpack(column, word, start, ghosts, bits, values, example, alike)``.

    It sets the bits of 64 ghosts in a bitmap and, if all have the same value, that of each.
    """

    @inner
    def one_by_one(column, word, start, ghosts, bits, values, example, alike):
        left = column[word]
        while left != 0:
            bit = trailing_zeros(left)
            left &= left - np.uint64(1)
            vertex = np.int64(ghosts[start + np.int64((np.uint64(word) << np.uint64(6)) | bit)])
            atomics.bitwise_or(bits, vertex >> 6, np.uint64(1) << np.uint64(vertex & 63))
            if alike:
                values[vertex] = example

    @inner
    def by_words(column, word, start, ghosts, bits, values, example, alike):
        left = column[word]
        if left == 0:
            return
        first = start + (np.int64(word) << 6)
        shift = np.uint64(first & 63)
        atomics.bitwise_or(bits, first >> 6, left << shift)
        beyond = (left >> np.uint64(1)) >> (np.uint64(63) - shift)
        if beyond != 0:
            atomics.bitwise_or(bits, (first >> 6) + 1, beyond)
        if not alike:
            return
        if count_ones(left) <= FEW:
            while left != 0:
                values[first + np.int64(trailing_zeros(left))] = example
                left &= left - np.uint64(1)
            return
        for entry in range(64 - np.int64(leading_zeros(left))):
            inside = (left >> np.uint64(entry)) & np.uint64(1)
            values[first + entry] = example if inside != 0 else values[first + entry]

    return by_words if consecutive else one_by_one

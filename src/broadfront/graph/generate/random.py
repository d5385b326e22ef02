"""Random numbers by position, and random permutations without a table.

A number is a hash of a key and an index (the finaliser of splitmix64), so the same index gives the
same number on any thread and in any order. A permutation of ``0 .. size - 1`` is a few invertible
steps on the bits of its argument: add once, then multiply by an odd number and fold the upper half
onto the lower, five times (after three, neighbours can still be told). Sizes that are no power of
two walk the cycle of the next power until they fall inside.

Invariant: everything here depends on its arguments alone; there is no state.

References
----------
Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014).
Black, Rogaway: Ciphers with arbitrary finite domains (CT-RSA 2002), for cycle-walking.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.kernel import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
UNIT = 2.0**-53


class Permutation(NamedTuple):
    """The constants of one permutation of ``0 .. size - 1``, handed to `permuted`."""

    size: np.uint64
    mask: np.uint64
    fold: np.uint64
    addend: np.uint64
    factors: tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]


def key(seed: int, purpose: str) -> np.uint64:
    """Return the key of one stream of random numbers; another purpose is another stream."""
    digest = hashlib.blake2b(f"{seed} {purpose}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def permutation(size: int, seed: int, purpose: str) -> Permutation:
    """Return a random permutation of ``0 .. size - 1``."""
    bits = max(0, size - 1).bit_length()
    first, second, third, fourth, fifth = (
        key(seed, f"{purpose}, factor {turn}") | np.uint64(1) for turn in range(5)
    )
    return Permutation(
        np.uint64(size), np.uint64((1 << bits) - 1), np.uint64(max(1, (bits + 1) // 2)),
        key(seed, f"{purpose}, addend"), (first, second, third, fourth, fifth),
    )  # fmt: skip


def words(count: int, seed: int, purpose: str) -> NDArray[np.uint64]:
    """Return the first random numbers of a stream, 64 bits each."""
    numbers = np.empty(count, np.uint64)
    _fill(key(seed, purpose), numbers)
    return numbers


@kernel
def word(stream, index):
    """Return the 64 random bits at `index` of the stream with key `stream`."""
    value = stream + np.uint64(index) * GOLDEN
    value = (value ^ (value >> np.uint64(30))) * FIRST_FACTOR
    value = (value ^ (value >> np.uint64(27))) * SECOND_FACTOR
    return value ^ (value >> np.uint64(31))


@kernel
def unit(stream, index):
    """Return a random number in [0, 1)."""
    return np.float64(word(stream, index) >> np.uint64(11)) * UNIT


@kernel
def below(stream, index, bound):
    """Return a random integer in ``0 .. bound - 1``; `bound` is at most 2**32."""
    return np.int64(((word(stream, index) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def permuted(value, order):
    """Return where the permutation `order` sends `value`."""
    place = np.uint64(value)
    first, second, third, fourth, fifth = order.factors
    while True:
        place = _stir(place + order.addend, first, order)
        place = _stir(place, second, order)
        place = _stir(place, third, order)
        place = _stir(place, fourth, order)
        place = _stir(place, fifth, order)
        if place < order.size:
            return place


@kernel
def _stir(place, factor, order):
    place = (place * factor) & order.mask
    return place ^ (place >> order.fold)


@kernel
def _fill(stream, numbers):
    for index in range(len(numbers)):
        numbers[index] = word(stream, index)

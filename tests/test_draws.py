"""Random numbers of functors: the same everywhere, and random enough."""

from __future__ import annotations

import numpy as np
import pytest

import broadfront as bf
from broadfront.errors import FunctorError
from broadfront.kernel import kernel

LIMIT = (1 << 63) - 1


@kernel
def drawn(seed, vertex, iteration):  # type: ignore[no-untyped-def]
    return bf.random(seed, vertex, iteration)


@kernel
def fill(seed, iteration, into):  # type: ignore[no-untyped-def]
    for vertex in range(len(into)):
        into[vertex] = bf.random(seed, vertex, iteration)


def filled(seed: int, iteration: int, count: int = 1 << 16) -> np.ndarray:
    numbers = np.empty(count)
    fill(seed, iteration, numbers)
    return numbers


def test_python_and_compiled_code_agree_to_the_bit() -> None:
    numbers = [0, 1, 2, 63, 1 << 31, 1 << 32, LIMIT, -1, -LIMIT - 1]
    for seed in numbers:
        for vertex in numbers:
            for iteration in numbers:
                wanted = bf.random(seed, vertex, iteration)
                assert drawn(seed, vertex, iteration) == wanted
                assert 0 <= wanted < 1
    assert drawn(3, np.int32(-5), np.uint8(200)) == bf.random(3, -5, 200)


def test_nobody_gives_it_a_real_number() -> None:
    with pytest.raises(FunctorError, match=r"whole numbers, not 0\.5"):
        bf.random(0, 0.5, 0)  # type: ignore[arg-type]


def test_numbers_are_spread_evenly() -> None:
    for seed, iteration in [(0, 0), (1, 0), (0, 1), (12345, 678)]:
        numbers = filled(seed, iteration)
        counts = np.bincount((numbers * 256).astype(int), minlength=256)
        expected = len(numbers) / 256
        spread = ((counts - expected) ** 2 / expected).sum()
        assert 150 < spread < 370  # 255 degrees of freedom: p about 1e-5 on either side


@pytest.mark.parametrize("other", ["next vertex", "next iteration", "next seed", "swapped"])
def test_neighbours_are_independent(other: str) -> None:
    """Pairs of numbers that differ by one argument fill a square evenly."""
    count = 1 << 16
    first = filled(7, 3, count + 1)
    second = {
        "next vertex": first[1:], "next iteration": filled(7, 4, count),
        "next seed": filled(8, 3, count), "swapped": filled(3, 7, count),
    }[other]  # fmt: skip
    first = first[:count]
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02
    cells = (first * 16).astype(int) * 16 + (second * 16).astype(int)
    counts = np.bincount(cells, minlength=256)
    expected = count / 256
    assert 150 < ((counts - expected) ** 2 / expected).sum() < 370


def test_every_bit_of_a_number_is_a_coin() -> None:
    bits = (filled(5, 5) * 2**53).astype(np.int64)
    for place in range(53):
        assert abs((bits >> place & 1).mean() - 0.5) < 0.01

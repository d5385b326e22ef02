"""Random numbers by place: permutations, streams, and what is repeated among them."""

from __future__ import annotations

import numpy as np
import pytest

from broadfront.graph.generate.random import below, key, permutation, permuted, unit
from broadfront.graph.generate.repeats import repeated


@pytest.mark.parametrize("seed", [0, 1, 12345])
def test_permutation_is_a_bijection(seed):
    for count in [*range(1, 301), *(1 << bits for bits in range(9, 15))]:
        order = permutation(count, seed, "test")
        images = sorted(int(permuted(value, order)) for value in range(count))
        assert images == list(range(count))


def test_permutation_tears_neighbours_apart():
    count = 1 << 14
    order = permutation(count, 0, "test")
    images = np.array([int(permuted(value, order)) for value in range(count)])
    steps = np.bincount((images[1:] - images[:-1]) % count * 64 // count, minlength=64)
    expected = count / 64
    assert ((steps - expected) ** 2 / expected).sum() < 120  # 63 degrees of freedom: p about 1e-5


def test_random_numbers_are_spread():
    stream = key(0, "test")
    assert stream != key(1, "test")
    assert stream != key(0, "tests")
    values = np.array([unit(stream, index) for index in range(10_000)])
    assert 0 <= values.min() < 0.001
    assert 0.999 < values.max() < 1
    assert abs(values.mean() - 0.5) < 0.02
    figures = np.bincount([below(stream, index, 7) for index in range(7_000)])
    assert len(figures) == 7
    assert abs(figures - 1000).max() < 150


def test_repeated_finds_all_but_the_first():
    assert repeated(np.array([5, 3, 5, 5, 3, 1])).tolist() == [2, 3, 4]
    assert repeated(np.array([], np.int64)).tolist() == []

"""Some of the random runs; ``make mix`` runs thousands."""

from __future__ import annotations

import pytest

import mix


@pytest.mark.parametrize("tens", range(12))
def test_random_runs_agree_with_plain_answers(tens: int) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        mix.check(seed)

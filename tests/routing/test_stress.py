"""Some hundred runs with random delays; ``make routing-stress`` does 10,000."""

from __future__ import annotations

import random

import pytest

from routing.delays import RUNS


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("seed", [0, 1000])
def test_runs_with_random_delays(run, seed: int) -> None:
    for number in range(60):
        run(random.Random(seed + number))

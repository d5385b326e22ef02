"""Which row an iteration is written to."""

from __future__ import annotations

import numpy as np
import pytest

from broadfront.backends.cpu.device.timeline import (
    COARSE,
    FINE,
    OCTAVE,
    ROWS,
    iterations_of_rows,
    row_of,
    rows_until,
)
from broadfront.kernel import kernel


@kernel
def rows_of_all(iterations, out):  # type: ignore[no-untyped-def]
    for place in range(len(iterations)):
        out[place] = row_of(iterations[place])


def rows_of(iterations: object) -> np.ndarray:
    numbers = np.asarray(iterations, np.int64)
    rows = np.empty(len(numbers), np.int64)
    rows_of_all(numbers, rows)
    return rows


@pytest.mark.parametrize("count", [1, FINE - 1, FINE, FINE + 1, FINE + 65, 2 * FINE, 300_001])
def test_rows_cover_all_iterations_in_order(count: int) -> None:
    rows = rows_of(range(count))
    spans = iterations_of_rows(count)
    assert len(spans) == rows_until(count) == rows[-1] + 1
    np.testing.assert_array_equal(rows, np.repeat(np.arange(len(spans)), spans))


def test_first_iterations_have_rows_of_their_own_and_later_ones_share() -> None:
    spans = iterations_of_rows(8 * FINE)
    assert set(spans[:FINE].tolist()) == {1}
    assert [set(octave.tolist()) for octave in spans[FINE:].reshape(3, OCTAVE)] == [
        {COARSE}, {2 * COARSE}, {4 * COARSE},
    ]  # fmt: skip
    assert iterations_of_rows(0).tolist() == []


def test_there_is_a_row_for_every_number() -> None:
    powers = np.array([2**power for power in range(15, 63)])
    near = np.concatenate([powers - 1, powers, [2**63 - 1]])
    rows = rows_of(near)
    assert rows.max() == ROWS - 1
    assert [rows_until(int(number) + 1) - 1 for number in near.tolist()] == rows.tolist()

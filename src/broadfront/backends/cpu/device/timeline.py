"""Which row of a record an iteration is written to: rows of a floating scale.

The first iterations have a row each. Beyond, a row covers 16 iterations, and twice as many whenever
the number of iterations doubles: the leading bits of the number of an iteration are its row, as in
a floating-point number. So a record has a fixed number of rows, nothing is ever moved, and a row
covers at most a 512th of the iterations before it.

Invariant: rows are in the order of iterations, and each covers the iterations from its first one to
that of the next row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.bits import leading_zeros
from broadfront.kernel import inner

FINE_BITS = 13
FINE = 1 << FINE_BITS
"""So many iterations have rows of their own."""
OCTAVE_BITS = 9
OCTAVE = 1 << OCTAVE_BITS
"""So many rows cover the iterations from a power of two to the next."""
SHIFT = FINE_BITS - OCTAVE_BITS
"""The logarithm of the iterations that a row of the first octave covers."""
COARSE = 1 << SHIFT
"""Iterations from a multiple of this to the next share a row, once rows cover several."""
ROWS = FINE + OCTAVE * (63 - FINE_BITS)
ONES: NDArray[np.int64] = np.ones(FINE, np.int64)


@inner
def row_of(iteration):
    """Return the row that an iteration is written to."""
    if iteration < FINE:
        return np.int64(iteration)
    octave = np.int64(63 - FINE_BITS) - np.int64(leading_zeros(np.uint64(iteration)))
    return FINE + octave * OCTAVE + ((iteration >> (octave + SHIFT)) & (OCTAVE - 1))


def rows_until(iterations: int) -> int:
    """Return how many rows so many iterations have."""
    if iterations <= FINE:
        return iterations
    last = iterations - 1
    octave = last.bit_length() - 1 - FINE_BITS
    return FINE + octave * OCTAVE + ((last >> (octave + SHIFT)) & (OCTAVE - 1)) + 1


def iterations_of_rows(iterations: int) -> NDArray[np.int64]:
    """Return how many of so many iterations each row covers."""
    rows = rows_until(iterations)
    if rows <= FINE:
        return ONES[:rows].copy()
    octave, place = np.divmod(np.arange(rows - FINE, dtype=np.int64), OCTAVE)
    fine: NDArray[Any] = np.arange(FINE, dtype=np.int64)
    first = np.concatenate([fine, (OCTAVE + place) << (octave + SHIFT)])
    return np.diff(first, append=iterations)

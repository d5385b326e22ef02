"""What a partitioner is asked for, checked: how many parts, how large, by which chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.given import is_integer

Array = NDArray[Any]

MOST_PARTS = 1 << 10


@dataclass(frozen=True, eq=False)
class Wish:
    """The parts that are wanted."""

    count: int
    shares: NDArray[np.float64]
    """How much of the graph each part should get; their sum is 1."""
    seed: int
    factor: float

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest dtype of unsigned integers that holds `count`."""
        return np.dtype(np.min_scalar_type(self.count))

    def ends(self, size: int) -> NDArray[np.int64]:
        """Return where each part ends if ``0 .. size - 1`` is cut in proportion."""
        ends = np.rint(np.cumsum(self.shares) * size).astype(np.int64)
        ends[-1] = size
        return ends


def wish(
    count: int, seed: int = 0, speeds: Sequence[float] | None = None, factor: float = 1.0
) -> Wish:
    """Check the options of `split`."""
    if not is_integer(count) or not 1 <= count <= MOST_PARTS:
        raise OptionError(f"count={count!r}: expected a number of parts, 1 to {MOST_PARTS:,}")
    if not is_integer(seed):
        raise OptionError(f"seed={seed!r} is not an integer")
    if not isinstance(factor, (int, float, np.number)) or not 0 <= factor <= 1:
        raise OptionError(f"factor={factor!r} is not between 0 (no bias) and 1 (full bias)")
    count = int(count)
    shares = np.full(count, 1 / count) if speeds is None else _shares(count, speeds)
    return Wish(count, shares, int(seed), float(factor))


def _shares(count: int, speeds: Sequence[float]) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(speeds, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise OptionError(f"speeds={speeds!r:.60} are not numbers") from error
    if numbers.shape != (count,):
        raise OptionError(f"speeds={speeds!r:.60}: expected one for each of {count} parts")
    if not (np.isfinite(numbers).all() and (numbers > 0).all()):
        raise OptionError(f"speeds={speeds!r:.60}: expected positive numbers")
    shares: NDArray[np.float64] = numbers / numbers.max()
    shares /= shares.sum()
    return shares

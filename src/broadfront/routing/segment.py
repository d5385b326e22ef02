"""A piece of an array, where it lies in the whole, and what its sender says about it.

The array is a view: making and cutting segments copies nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import RoutingError
from broadfront.given import is_integer

Array = NDArray[Any]


@dataclass(slots=True)
class Segment:
    """A view of an array, with metadata.

    Attributes
    ----------
    array
        The items; rows, where there are several dimensions.
    metadata
        Anything; it goes along as it is.
    offset, total
        The place of the first item in what was sent, and how many items that had.
    """

    array: Array
    metadata: Any = None
    offset: int = 0
    total: int = -1

    def __post_init__(self) -> None:
        if not isinstance(self.array, np.ndarray) or self.array.ndim == 0:
            raise RoutingError(f"{self.array!r:.60}: expected an array of items")
        if not is_integer(self.offset) or not is_integer(self.total):
            raise RoutingError(
                f"offset={self.offset!r:.20} or total={self.total!r:.20} is no number"
            )
        if self.total < 0:
            self.total = len(self.array)

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return self.array.nbytes

    def __len__(self) -> int:
        return len(self.array)

    def packets(self, size: int) -> Iterator[Segment]:
        """Yield segments of at most `size` bytes; one, if there is nothing in it."""
        if self.array.nbytes <= size:
            yield self
            return
        length = len(self.array)
        items = size // (self.array.nbytes // length)
        if items == 0:
            one = self.array.nbytes // length
            raise RoutingError(f"an item of {one:,} bytes does not fit packet_size={size:,}")
        for begin in range(0, length, items):
            yield Segment(
                self.array[begin : begin + items], self.metadata, self.offset + begin, self.total
            )


def as_segment(given: Any, metadata: Any = None) -> Segment:
    """Return what is to be sent, an array or already a segment, as a segment."""
    segment = given if isinstance(given, Segment) else Segment(np.atleast_1d(given), metadata)
    if segment.array.dtype.hasobject:
        raise RoutingError("an array of Python objects cannot be sent: put them into metadata")
    return segment

"""Large arrays in large pages, where the system has them.

Memory from the system comes by the page, each at the cost of a fault when it is first touched, and
a cache of addresses holds a few pages only. Pages of 2 MiB instead of 4 KiB make new memory several
times quicker to fill, and traversals, which jump about in it, a little quicker.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront.errors import OutOfMemoryError

LARGE_PAGE = 1 << 21


def new_array(length: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array, of undefined content, in large pages as far as it fills them."""
    nbytes = length * np.dtype(dtype).itemsize
    whole = nbytes // LARGE_PAGE * LARGE_PAGE
    if whole == 0 or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.empty(length, dtype)
    memory = anonymous_map(nbytes + LARGE_PAGE)
    octets = np.frombuffer(memory, np.uint8)
    first = -octets.ctypes.data % LARGE_PAGE
    with suppress(OSError):  # of a system built without them
        memory.madvise(mmap.MADV_HUGEPAGE, first, whole)
    return octets[first : first + nbytes].view(dtype)


def anonymous_map(nbytes: int) -> mmap.mmap:
    """Return memory straight from the system."""
    try:
        return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError, MemoryError) as error:
        raise OutOfMemoryError(f"there is no memory for {nbytes:,} bytes") from error


def zeros(length: int, dtype: DTypeLike) -> NDArray[Any]:
    """Do as `new_array` for one that is zero; what is not touched takes no memory."""
    array = new_array(length, dtype)
    if array.nbytes < LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        array.fill(0)
    return array

"""Large arrays in large pages, where the system has them.

Memory from the system comes by the page, each at the cost of a fault when it is first touched, and
a cache of addresses holds a few pages only. Pages of 2 MiB instead of 4 KiB make new memory several
times quicker to fill, and traversals, which jump about in it, a little quicker.

Fresh memory for the answer is about a tenth of a search in a grid, and a quarter of one in a
Kronecker graph of 2^18 vertices: faults cost more than the search of the vertices on a page. So the
memory of answers that nobody holds any more is kept for the next ones of their size, up to `SPARE`
bytes.

Small arrays begin with a cache line: where threads write into lines of their own, no two share one.

Invariant: memory is spare only when no array, and no view of one, is left in it.
"""

from __future__ import annotations

import errno
import mmap
import sys
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront.errors import OutOfMemoryError
from broadfront.keeping import factor

LARGE_PAGE = 1 << 21
CACHE_LINE = 64
SPARE, WORTH_KEEPING = 1 << 26, 1 << 17
"""Bytes of spare memory that are kept at most, none where ``BROADFRONT_KEEP`` is 0, and those of
the smallest array whose memory is kept: what is smaller the allocator of C keeps by itself."""


def new_array(length: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return a new array, of undefined content, in large pages as far as it fills them."""
    nbytes = length * np.dtype(dtype).itemsize
    if nbytes < LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return _within(np.empty(nbytes + CACHE_LINE, np.uint8), nbytes, CACHE_LINE).view(dtype)
    return _within(np.frombuffer(_mapped(nbytes), np.uint8), nbytes, LARGE_PAGE).view(dtype)


def answer_array(length: int, dtype: DTypeLike) -> NDArray[Any]:
    """Do as `new_array`, in spare memory if there is some; it is spare again when it is freed."""
    nbytes = length * np.dtype(dtype).itemsize
    if nbytes < WORTH_KEEPING or nbytes > SPARE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return new_array(length, dtype)
    memory = _taken(nbytes) or _Memory.mapped(nbytes)
    return np.asarray(_Lent(memory) if factor() > 0 else memory).view(dtype)


def _mapped(nbytes: int) -> mmap.mmap:
    """Return memory for so many bytes that begin where a page of their size does."""
    if nbytes < LARGE_PAGE:
        return anonymous_map(nbytes)
    memory = anonymous_map(nbytes + LARGE_PAGE)
    first = -np.frombuffer(memory, np.uint8).ctypes.data % LARGE_PAGE
    with suppress(OSError):  # of a system built without them
        memory.madvise(mmap.MADV_HUGEPAGE, first, nbytes // LARGE_PAGE * LARGE_PAGE)
    return memory


def _within(octets: NDArray[np.uint8], nbytes: int, page: int) -> NDArray[np.uint8]:
    first = -octets.__array_interface__["data"][0] % page  # quicker than `octets.ctypes`
    return octets[first : first + nbytes]


class _Memory:
    """So many bytes from the system, of which NumPy makes an array."""

    def __init__(self, nbytes: int, held: mmap.mmap, address: int) -> None:
        self.nbytes = nbytes
        self._held = held
        self.__array_interface__ = {
            "shape": (nbytes,), "typestr": "|u1", "data": (address, False), "version": 3
        }  # fmt: skip

    @classmethod
    def mapped(cls, nbytes: int) -> _Memory:
        """Return fresh memory."""
        held = _mapped(nbytes)
        page = LARGE_PAGE if nbytes >= LARGE_PAGE else CACHE_LINE
        octets = _within(np.frombuffer(held, np.uint8), nbytes, page)
        return cls(nbytes, held, octets.__array_interface__["data"][0])


class _Lent:
    """Memory that arrays have until all of them are gone."""

    def __init__(self, memory: _Memory) -> None:
        self._memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        if not sys.is_finalizing():
            _leave(self._memory)


_spare: list[_Memory] = []


def _taken(nbytes: int) -> _Memory | None:
    """Return spare memory of just this size, which is spare no more."""
    for memory in reversed(_spare.copy()):
        if memory.nbytes == nbytes:
            with suppress(ValueError):  # another thread was quicker
                _spare.remove(memory)
                return memory
    return None


def _leave(memory: _Memory) -> None:
    """Keep memory as spare; what has been so the longest goes where that is too much."""
    _spare.append(memory)
    while sum(memory.nbytes for memory in _spare.copy()) > SPARE:
        with suppress(IndexError):
            _spare.pop(0)


def anonymous_map(nbytes: int) -> mmap.mmap:
    """Return memory straight from the system."""
    try:
        return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError, MemoryError) as error:
        raise OutOfMemoryError(f"there is no memory for {nbytes:,} bytes") from error


def file_map(file: int, nbytes: int, name: str, access: int = mmap.ACCESS_DEFAULT) -> mmap.mmap:
    """Return an open file mapped to memory; `nbytes` 0 stands for all of it."""
    try:
        return mmap.mmap(file, nbytes, access=access)
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise OutOfMemoryError(f"there is no memory to map {name} to") from error


def in_large_pages(memory: mmap.mmap) -> mmap.mmap:
    """Have what is read from a mapped file from now on come in large pages, if there are such."""
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def zeros(length: int, dtype: DTypeLike) -> NDArray[Any]:
    """Do as `new_array` for one that is zero; what is not touched takes no memory."""
    array = new_array(length, dtype)
    if array.nbytes < LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        array.fill(0)
    return array

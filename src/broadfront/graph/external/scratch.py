"""A file without a name beside the one to be written, for what does not fit in memory.

It takes no name in the folder where the system can do without (Linux), and none for longer than a
moment elsewhere; so nothing stays when the process ends, however it ends.
"""

from __future__ import annotations

import mmap
import tempfile
from os import PathLike
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront.errors import GraphError
from broadfront.pages import file_map

Array = NDArray[Any]


class Scratch:
    """Bytes on the disk that are written and read by their place."""

    def __init__(self, folder: str | PathLike[str] | None) -> None:
        self.folder = folder
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self.size = 0
        """Where what is appended goes."""

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def append(self, array: Array) -> int:
        """Write an array at the end; return where it begins."""
        begin = self.size
        self.write(array, begin)
        self.size = begin + array.nbytes
        return begin

    def write(self, array: Array, place: int) -> None:
        """Write an array at a place."""
        left = np.ascontiguousarray(array).view(np.uint8).reshape(-1).data
        self._file.seek(place)
        while len(left):  # a disk that fills up takes a part first
            left = left[self._file.write(left) :]

    def mapped(self, length: int, dtype: DTypeLike) -> Array:
        """Return the array at the beginning, mapped; it stays when the file is closed.

        What the file holds behind it is gone.
        """
        nbytes = length * np.dtype(dtype).itemsize
        if nbytes == 0:
            return np.empty(0, dtype)
        self._file.truncate(nbytes)  # what is behind it would be kept on the disk, too
        memory = file_map(self._file.fileno(), nbytes, "a scratch file", mmap.ACCESS_READ)
        return np.frombuffer(memory, dtype)

    def read(self, place: int, length: int, dtype: DTypeLike) -> Array:
        """Return the array of `length` numbers at a place."""
        array = np.empty(length, dtype)
        left = array.view(np.uint8).reshape(-1).data
        self._file.seek(place)
        while len(left):
            found = self._file.readinto(left)
            if not found:
                raise GraphError("the scratch file is shorter than what was written to it")
            left = left[found:]
        return array

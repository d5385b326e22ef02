"""Memory that is kept from run to run: fresh pages cost as much as the work on them.

A workspace holds a team and named arrays that only ever grow. Runs at the same time in several
Python threads each get a workspace of their own; it goes back on the shelf when the run ends. It
keeps account of what the present run asked for, whatever it holds from earlier ones.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront.devices.control import LINE
from broadfront.devices.growing import allocate, free
from broadfront.devices.mail import Post, new_post
from broadfront.devices.team import Team
from broadfront.pages import zeros

_shelf: list[Workspace] = []
_lock = threading.Lock()


class Workspace:
    """A team of threads and the arrays it works in."""

    def __init__(self) -> None:
        self.team = Team()
        self._arrays: dict[str, NDArray[Any]] = {}
        self._asked: dict[str, int] = {}
        self._post: Post | None = None
        self._pieces: NDArray[np.int64] = np.zeros(0, np.int64)

    def array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return the array called `name`, at least `length` long; its content is as it was left."""
        array = self.kept_array(name, length, dtype)
        self._asked[name] = length * array.itemsize
        return array

    def kept_array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Do as `array` for one that is counted elsewhere: `asked_bytes` leaves it out."""
        return self._kept(name, length, dtype, zeros)

    def sparse_array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Do as `kept_array` for one of which a run touches little: in small pages."""
        return self._kept(name, length, dtype, np.zeros)

    def _kept(
        self, name: str, length: int, dtype: DTypeLike, make: Callable[..., NDArray[Any]]
    ) -> NDArray[Any]:
        kept = self._arrays.get(name)
        if kept is None or kept.dtype != dtype or len(kept) < length:
            kept = self._arrays[name] = make(length, dtype)
        return kept

    def growing(self, sizes: Sequence[int], anew: bool = False) -> NDArray[np.int64]:
        """Return the table of pieces that can grow, each of at least so many bytes.

        They are not in `asked_bytes`; `anew` gives back what earlier runs have left.
        """
        if anew or len(self._pieces) != 2 * len(sizes):
            self._free_pieces()
            self._pieces = np.zeros(2 * len(sizes), np.int64)
        if not allocate(self._pieces, np.array(sizes, np.int64)):
            raise MemoryError(f"there is no memory for {sum(sizes):,} bytes")
        return self._pieces

    def _free_pieces(self) -> None:
        free(self._pieces, len(self._pieces) // 2)

    def post(self, devices: int, without_boxes: bool = False) -> Post:
        """Return the post of so many devices, as new but for the boxes, which may be kept."""
        if self._post is None or len(self._post.agreed) != devices * LINE or without_boxes:
            self._free_post()
            self._post = new_post(devices)
        for array in (self._post.posted, self._post.taken, self._post.agreed):
            array[:] = 0
        return self._post

    def _free_post(self) -> None:
        if self._post is not None:
            free(self._post.boxes, len(self._post.boxes) // 2)

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self._free_post()
            self._free_pieces()

    @property
    def asked_bytes(self) -> int:
        """Bytes that the present run has asked for."""
        return sum(self._asked.values())

    @property
    def nbytes(self) -> int:
        """Bytes held, for this run or an earlier one."""
        return sum(array.nbytes for array in self._arrays.values())

    def begin(self) -> None:
        """Open the account of another run."""
        self._asked.clear()


class Ledger(Workspace):
    """A workspace that keeps account of what is asked for, and hands out next to nothing."""

    def kept_array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array all of whose elements are one and the same."""
        return np.lib.stride_tricks.as_strided(np.zeros(1, dtype), (length,), (0,))

    sparse_array = kept_array

    def growing(self, sizes: Sequence[int], anew: bool = False) -> NDArray[np.int64]:
        """Return a table without addresses."""
        return np.zeros(2 * len(sizes), np.int64)


@contextmanager
def borrowed() -> Iterator[Workspace]:
    """Lend a workspace for a block of code; one in which something failed is not lent again."""
    with _lock:
        workspace = _shelf.pop() if _shelf else Workspace()
    workspace.begin()
    yield workspace
    with _lock:
        _shelf.append(workspace)


@contextmanager
def borrowed_many(count: int) -> Iterator[list[Workspace]]:
    """Lend several workspaces at once."""
    with ExitStack() as stack:
        yield [stack.enter_context(borrowed()) for _ in range(count)]


def release() -> None:
    """Give all kept memory back to the system."""
    with _lock:
        _shelf.clear()


def _forget() -> None:
    global _lock
    _lock = threading.Lock()
    _shelf.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

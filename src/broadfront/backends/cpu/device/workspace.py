"""Memory that is kept from run to run: fresh pages cost as much as the work on them.

A workspace holds a team and named arrays that only ever grow. Runs at the same time in several
Python threads each get a workspace of their own; it goes back on the shelf when the run ends. It
keeps account of what the present run asked for, whatever it holds from earlier ones. Where every
index is checked (`broadfront.checking`), a run gets no more than it asks for.

Invariant: what is on the shelf takes no more than `broadfront.keeping.factor` times what the
largest of the last runs had in use, or than `ALWAYS_KEPT`. What has not been used for longest goes
first.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront import keeping
from broadfront.backends.cpu.device.control import LINE
from broadfront.backends.cpu.device.growing import allocate, free
from broadfront.backends.cpu.device.mail import Post, new_post
from broadfront.backends.cpu.device.team import Team
from broadfront.checking import ALWAYS
from broadfront.errors import OutOfMemoryError
from broadfront.locks import in_child, new_lock
from broadfront.pages import zeros

ALWAYS_KEPT = 1 << 26
LAST_RUNS = 16
SMALL = 1 << 16
NO_PIECES: NDArray[np.int64] = np.zeros(0, np.int64)

_shelf: list[Workspace] = []
"""Those that no run has, the one that was used last at the end."""
_lately: deque[int] = deque(maxlen=LAST_RUNS)
"""Bytes that each of the last runs had in use."""
_lock = new_lock()


class Workspace:
    """A team of threads and the arrays it works in."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}
        self._sparse: dict[str, NDArray[Any]] = {}
        self._asked: dict[str, int] = {}
        self._used: dict[str, int] = {}
        self._post: Post | None = None
        self._pieces = NO_PIECES
        self.of_arcs: Callable[[int, DTypeLike], NDArray[Any]] | None = None
        """Makes arrays that are as large as the arcs, where these do not fit in memory."""
        self.team = Team()  # last: there may be no memory for it

    def array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return the array called `name`, at least `length` long; its content is as it was left."""
        array = self.kept_array(name, length, dtype)
        self._asked[name] = length * array.itemsize
        return array

    def arc_array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Do as `array` for one as large as the arcs, which need not be in memory."""
        if self.of_arcs is None or length * np.dtype(dtype).itemsize < SMALL:
            return self.array(name, length, dtype)
        return self.of_arcs(length, dtype)

    def kept_array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Do as `array` for one that is counted elsewhere: `asked_bytes` leaves it out."""
        array = self._arrays.get(name)
        if array is None or len(array) < length or array.dtype != dtype or ALWAYS:
            array = _kept(self._arrays, name, length, dtype, zeros)
        self._used[name] = length * array.itemsize
        return array

    def sparse_array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Do as `kept_array` for one of which a run touches little: in small pages."""
        return _kept(self._sparse, name, length, dtype, np.zeros)

    def growing(self, sizes: Sequence[int], anew: bool = False) -> NDArray[np.int64]:
        """Return the table of pieces that can grow, each of at least so many bytes.

        They are not in `asked_bytes`; `anew` gives back what earlier runs have left.
        """
        if anew or ALWAYS or len(self._pieces) != 2 * len(sizes):
            self._free_pieces()
            self._pieces = np.zeros(2 * len(sizes), np.int64)
        if not allocate(self._pieces, np.array(sizes, np.int64)):
            raise OutOfMemoryError(f"there is no memory for {sum(sizes):,} bytes")
        return self._pieces

    def _free_pieces(self) -> None:
        free(self._pieces, len(self._pieces) // 2)

    def post(self, devices: int, without_boxes: bool = False) -> Post:
        """Return the post of so many devices, as new but for the boxes, which may be kept."""
        anew = without_boxes or ALWAYS
        if self._post is None or len(self._post.agreed) != devices * LINE or anew:
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
    def growing_bytes(self) -> int:
        """Bytes of what has grown, boxes included."""
        boxes = 0 if self._post is None else int(self._post.boxes[1::2].sum())
        return boxes + sum(map(int, self._pieces[1::2].tolist()))

    @property
    def used_bytes(self) -> int:
        """Bytes that the present run has had in use."""
        return sum(self._used.values()) + self.growing_bytes

    @property
    def nbytes(self) -> int:
        """Bytes held, for this run or an earlier one, but for what is hardly touched."""
        return sum(array.nbytes for array in self._arrays.values()) + self.growing_bytes

    def begin(self, anew: bool = False) -> None:
        """Open the account of another run; `anew` drops the arrays that earlier ones have left."""
        self.of_arcs = None
        if anew:
            self._arrays.clear()
        self._asked.clear()
        self._used.clear()


def _kept(
    arrays: dict[str, NDArray[Any]],
    name: str,
    length: int,
    dtype: DTypeLike,
    make: Callable[..., NDArray[Any]],
) -> NDArray[Any]:
    """Return an array that is long enough; where indices are checked, no longer than that."""
    kept = arrays.get(name)
    if kept is None or kept.dtype != dtype or len(kept) < length:
        kept = arrays[name] = make(length, dtype)
    return kept[:length] if ALWAYS else kept


class Ledger(Workspace):
    """A workspace that keeps account of what is asked for, and hands out next to nothing.

    What is as large as the arcs is not counted where these are `streamed`.
    """

    def __init__(self, streamed: bool = False) -> None:
        super().__init__()
        if streamed:
            self.of_arcs = lambda length, dtype: self.kept_array("", length, dtype)

    def kept_array(self, name: str, length: int, dtype: DTypeLike) -> NDArray[Any]:
        """Return an array all of whose elements are one and the same."""
        return np.lib.stride_tricks.as_strided(np.zeros(1, dtype), (length,), (0,))

    sparse_array = kept_array

    def growing(self, sizes: Sequence[int], anew: bool = False) -> NDArray[np.int64]:
        """Return a table without addresses."""
        return np.zeros(2 * len(sizes), np.int64)


@contextmanager
def borrowed(anew: bool = False) -> Iterator[Workspace]:
    """Lend a workspace for a block of code; one in which something failed is not lent again."""
    with borrowed_many(1, anew) as workspaces:
        yield workspaces[0]


@contextmanager
def borrowed_many(count: int, anew: bool = False) -> Iterator[list[Workspace]]:
    """Lend several workspaces at once; `anew` for a run that may hold no more than it asks for."""
    with _lock:
        there = min(count, len(_shelf))
        workspaces = [_shelf.pop() for _ in range(there)]
    workspaces += [Workspace() for _ in range(count - there)]
    for workspace in workspaces:
        workspace.begin(anew)
    try:
        yield workspaces
    except BaseException:
        for workspace in workspaces:
            workspace.team.entrust(workspaces)
        raise
    for workspace in workspaces:
        workspace.of_arcs = None
    with _lock:
        _shelf.extend(reversed(workspaces))
        _lately.append(sum(workspace.used_bytes for workspace in workspaces))
    _make_room()


def _make_room() -> None:
    """Drop what is beyond the budget, what has not been used for longest first."""
    share = keeping.factor()
    with _lock:
        held = [workspace.nbytes for workspace in _shelf]
        if share and sum(held) <= ALWAYS_KEPT:
            return
        budget = max(ALWAYS_KEPT if share else 0, share * max(_lately, default=0))
        count = 0
        while sum(held[count:]) > budget or (not share and count < len(held)):
            count += 1
        dropped = _shelf[:count]
        del _shelf[:count]
    dropped.clear()
    keeping.give_back(sum(held[:count]))


def release() -> None:
    """Give all kept memory back to the system."""
    with _lock:
        _shelf.clear()
        _lately.clear()
    keeping.give_back(keeping.MUCH)


def _forget() -> None:
    _shelf.clear()
    _lately.clear()


in_child(_forget)

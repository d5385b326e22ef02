"""How much of mapped files is in memory: a guard lets go of them when it becomes too much.

What is mapped comes into memory by the page where it is touched, and stays. A `Guard` watches how
much of files the process holds, from a thread of its own, and takes all of its arrays out of memory
(``MADV_DONTNEED``) when that passes half of a budget; the other half is for what comes in before it
has looked again. Threads that touch the arrays do not run far ahead of it: pieces of
`broadfront.threads` look themselves, and compiled loops wait for a look after so many page faults
(`Guard.pace`). The content stays in the file, and mostly in the system's cache of it, from where it
comes back, as far ahead as the system reads, when it is touched again. Code that reads the arrays
needs to know nothing.

`Guard.array` makes an array that is a file without a name, for what is as large as the arcs and has
to be written.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from os import PathLike
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront.errors import OutOfMemoryError

Array = NDArray[Any]
Result = TypeVar("Result")

STATM = "/proc/self/statm"
INTERVAL = 0.0002
"""Seconds between two looks."""
AROUND_A_FAULT = 1 << 16
"""Bytes that come into memory with a page that is touched, where the system has them at hand."""
AT_HAND = 1 << 25
"""Bytes of a mapped graph that are in memory while it is only checked or looked over."""
HALF = 2
"""A budget is so many times what is let go of; and that so many times what comes in unseen."""


def guarding() -> bool:
    """Return whether this system tells what is in memory, and lets go of it."""
    return hasattr(mmap, "MADV_DONTNEED") and os.path.exists(STATM)


def of_files() -> int:
    """Return the bytes of mapped files that this process holds in memory."""
    with open(STATM) as told:
        return int(told.read().split()[2]) * mmap.PAGESIZE


def page_faults() -> int:
    """Return how many page faults this process has had."""
    import resource  # which not all systems have

    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_minflt + used.ru_majflt


class Guard:
    """Keeps some mapped arrays from taking more than `budget` bytes of memory inside a block."""

    def __init__(
        self, arrays: Iterable[Array | None], budget: int, folder: str | PathLike[str] | None = None
    ) -> None:
        self._regions: list[tuple[int, int]] = []
        self.budget, self.folder = budget, folder
        self._over = threading.Event()
        self._looked: list[Callable[[], Array]] = []
        self._thread: threading.Thread | None = None
        self.times = 0
        """How often memory was let go."""
        self.most = 0
        """The most bytes that were seen."""
        self.add(*arrays)

    def add(self, *arrays: Array | None) -> None:
        """Guard more arrays."""
        for array in arrays:
            if array is not None and array.nbytes:
                begin = -(-array.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
                end = (array.ctypes.data + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
                if begin < end:
                    self._regions.append((begin, end - begin))

    def array(self, length: int, dtype: DTypeLike) -> Array:
        """Return a new array, all zero, that is a file without a name."""
        nbytes = max(1, length * np.dtype(dtype).itemsize)
        with tempfile.TemporaryFile(dir=self.folder, buffering=0) as file:
            os.posix_fallocate(file.fileno(), 0, nbytes)  # else a full disk ends the process
            memory = mmap.mmap(file.fileno(), nbytes)
        array = np.frombuffer(memory, dtype, length)
        self.add(array)
        return array

    def let_go(self) -> None:
        """Take the arrays out of memory."""
        advise = ctypes.CDLL(None).madvise
        for begin, nbytes in self._regions:
            advise(ctypes.c_void_p(begin), ctypes.c_size_t(nbytes), mmap.MADV_DONTNEED)
        self.times += 1

    def pace(self, looked: Callable[[], Array]) -> None:
        """Tell a compiled loop of every look, in the two words that `looked` returns.

        They are the page faults so far, and how many more there may be before the next look.
        """
        self._looked.append(looked)

    def look(self) -> None:
        """Let go if it has become too much."""
        held = of_files() - self._before
        self.most = max(self.most, held)
        if held > self.budget // HALF:
            self.let_go()

    def _watch(self) -> None:
        while not self._over.is_set():
            faults = page_faults()
            self.look()
            for looked in self._looked:
                looked()[:] = faults, max(1, self.budget // HALF // HALF // AROUND_A_FAULT)
            time.sleep(INTERVAL)

    def __enter__(self) -> Guard:
        if guarding():
            self.let_go()
            self._before = of_files()
            self._thread = threading.Thread(target=self._watch, daemon=True)
            try:
                self._thread.start()
            except RuntimeError as error:
                raise OutOfMemoryError(f"there is no room for another thread: {error}") from error
            self._token = _guards.set((*_guards.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread is not None:
            _guards.reset(self._token)
            self._thread.join()
            for looked in self._looked:
                looked()[0] = 0
            self.let_go()


_guards: ContextVar[tuple[Guard, ...]] = ContextVar("broadfront_guards", default=())


def guarded(task: Callable[[int], Result]) -> Callable[[int], Result]:
    """Return a task that looks, before each of its pieces, for the guards around the caller."""
    guards = _guards.get()
    if not guards:
        return task

    def looking(piece: int) -> Result:
        for guard in guards:
            guard.look()
        return task(piece)

    return looking

"""How much of mapped files is in memory: a guard lets go of them when it becomes too much.

What is mapped comes into memory where it is touched, and stays. A `Guard` takes all of its arrays
out of memory (``MADV_DONTNEED``) when there is too much of them. Who touches them looks whether
there is: compiled loops by themselves (`broadfront.backends.cpu.device.pace`), pieces of
`broadfront.threads` before they begin, and a thread of the guard for all else. The content stays in
the file, and mostly in the system's cache of it, from where it comes back when it is touched again.
Code that reads the arrays needs to know nothing.

How much comes in with one page that is touched is up to the system: with large pages in its cache,
2 MiB, which costs hardly more than 64 KiB. It never reaches over the end of a mapping; so where
2 MiB are too much at a time, a guard has the system cut mappings into blocks, which differ in a
flag that changes nothing else; then it is 64 KiB.

Invariant: a guard holds its arrays, so that whatever interrupts the caller, nothing else is let go
of in their place: what `madvise` takes out of memory and is in no file is lost.

`Guard.array` makes an array that is a file without a name, for what is as large as the arcs and has
to be written.
"""

from __future__ import annotations

import _thread
import ctypes
import mmap
import os
import tempfile
import weakref
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import cache
from os import PathLike
from types import TracebackType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront.errors import OutOfMemoryError
from broadfront.pages import file_map
from broadfront.presence import Presence, held_lock, present

Array = NDArray[Any]
Result = TypeVar("Result")

STATM = "/proc/self/statm"
INTERVAL = 0.001
"""Seconds between two looks of the thread."""
AROUND_A_FAULT, LARGEST_FOLIO = 1 << 16, 1 << 21
"""Bytes that come into memory with a page that is touched, in blocks and without."""
BLOCK, MOST_BLOCKS = 1 << 20, 1 << 13
"""Bytes of a block at least, and how many a guard makes: a process may have 2^16 mappings."""
AT_HAND = 1 << 24
"""Bytes of a mapped graph that are in memory while it is only checked or looked over."""
PART = 8
"""A budget has so many parts: five that may be there, one for what comes in between two looks, and
two for what threads touch before they look."""
TEXT_BYTES, MOST_REGIONS = 128, 64
(
    LOOKING, FAULTS, ALLOWED, FILE, BEFORE, MOST, THERE_MAY_BE, PAGE, ADVICE, TIMES, COUNT, TEXT,
) = range(12)  # fmt: skip
"""Words of a guard: whether a loop looks, page faults until the last look and how many may come
before the next, the file that tells what is held, bytes held before, the most that were seen since,
how many there may be, those of a page, the advice to the system, how often memory was let go, how
many regions there are, and where the file's text goes. Regions follow, each where it begins and its
bytes."""
REGIONS = TEXT + TEXT_BYTES // 8


def guarding() -> bool:
    """Return whether this system tells what is in memory, and lets go of it."""
    return hasattr(mmap, "MADV_DONTNEED") and os.path.exists(STATM)


def is_mapped(array: Array) -> bool:
    """Return whether an array is in a mapped file: memory of its own would not come back."""
    owner: Any = array
    while isinstance(owner, (np.ndarray, memoryview)):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    return isinstance(owner, mmap.mmap)


def page_faults() -> int:
    """Return how many page faults this process has had."""
    import resource  # which not all systems have

    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_minflt + used.ru_majflt


class Guard:
    """Keeps some mapped arrays from taking more than `budget` bytes of memory inside a block.

    Attributes
    ----------
    whole
        Whether large pages come in whole.
    at_a_time
        How many bytes come in with a page that is touched, at most.
    words
        What a look needs to know; compiled loops have its address.
    at_end
        Called when the block ends.
    """

    def __init__(
        self,
        arrays: Iterable[Array | None],
        budget: int,
        folder: str | PathLike[str] | None = None,
        whole: bool = False,
    ) -> None:
        self.budget, self.folder, self.whole = budget, folder, whole
        self.words = np.zeros(REGIONS + 2 * MOST_REGIONS, np.int64)
        self.words[THERE_MAY_BE] = 5 * budget // PART
        self.words[PAGE] = mmap.PAGESIZE
        self.at_end: list[Callable[[], None]] = []
        self._arrays: list[Array] = []
        self._over, self._ended = held_lock(), held_lock()
        self._thread: weakref.ref[Presence] | None = None
        self.at_a_time = LARGEST_FOLIO if whole else AROUND_A_FAULT
        self.add(*arrays)

    @property
    def times(self) -> int:
        """How often memory was let go."""
        return int(self.words[TIMES])

    @property
    def most(self) -> int:
        """The most bytes that were seen."""
        return int(self.words[MOST])

    @property
    def faults_between_looks(self) -> int:
        """How many page faults a loop may have before it looks."""
        return max(1, self.budget // PART // self.at_a_time)

    def add(self, *arrays: Array | None) -> None:
        """Guard more arrays; those that are no part of a mapping stay in memory."""
        for array in arrays:
            if array is not None and array.nbytes and guarding() and is_mapped(array):
                begin = -(-array.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
                end = (array.ctypes.data + array.nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
                if begin < end:
                    self._arrays.append(array)
                    self._add(begin, end - begin)

    def _add(self, begin: int, nbytes: int) -> None:
        count = int(self.words[COUNT])
        if count == MOST_REGIONS:
            raise OutOfMemoryError(f"a run may have {MOST_REGIONS} mapped arrays at most")
        self.words[REGIONS + 2 * count : REGIONS + 2 * count + 2] = begin, nbytes
        self.words[COUNT] += 1
        if self.whole:
            return
        block = max(BLOCK, -(-nbytes // MOST_BLOCKS // mmap.PAGESIZE) * mmap.PAGESIZE)
        if block >= LARGEST_FOLIO:
            self.at_a_time = LARGEST_FOLIO
        for first in range(begin, begin + nbytes, 2 * block):
            _advise(first, min(block, begin + nbytes - first), mmap.MADV_DONTDUMP)

    def array(self, length: int, dtype: DTypeLike) -> Array:
        """Return a new array, all zero, that is a file without a name."""
        nbytes = max(1, length * np.dtype(dtype).itemsize)
        with tempfile.TemporaryFile(dir=self.folder, buffering=0) as file:
            os.posix_fallocate(file.fileno(), 0, nbytes)  # else a full disk ends the process
            memory = file_map(file.fileno(), nbytes, "a scratch file")
        array = np.frombuffer(memory, dtype, length)
        self.add(array)
        return array

    def _advise_all(self, advice: int) -> None:
        for begin, nbytes in self.words[REGIONS:].reshape(-1, 2)[: self.words[COUNT]].tolist():
            _advise(begin, nbytes, advice)

    def let_go(self) -> None:
        """Take the arrays out of memory."""
        self._advise_all(mmap.MADV_DONTNEED)
        self.words[TIMES] += 1

    def look(self) -> None:
        """Let go if it has become too much."""
        held = self._of_files() - int(self.words[BEFORE])
        self.words[MOST] = max(self.words[MOST], held)
        if held > self.words[THERE_MAY_BE]:
            self.let_go()

    def _of_files(self) -> int:
        """Return the bytes of mapped files that this process holds in memory."""
        told = os.pread(int(self.words[FILE]), TEXT_BYTES, 0)
        return int(told.split()[2]) * mmap.PAGESIZE

    def __enter__(self) -> Guard:
        if guarding():
            self.words[ADVICE] = mmap.MADV_DONTNEED
            self.let_go()
            file = os.open(STATM, os.O_RDONLY)
            weakref.finalize(self, os.close, file)
            self.words[FILE] = file
            self.words[BEFORE] = self._of_files()
            self._thread = present(_watch, weakref.ref(self), self._over, self._ended)
            self._token = _guards.set((*_guards.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.release()
        if self._thread is not None:
            _guards.reset(self._token)
            while not self._ended.acquire(timeout=1) and self._thread() is not None:
                pass
            for call in self.at_end:
                call()
            self.let_go()
            self._advise_all(mmap.MADV_DODUMP)


def _watch(guard: weakref.ref[Guard], over: _thread.LockType, ended: _thread.LockType) -> None:
    """Look again and again until it is over, or nobody holds the guard any more."""
    try:
        while not over.acquire(timeout=INTERVAL) and (there := guard()) is not None:
            there.look()
            del there
    finally:
        ended.release()


def _advise(begin: int, nbytes: int, advice: int) -> None:
    """Tell the system what is to become of some memory; it need not listen."""
    _madvise()(begin, nbytes, advice)


@cache
def _madvise() -> Callable[[int, int, int], int]:
    function = ctypes.CDLL(None).madvise
    function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return cast(Callable[[int, int, int], int], function)


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

"""The n-th allocation, thread, memory map or access to a file fails, as if the system refused it.

`install` puts a counter between the process and the system, once, before Broadfront is loaded:

- memory: arrays of NumPy (its allocator), arrays in compiled code (Numba's) and pieces that grow
  (``realloc``), and memory maps;
- threads: those of Python and those of teams;
- files: opening, reading, writing, closing, bringing onto the disk, renaming, folders.

Within a block under a `Failure` the n-th of these fails; with `lasting` all of its kind after it
fail, too. Only what Broadfront asks for is counted, and where in Broadfront is known.

SQLite's tests of memory and files (https://sqlite.org/testing.html) and LAGraph's brutal tests do
the same.
"""

from __future__ import annotations

import _thread
import builtins
import ctypes
import errno
import io
import mmap
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

MEMORY, THREADS, FILES = KINDS = ("memory", "threads", "files")
SOURCE = str(Path(__file__).parents[1] / "src" / "broadfront")
FOLDERS_AND_NAMES = ("open", "fsync", "replace", "fchmod", "fchown", "mkdir", "scandir", "utime")
NUMBA_ALLOCATES = {
    "NRT_Allocate": 1,
    "NRT_MemInfo_alloc": 1,
    "NRT_MemInfo_alloc_safe": 1,
    "NRT_MemInfo_alloc_aligned": 2,
    "NRT_MemInfo_alloc_safe_aligned": 2,
}
"""What compiled code calls for memory, and with how many numbers."""

_now: Failure | None = None
_kept: list[Any] = []
"""Functions that C code knows by address."""


class Failure:
    """What is to fail: the n-th of some kinds, within a block of code."""

    def __init__(self, number: int, kinds: tuple[str, ...] = KINDS, lasting: bool = False) -> None:
        self.number, self.kinds, self.lasting = number, kinds, lasting
        self.met = 0
        """How many of these kinds there have been."""
        self.places: list[str] = []
        """Where in Broadfront it failed."""
        self._lock = _thread.RLock()

    def __enter__(self) -> Failure:
        global _now
        _now = self
        return self

    def __exit__(self, *problem: object) -> None:
        global _now
        _now = None

    def strikes(self, kind: str) -> bool:
        """Count one more of this kind; tell whether it is the one to fail."""
        if kind not in self.kinds:
            return False
        place = _place()
        if place is None:
            return False
        with self._lock:
            self.met += 1
            fails = self.met == self.number or self._goes_on(kind)
            if fails:
                self.places.append(f"{kind} {place}")
        return fails

    def _goes_on(self, kind: str) -> bool:
        return self.lasting and bool(self.places) and self.places[0].startswith(kind)


def _place() -> str | None:
    """Return the innermost line of Broadfront that is being run by this thread."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith(SOURCE):
            name = frame.f_code.co_filename[len(SOURCE) + 1 :]
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return None


def _strikes(kind: str) -> bool:
    return _now is not None and _now.strikes(kind)


def install() -> None:
    """Put the counter in between; Broadfront's compiled code must not have been loaded yet."""
    if _kept:
        return
    _between_numpy_and_memory()
    _between_compiled_code_and_memory()
    _between_python_and_files()
    _between_python_and_threads()


# ---------------------------------------------------------------------- memory


class _Handler(ctypes.Structure):
    """NumPy's ``PyDataMem_Handler``."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]


DEFAULT_HANDLER = 306
"""The place of ``PyDataMem_DefaultHandler`` in NumPy's table."""


def _between_numpy_and_memory() -> None:
    """Change the default allocator in its place, so that all threads have the changed one."""
    from numpy._core import multiarray

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(multiarray._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    capsule = ctypes.cast(table[DEFAULT_HANDLER], ctypes.POINTER(ctypes.py_object))[0]
    handler = _Handler.from_address(pointer(capsule, b"mem_handler"))
    assert handler.name == b"default_allocator"
    for name, numbers in {"malloc": 2, "calloc": 3, "realloc": 3}.items():
        setattr(handler, name, _refusing(getattr(handler, name), numbers))


def _between_compiled_code_and_memory() -> None:
    from llvmlite import binding
    from numba.core.registry import cpu_target
    from numba.core.runtime import _nrt_python
    from numba.core.runtime.nrt import rtsys

    rtsys.initialize(cpu_target.target_context)
    for name, numbers in NUMBA_ALLOCATES.items():
        address = _nrt_python.c_helpers[name.removeprefix("NRT_")]
        binding.add_symbol(name, _refusing(address, numbers))
    address = ctypes.cast(ctypes.CDLL(None).realloc, ctypes.c_void_p).value
    assert address is not None
    binding.add_symbol("realloc", _refusing(address, 2))


def _refusing(address: int, numbers: int) -> int:
    """Return the address of a function that does as another, or returns nothing."""
    kind = (ctypes.c_void_p, *[ctypes.c_size_t] * numbers)
    original = ctypes.PYFUNCTYPE(*kind)(address)  # NumPy's own wants the interpreter lock

    def allocate(*given: int) -> Any:
        return None if _strikes(MEMORY) else original(*given)

    replacement = ctypes.CFUNCTYPE(*kind)(allocate)
    _kept.extend([original, replacement])
    found = ctypes.cast(replacement, ctypes.c_void_p).value
    assert found is not None
    return found


class _Map(mmap.mmap):
    """A memory map that may be refused."""

    def __new__(cls, *given: Any, **more: Any) -> _Map:
        if _strikes(MEMORY):
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        return super().__new__(cls, *given, **more)


# ---------------------------------------------------------------------- files


class _Raw(io.FileIO):
    """A file that may fail at any access."""

    def readinto(self, buffer: Any) -> int | None:
        _fail_file()
        return super().readinto(buffer)

    def readall(self) -> bytes:
        _fail_file()
        return super().readall()

    def write(self, data: Any) -> int | None:
        if _strikes(FILES):
            super().write(memoryview(data)[: len(data) // 2])  # as on a disk that is full
            raise _full()
        return super().write(data)

    def close(self) -> None:
        was_open = not self.closed
        super().close()
        if was_open:
            _fail_file()


def _full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _fail_file() -> None:
    if _strikes(FILES):
        raise _full()


def _between_python_and_files() -> None:
    mmap.mmap = _Map  # type: ignore[misc]
    for name in FOLDERS_AND_NAMES:
        setattr(os, name, _failing(getattr(os, name)))
    original = builtins.open

    def opened(file: Any, mode: str = "r", *given: Any, **more: Any) -> Any:
        if _now is None or _place() is None or mode not in ("rb", "wb"):
            return original(file, mode, *given, **more)
        if not isinstance(file, int):
            _fail_file()
        raw = _Raw(file, mode)
        return io.BufferedReader(raw) if mode == "rb" else io.BufferedWriter(raw)

    builtins.open = opened  # type: ignore[assignment]


def _failing(original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*given: Any, **more: Any) -> Any:
        _fail_file()
        return original(*given, **more)

    return call


# ---------------------------------------------------------------------- threads


def _between_python_and_threads() -> None:
    for home, name in (
        (_thread, "start_new_thread"),
        (threading, "_start_new_thread"),
        (threading, "_start_joinable_thread"),  # since 3.13
    ):
        if hasattr(home, name):
            setattr(home, name, _refused(getattr(home, name)))


def _refused(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(*given: Any, **more: Any) -> Any:
        if _strikes(THREADS):
            raise RuntimeError("can't start new thread")
        return original(*given, **more)

    return start

"""Compiling where an interrupt cannot reach: on a thread of its own.

Python raises what a signal handler raises in the main thread, wherever that is. In the middle of
Numba or LLVM it leaves half-made functions, counters and locks behind. So the main thread never
compiles: it has another thread do it and waits. When it is interrupted, it leaves at once; the
other thread goes on, and the next call finds what it made.

A thread that is lost before it begins (`broadfront.presence`) is noticed, and its work done here.

Invariant: the process neither ends nor forks in the middle of LLVM. At the end, work is given up at
the next step (`check_leaving`). A fork waits until nobody compiles, because in the child nobody
would go on with it.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

from broadfront.errors import OutOfMemoryError
from broadfront.presence import Presence, held_lock, present

Result = TypeVar("Result")


class _LeavingError(BaseException):
    """The process ends; what is being compiled is not needed any more."""


class _Work(Generic[Result]):
    """Something to do on another thread, and what came of it."""

    def __init__(self, task: Callable[[], Result]) -> None:
        self._task = task
        self._done = False
        self._end = held_lock()
        self._error: BaseException | None = None
        self._thread: weakref.ref[Presence] | None = None

    def begin(self) -> None:
        """Have another thread do it, if there is memory for one."""
        try:
            self._thread = present(self.do)
        except OutOfMemoryError:
            self.do()

    @property
    def _is_lost(self) -> bool:
        return self._thread is not None and self._thread() is None and not self._done

    def do(self) -> None:
        try:
            self._result = self._task()
        except BaseException as error:
            self._error = error
        finally:
            _under_way.discard(self)
            self._done = True
            self._end.release()

    def result(self) -> Result:
        """Wait for the end, and return or raise what came of it."""
        while not self._done:  # where a wait cannot be interrupted, its end can
            self._end.acquire(timeout=1)
            if self._is_lost:
                self.do()
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None  # or the error and its frames would keep each other
        return self._result

    def wait(self) -> None:
        """Wait for the end, whatever happens."""
        while not (self._done or self._is_lost):
            try:
                self._end.acquire(timeout=1)
            except BaseException:  # the process ends anyway
                continue


_under_way: set[_Work[Any]] = set()
_leaving = False


def apart(task: Callable[[], Result]) -> Result:
    """Return ``task()``, called where no interrupt reaches it; its error comes out here."""
    work = _Work(task)
    _under_way.add(work)
    if threading.get_ident() != threading.main_thread().ident:
        work.do()
        return work.result()
    work.begin()
    return work.result()


def check_leaving() -> None:
    """Give up what is being compiled if the process is about to end."""
    if _leaving:
        raise _LeavingError


def _leave() -> None:
    global _leaving
    _leaving = True
    for work in list(_under_way):
        work.wait()


atexit.register(_leave)

# ---------------------------------------------------------------------- fork

_locks = (global_compiler_lock._lock, ffi.lib._lock._lock)
_held: list[Any] = []


def _hold_locks() -> None:
    for lock in _locks:
        lock.acquire()
        _held.append(lock)


def _release_locks() -> None:
    while _held:
        _held.pop().release()


def _begin_anew() -> None:
    _under_way.clear()
    _release_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_hold_locks, after_in_parent=_release_locks, after_in_child=_begin_anew
    )

"""How long work took, and how much of that was compiling, or loading what was compiled before.

A kernel compiles once per machine and is then kept on disk; the next process loads it, which takes
some tenths of a second for the first. Counting that with the work itself would tell nobody
anything. `Clock` measures the three apart, on the wall: Numba tells when it compiles, and when it
holds its compiler lock, under which it does both.
`Allowance` hands out what is left of a time limit that several runs share.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from broadfront import notice
from broadfront.errors import TimeLimitError

Watcher = Callable[[bool], None]

_watchers: list[Watcher] = []


class Clock:
    """A stopwatch that starts when made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._compiled = _compiling.seconds
        self._prepared = _preparing.seconds

    @property
    def compile_seconds(self) -> float:
        """Seconds since the start in which some thread was compiling."""
        return _compiling.seconds - self._compiled

    @property
    def load_seconds(self) -> float:
        """Seconds since the start in which some thread loaded kernels, and none compiled."""
        return max(0.0, _preparing.seconds - self._prepared - self.compile_seconds)

    @property
    def seconds(self) -> float:
        """Seconds since the start, compiling and loading apart."""
        kernels = max(_preparing.seconds - self._prepared, self.compile_seconds)
        return time.perf_counter() - self._began - kernels


class Allowance:
    """A time limit for all runs in a block of code; None for none.

    with Allowance(time_limit) as left:
        run(program, graph, time_limit=left())
    """

    def __init__(self, time_limit: float | None) -> None:
        self._limit = time_limit
        self._clock = Clock()

    def __enter__(self) -> Callable[[], float | None]:
        return self.left

    def left(self) -> float | None:
        """Return the seconds that are left."""
        return None if self._limit is None else max(0.0, self._limit - self._clock.seconds)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, TimeLimitError):
            raise TimeLimitError(f"time_limit={self._limit} s is over") from None


@contextmanager
def preparing() -> Iterator[None]:
    """Count the block as loading of kernels: it puts one together, and is no part of the work."""
    _preparing.on_start(None)
    try:
        yield
    finally:
        _preparing.on_end(None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call ``watcher(True)`` when compiling begins in the block, with False when it ends.

    It takes the place of the line that says so otherwise (`broadfront.notice`).
    """
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


class _Listener(event.Listener):  # type: ignore[misc]
    """Adds up the time between the first start and the last end of events that overlap."""

    def __init__(self, told: Callable[[bool, Any], None] | None = None) -> None:
        self._lock = threading.Lock()
        self._nested = 0
        self._began = 0.0
        self._total = 0.0
        self._told = told

    @property
    def seconds(self) -> float:
        with self._lock:
            return self._total + (time.perf_counter() - self._began if self._nested else 0.0)

    def on_start(self, happening: Any) -> None:
        with self._lock:
            self._nested += 1
            outermost = self._nested == 1
            if outermost:
                self._began = time.perf_counter()
        if outermost and self._told:
            self._told(True, happening)

    def on_end(self, happening: Any) -> None:
        with self._lock:
            self._nested -= 1
            outermost = self._nested == 0
            if outermost:
                self._total += time.perf_counter() - self._began
        if outermost and self._told:
            self._told(False, happening)


def _tell(compiling: bool, happening: Any) -> None:
    for watcher in _watchers:
        watcher(compiling)
    function = getattr(happening.data["dispatcher"], "py_func", None)
    if not _watchers and getattr(function, "__module__", "").startswith("broadfront."):
        notice.compiling(compiling)


_compiling, _preparing = _Listener(_tell), _Listener()
event.register("numba:compile", _compiling)
event.register("numba:compiler_lock", _preparing)

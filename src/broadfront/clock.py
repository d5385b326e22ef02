"""How long work took, and how much of that was compiling.

A kernel compiles once per machine and is then kept on disk; counting that with the work itself
would tell nobody anything. `Clock` measures both apart, on the wall. `Allowance` hands out what is
left of a time limit that several runs share.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

from broadfront.errors import TimeLimitError

_lock = threading.Lock()
_nested = 0
_began = 0.0
_total = 0.0
_watchers: list[Callable[[bool], None]] = []


class Clock:
    """A stopwatch that starts when made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._compiled = _compiled()

    @property
    def compile_seconds(self) -> float:
        """Seconds since the start in which some thread was compiling."""
        return _compiled() - self._compiled

    @property
    def seconds(self) -> float:
        """Seconds since the start, compiling apart."""
        return time.perf_counter() - self._began - self.compile_seconds


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
def watching(watcher: Callable[[bool], None]) -> Iterator[None]:
    """Call ``watcher(True)`` when compiling begins in the block, with False when it ends."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def _compiled() -> float:
    with _lock:
        return _total + (time.perf_counter() - _began if _nested else 0.0)


class _Listener(event.Listener):  # type: ignore[misc]
    def on_start(self, happening: object) -> None:
        global _nested, _began
        with _lock:
            _nested += 1
            outermost = _nested == 1
            if outermost:
                _began = time.perf_counter()
        if outermost:
            _tell(True)

    def on_end(self, happening: object) -> None:
        global _nested, _total
        with _lock:
            _nested -= 1
            outermost = _nested == 0
            if outermost:
                _total += time.perf_counter() - _began
        if outermost:
            _tell(False)


def _tell(compiling: bool) -> None:
    for watcher in _watchers:
        watcher(compiling)


event.register("numba:compile", _Listener())

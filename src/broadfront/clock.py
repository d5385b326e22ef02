"""How long work took, and how much of that was compiling, or loading what was compiled before.

A kernel compiles once per machine and is then kept on disk; the next process loads it, which takes
some tenths of a second for the first. Counting that with the work itself would tell nobody
anything. `Clock` measures the three apart, on the wall: Numba tells when it compiles, and when it
holds its compiler lock, under which it does both. What is built from a graph before a run and kept
for the next (parts, a transpose) is told apart, too.
`Allowance` hands out what is left of a time limit that several runs share; `check_time` raises when
it is over, and work in Python that may take long calls it now and then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from numba.core import event

from broadfront import notice
from broadfront.errors import TimeLimitError
from broadfront.given import number
from broadfront.locks import in_child, new_lock

Watcher = Callable[[bool], None]

_watchers: list[Watcher] = []


class Clock:
    """A stopwatch that starts when made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._compiled = _compiling.seconds
        self._loaded = _loading.seconds
        self._prepared = _prepared.seconds

    @property
    def compile_seconds(self) -> float:
        """Seconds since the start in which some thread was compiling."""
        return _compiling.seconds - self._compiled

    @property
    def load_seconds(self) -> float:
        """Seconds since the start in which some thread loaded kernels, and none compiled."""
        return max(0.0, _loading.seconds - self._loaded - self.compile_seconds)

    @property
    def prepare_seconds(self) -> float:
        """Those of `seconds` that this thread spent in blocks of `preparing`."""
        return _prepared.seconds - self._prepared

    @property
    def run_seconds(self) -> float:
        """The rest of `seconds`."""
        return max(0.0, self.seconds - self.prepare_seconds)

    @property
    def seconds(self) -> float:
        """Seconds since the start, compiling and loading apart."""
        kernels = max(_loading.seconds - self._loaded, self.compile_seconds)
        return time.perf_counter() - self._began - kernels


class Allowance:
    """A time limit for all runs in a block of code; None for none.

    with Allowance(time_limit) as left:
        run(program, graph, time_limit=left())
    """

    def __init__(self, time_limit: float | None) -> None:
        self._limit = None if time_limit is None else number(time_limit, "time_limit", 0)
        self._clock = None if time_limit is None else Clock()

    def __enter__(self) -> Callable[[], float | None]:
        if self._clock is not None:
            self._token = _allowances.set((*_allowances.get(), self))
        return self.left

    def left(self) -> float | None:
        """Return the seconds that are left."""
        if self._clock is None or self._limit is None:
            return None
        return max(0.0, self._limit - self._clock.seconds)

    def error(self) -> TimeLimitError:
        """Return the error of which to tell that no time is left."""
        return TimeLimitError(f"time_limit={self._limit} s is over")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._clock is None:
            return
        _allowances.reset(self._token)
        if isinstance(error, TimeLimitError):
            raise self.error() from None


_allowances: ContextVar[tuple[Allowance, ...]] = ContextVar("broadfront_allowances", default=())


def check_time() -> None:
    """Raise `TimeLimitError` if the time of an `Allowance` around the caller is over."""
    for allowance in _allowances.get():
        if allowance.left() == 0:
            raise allowance.error()


def time_left() -> float | None:
    """Return the seconds left of all allowances around the caller; None if there is no limit."""
    limits = (allowance.left() for allowance in _allowances.get())
    return min((left for left in limits if left is not None), default=None)


class _Prepared(threading.local):
    """Seconds that each thread has spent in blocks of `preparing`, and how deep it is in them."""

    seconds = 0.0
    depth = 0


_prepared = _Prepared()


@contextmanager
def preparing() -> Iterator[None]:
    """Count the block as building what is kept for later runs; compiling in it counts as that."""
    clock = Clock()
    depth = _prepared.depth
    try:
        _prepared.depth = depth + 1
        yield
    finally:
        _prepared.depth = depth
        if depth == 0:
            _prepared.seconds += clock.seconds


@contextmanager
def loading() -> Iterator[None]:
    """Count the block as loading of kernels: it puts one together, and is no part of the work."""
    _loading.on_start(None)
    try:
        yield
    finally:
        _loading.on_end(None)


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
        self._lock = new_lock()
        in_child(self._begin_anew)
        self._nested = 0
        self._so_far: tuple[float, float | None] = (0.0, None)
        self._told = told

    def _begin_anew(self) -> None:
        """Forget what other threads were doing in the parent of this process."""
        self._nested = 0
        self._so_far = (self._so_far[0], None)

    @property
    def seconds(self) -> float:
        total, began = self._so_far  # both at once, so that nobody need wait for the lock
        return total if began is None else total + time.perf_counter() - began

    def on_start(self, happening: Any) -> None:
        with self._lock:
            self._nested += 1
            outermost = self._nested == 1
            if outermost:
                self._so_far = (self._so_far[0], time.perf_counter())
        if outermost and self._told:
            self._told(True, happening)

    def on_end(self, happening: Any) -> None:
        with self._lock:
            self._nested -= 1
            outermost = self._nested == 0
            if outermost:
                self._so_far = (self.seconds, None)
        if outermost and self._told:
            self._told(False, happening)


def _tell(compiling: bool, happening: Any) -> None:
    for watcher in _watchers:
        watcher(compiling)
    function = getattr(happening.data["dispatcher"], "py_func", None)
    home = getattr(function, "__module__", None) or ""
    if not _watchers and home.startswith("broadfront."):
        notice.compiling(compiling)


_compiling, _loading = _Listener(_tell), _Listener()
event.register("numba:compile", _compiling)
event.register("numba:compiler_lock", _loading)

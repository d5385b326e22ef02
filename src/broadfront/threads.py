"""Running a piece of compiled work on every core.

`run(task, pieces)` calls ``task(0) .. task(pieces - 1)``, each once, on a shared pool of threads.
Kernels release the interpreter lock, so the pieces really run at once. The caller's thread works
too: with one piece, or one thread, nothing is handed over at all.

Invariant: when `run` returns or raises, no piece of it is running. The first error stops the rest,
and so do Ctrl-C, the error of any other signal handler and a time limit
(`broadfront.clock.Allowance`), as soon as the pieces under way
are done; keep a piece under 100 ms.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from broadfront import progress
from broadfront.clock import check_time
from broadfront.errors import OptionError, OutOfMemoryError
from broadfront.given import count as counted
from broadfront.locks import in_child, new_lock

Result = TypeVar("Result")

NO_THREAD = "can't start new thread"
"""What Python says when the system refuses one."""
ALWAYS_ALLOWED, ALLOWED_PER_CORE = 256, 16

_limit: ContextVar[int | None] = ContextVar("broadfront_threads", default=None)
_lock = new_lock()
_pool: ThreadPoolExecutor | None = None


def available() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def most() -> int:
    """Return the largest number of threads that a run may have: beyond it they only wait."""
    return max(ALWAYS_ALLOWED, ALLOWED_PER_CORE * available())


def check(threads: int, named: str) -> int:
    """Return a number of threads; refuse what is not positive, or more than a run may have."""
    if threads < 1:
        raise OptionError(f"{named} is not a positive number")
    if threads > ALWAYS_ALLOWED and threads > most():
        raise OptionError(f"{named}: a run has at most {most():,} threads on {available()} cores")
    return threads


def count() -> int:
    """Return the number of threads work is spread over now.

    `limit` decides, then the environment variable BROADFRONT_THREADS, then the cores there are.
    """
    limited = _limit.get()
    if limited is not None:
        return limited
    named = os.environ.get("BROADFRONT_THREADS", "")
    if not named:
        return available()
    if not re.fullmatch("0*[1-9][0-9]{0,8}", named):
        raise OptionError(f"BROADFRONT_THREADS={named[:40]!r} is not a positive number")
    return check(int(named), f"BROADFRONT_THREADS={named}")


@contextmanager
def limit(threads: int) -> Iterator[None]:
    """Spread the work inside the block over `threads` threads."""
    token = _limit.set(check(counted(threads, "threads"), f"threads={threads}"))
    try:
        yield
    finally:
        _limit.reset(token)


def run(task: Callable[[int], Result], pieces: int, stage: str = "") -> list[Result]:
    """Call ``task(piece)`` for every piece, many at once, and return the results in order."""
    results: list[Result | None] = [None] * pieces
    turn = itertools.count()
    stopped = threading.Event()

    def work(is_caller: bool) -> None:
        try:
            while not stopped.is_set() and (piece := next(turn)) < pieces:
                if is_caller:
                    check_time()
                    if stage:
                        progress.report(stage, piece, pieces)
                results[piece] = task(piece)
        except BaseException:
            stopped.set()
            raise

    helpers: list[Future[None]] = []
    try:
        for _ in range(min(count(), pieces) - 1):
            helpers.append(_shared_pool().submit(work, False))  # noqa: PERF401
        work(True)
    except RuntimeError as error:
        stopped.set()
        if str(error) != NO_THREAD:
            raise
        raise OutOfMemoryError(f"there is no room for another thread: {error}") from error
    finally:
        stopped_early = stopped.is_set()
        for helper in helpers:
            helper.cancel()
        _wait(helpers, stopped)
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
    if stage and not stopped_early:
        progress.report(stage, pieces, pieces)
    return results  # type: ignore[return-value]


def _wait(helpers: Sequence[Future[None]], stopped: threading.Event) -> None:
    """Wait for all; what a signal handler raises stops them, and is raised once they have ended."""
    raised: BaseException | None = None
    while not all(helper.done() for helper in helpers):
        try:
            wait(helpers)
        except BaseException as error:
            stopped.set()
            raised = raised or error
    if raised is not None:
        raise raised


def ranges(length: int, grain: int) -> list[tuple[int, int]]:
    """Cut ``0 .. length`` into equal ranges of about `grain`, at least one per thread."""
    pieces = max(1, min(max(count(), -(-length // grain)), length))
    cuts = [length * piece // pieces for piece in range(pieces + 1)]
    return list(itertools.pairwise(cuts))


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max_workers=64, thread_name_prefix="broadfront")
        return _pool


def _forget_pool() -> None:
    global _pool
    _pool = None


in_child(_forget_pool)

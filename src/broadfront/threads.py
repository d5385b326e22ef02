"""Running a piece of compiled work on every core.

`run(task, pieces)` calls ``task(0) .. task(pieces - 1)``, each once, on a shared pool of threads.
Kernels release the interpreter lock, so the pieces really run at once. The caller's thread works
too: with one piece, or one thread, nothing is handed over at all.

Invariant: when `run` returns or raises, no piece of it is running. The first error stops the rest,
and so does Ctrl-C, as soon as the pieces under way are done; keep a piece under 100 ms.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from broadfront import progress
from broadfront.errors import OptionError

Result = TypeVar("Result")

_limit: ContextVar[int | None] = ContextVar("broadfront_threads", default=None)
_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def available() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
    return int(named)


@contextmanager
def limit(threads: int) -> Iterator[None]:
    """Spread the work inside the block over `threads` threads."""
    if threads < 1:
        raise OptionError(f"threads={threads} is not a positive number")
    token = _limit.set(threads)
    try:
        yield
    finally:
        _limit.reset(token)


def run(task: Callable[[int], Result], pieces: int, stage: str = "") -> list[Result]:
    """Call ``task(piece)`` for every piece, many at once, and return the results in order."""
    results: list[Result | None] = [None] * pieces
    turn = itertools.count()
    stopped = threading.Event()

    def work(reports: bool) -> None:
        try:
            while not stopped.is_set() and (piece := next(turn)) < pieces:
                if reports and stage:
                    progress.report(stage, piece, pieces)
                results[piece] = task(piece)
        except BaseException:
            stopped.set()
            raise

    helpers = [_shared_pool().submit(work, False) for _ in range(min(count(), pieces) - 1)]
    try:
        work(True)
    finally:
        stopped_early = stopped.is_set()
        for helper in helpers:
            helper.cancel()
        wait(helpers)
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
    if stage and not stopped_early:
        progress.report(stage, pieces, pieces)
    return results  # type: ignore[return-value]


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
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)

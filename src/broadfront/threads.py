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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from broadfront import progress
from broadfront.clock import check_time
from broadfront.errors import OptionError
from broadfront.given import count as counted
from broadfront.locks import in_child, new_lock
from broadfront.pool import Pool, Round
from broadfront.residence import guarded

Result = TypeVar("Result")

ALWAYS_ALLOWED, ALLOWED_PER_CORE = 256, 16

_limit: ContextVar[int | None] = ContextVar("broadfront_threads", default=None)
_lock = new_lock()
_pool: Pool | None = None


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
    work = Round(guarded(task), pieces, max(0, min(count(), pieces) - 1))
    try:
        if work.helpers:
            _shared_pool().help(work)
        for piece in work.work():
            check_time()
            if stage:
                progress.report(stage, piece, pieces)
        work.wait()
    except BaseException:
        work.stop_and_wait()
        raise
    work.raise_first()
    if stage:
        progress.report(stage, pieces, pieces)
    return work.results


def ranges(length: int, grain: int) -> list[tuple[int, int]]:
    """Cut ``0 .. length`` into equal ranges of about `grain`, at least one per thread."""
    pieces = max(1, min(max(count(), -(-length // grain)), length))
    cuts = [length * piece // pieces for piece in range(pieces + 1)]
    return list(itertools.pairwise(cuts))


def _shared_pool() -> Pool:
    global _pool
    with _lock:
        if _pool is None:
            _pool = Pool()
        return _pool


def _forget_pool() -> None:
    global _pool
    _pool = None


in_child(_forget_pool)

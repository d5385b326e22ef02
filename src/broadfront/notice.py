"""One line on standard error for whoever waits for the compiler and was not told why.

Said once per process, when kernels of Broadfront have compiled for a second in all, where a person
is likely to look: standard error is a terminal, or Python is interactive, as in a notebook.
``BROADFRONT_QUIET=1`` silences it, and so does `broadfront.clock.watching`: whoever watches tells
it in a way of his own, as the command line does.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
from contextlib import suppress

from broadfront.errors import OutOfMemoryError
from broadfront.presence import held_lock, present

PATIENCE = 1.0
"""Seconds of compiling before it is said."""
TEXT = "broadfront: compiling kernels, once per program and machine (BROADFRONT_QUIET=1 hides this)"

_said = False
_waiting: _thread.LockType | None = None
"""Held until the compiler has ended, where a thread waits to say the line."""
_began = 0.0
_spent = 0.0


def compiling(begins: bool) -> None:
    """Take note that Broadfront begins to compile, or has ended."""
    global _waiting, _began, _spent
    if begins:
        _began = time.perf_counter()
        if not _said and _someone_looks():
            _waiting = held_lock()
            with suppress(OutOfMemoryError):  # there is no room for a thread: it is not said
                present(_wait, _waiting, max(0.0, PATIENCE - _spent))
        return
    _spent += time.perf_counter() - _began
    if _waiting is not None:
        _waiting.release()
        _waiting = None


def _someone_looks() -> bool:
    if os.environ.get("BROADFRONT_QUIET", "0") not in ("", "0") or sys.stderr is None:
        return False
    interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules
    return interactive or sys.stderr.isatty()


def _wait(ended: _thread.LockType, seconds: float) -> None:
    """Say the line, unless the compiler ends before."""
    global _said
    if not ended.acquire(timeout=seconds) and not _said:
        _said = True
        print(TEXT, file=sys.stderr, flush=True)  # noqa: T201

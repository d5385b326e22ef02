"""One line on standard error for whoever waits for the compiler and was not told why.

Said once per process, when kernels of Broadfront have compiled for a second in all, where a person
is likely to look: standard error is a terminal, or Python is interactive, as in a notebook.
``BROADFRONT_QUIET=1`` silences it, and so does `broadfront.clock.watching`: whoever watches tells
it in a way of his own, as the command line does.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress

PATIENCE = 1.0
"""Seconds of compiling before it is said."""
TEXT = "broadfront: compiling kernels, once per program and machine (BROADFRONT_QUIET=1 hides this)"

_said = False
_waiting: threading.Timer | None = None
_began = 0.0
_spent = 0.0


def compiling(begins: bool) -> None:
    """Take note that Broadfront begins to compile, or has ended."""
    global _waiting, _began, _spent
    if begins:
        _began = time.perf_counter()
        if not _said and _someone_looks():
            _waiting = threading.Timer(max(0.0, PATIENCE - _spent), _say)
            _waiting.daemon = True
            with suppress(RuntimeError):  # there is no room for a thread: it is not said
                _waiting.start()
        return
    _spent += time.perf_counter() - _began
    if _waiting is not None:
        _waiting.cancel()
        _waiting = None


def _someone_looks() -> bool:
    if os.environ.get("BROADFRONT_QUIET", "0") not in ("", "0") or sys.stderr is None:
        return False
    interactive = hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules
    return interactive or sys.stderr.isatty()


def _say() -> None:
    global _said
    if not _said:
        _said = True
        print(TEXT, file=sys.stderr, flush=True)  # noqa: T201

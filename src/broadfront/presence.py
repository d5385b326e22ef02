"""Threads whose end is noticed, also of one that never came to its first line.

A thread that finds no memory for its first call ends without a word, and what it was to tell is
never told. So every thread holds something that nobody else does: when that is gone, so is it.
Python's own `threading.Thread` waits for its first word, for good.
"""

from __future__ import annotations

import _thread
import weakref
from collections.abc import Callable
from typing import Any

from broadfront.errors import OutOfMemoryError


def held_lock() -> _thread.LockType:
    """Return a lock to be released once: an event that an interrupt cannot leave half-way."""
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock


class Presence:
    """What a thread holds as long as it lives."""


def present(work: Callable[..., object], *given: Any) -> weakref.ref[Presence]:
    """Have a thread call ``work(*given)``; return a reference that is dead when the thread is."""
    presence = Presence()
    reference = weakref.ref(presence)
    try:
        _thread.start_new_thread(_work, (presence, work, given))
    except RuntimeError as error:
        raise OutOfMemoryError(f"there is no room for another thread: {error}") from error
    return reference


def _work(presence: Presence, work: Callable[..., object], given: tuple[Any, ...]) -> None:
    work(*given)

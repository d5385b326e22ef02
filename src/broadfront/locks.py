"""Locks that a forked child can use, whoever held them in the parent.

A child has only the thread that forked. A lock that another thread held would stay locked in it for
ever; so in the child all locks are made anew, but for those that the forking thread holds itself.

Invariant: what such a lock guards is whole at any moment (a thing is made first and then put in its
place), so that the child goes on with what there is and makes the rest again.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

_locks: WeakSet[Any] = WeakSet()


def new_lock() -> Any:
    """Return a lock that its holder may take again."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def in_child(forget: Callable[[], None]) -> None:
    """Call `forget` in every child that is forked."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


def _unlock() -> None:
    for lock in list(_locks):
        if not lock._is_owned():
            lock._at_fork_reinit()


in_child(_unlock)

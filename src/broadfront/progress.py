"""Who is told how far long work has come.

A listener is any callable ``listener(stage, done, total)``. It is set for a block of code with
`listening`; the work itself reports with `report`, and pays nothing when no one listens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("broadfront_progress", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Send what is reported inside the block to `listener`; None leaves the present one."""
    if listener is None:
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report(stage: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, that `done` of `total` of `stage` is behind us."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)

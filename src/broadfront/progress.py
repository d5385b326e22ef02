"""Who is told how far long work has come.

A listener is any callable ``listener(stage, done, total)``. It is set for a block of code with
`listening`; the work itself reports with `report`, and pays nothing when no one listens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

INTERVAL = 0.1
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


@contextmanager
def following(stage: str, done: Callable[[], int], total: int = 0) -> Iterator[None]:
    """While the block runs, tell the listener every now and then what `done` returns.

    For work that is one long call into compiled code; a total that is not known is told as 0.
    """
    listener = _listener.get()
    if listener is None:
        yield
        return
    over = threading.Event()

    def tell() -> None:
        while not over.wait(INTERVAL):
            listener(stage, done(), total)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


def report(stage: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, that `done` of `total` of `stage` is behind us."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)

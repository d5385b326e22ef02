"""Who is told how far long work has come.

A listener is any callable ``listener(stage, done, total)``. It is set for a block of code with
`listening`; the work itself reports with `report`, and pays nothing when no one listens. What a
listener raises stops the work, and comes out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from broadfront.errors import OptionError
from broadfront.presence import held_lock, present

INTERVAL, SOON = 0.1, 0.01
Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("broadfront_progress", default=None)


def listening(listener: Listener | None) -> AbstractContextManager[None]:
    """Send what is reported inside the block to `listener`; None leaves the present one."""
    if listener is None:
        return nullcontext()
    if not callable(listener):
        raise OptionError(f"progress={listener!r:.60}: expected a function(stage, done, total)")
    return _heard_by(listener)


def unheard() -> AbstractContextManager[None]:
    """Tell nobody anything inside the block: for what is timed."""
    return _heard_by(None)


@contextmanager
def _heard_by(listener: Listener | None) -> Iterator[None]:
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def following(
    stage: str, done: Callable[[], int], stop: Callable[[], None], total: int = 0
) -> AbstractContextManager[None]:
    """While the block runs, tell the listener every now and then what `done` returns.

    For work that is one long call into compiled code; a total that is not known is told as 0. If
    the listener raises, `stop` is called until the block has ended, whose own error is dropped.
    """
    listener = _listener.get()
    return nullcontext() if listener is None else _told(listener, stage, done, stop, total)


@contextmanager
def _told(
    listener: Listener, stage: str, done: Callable[[], int], stop: Callable[[], None], total: int
) -> Iterator[None]:
    raised: list[BaseException] = []

    def tell() -> None:
        begun.append(None)
        try:
            while not over.acquire(timeout=INTERVAL):
                listener(stage, done(), total)
        except BaseException as error:
            raised.append(error)
            while not over.acquire(timeout=SOON):
                stop()
        finally:
            ended.release()

    begun: list[None] = []
    over, ended = held_lock(), held_lock()
    try:
        present(tell)
        yield
    except BaseException:
        if not raised:
            raise
    finally:
        over.release()
        if begun:  # who begins later ends at once
            ended.acquire()
    if raised:
        raise raised.pop()


def report(stage: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, that `done` of `total` of `stage` is behind us."""
    listener = _listener.get()
    if listener is not None:
        listener(stage, done, total)

"""Threads that find no memory for their first line: whoever waits for them notices."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import broadfront as bf
from broadfront import presence, progress, routing
from broadfront.apart import apart
from broadfront.presence import present
from broadfront.residence import Guard, guarding


def loses(*_: object) -> None:
    raise SystemExit  # which threads end by without a word


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have threads end before they do anything."""
    monkeypatch.setattr(presence, "_work", loses)


def gone(reference: Callable[[], object]) -> bool:
    until = time.perf_counter() + 10
    while reference() is not None and time.perf_counter() < until:
        time.sleep(0.001)
    return reference() is None


def test_it_is_there_as_long_as_the_thread() -> None:
    may_end, done = presence.held_lock(), list[str]()

    def work(word: str) -> None:
        may_end.acquire()
        done.append(word)

    thread = present(work, "word")
    assert thread() is not None
    may_end.release()
    assert gone(thread)
    assert done == ["word"]


def test_no_room_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    with pytest.raises(bf.OutOfMemoryError, match="no room for another thread"):
        present(print)
    assert apart(threading.get_ident) == threading.get_ident()


@pytest.mark.usefixtures("lost")
def test_what_is_to_be_done_apart_is_done_here() -> None:
    assert gone(present(print))
    assert apart(threading.get_ident) == threading.get_ident()


@pytest.mark.usefixtures("lost")
def test_a_dataflow_ends() -> None:
    with pytest.raises(bf.OutOfMemoryError, match="no memory for the first call of a thread"):
        routing.Context(2).run(lambda: 7)


@pytest.mark.usefixtures("lost")
def test_work_that_is_followed_goes_on() -> None:
    with progress.listening(print), progress.following("work", lambda: 0, lambda: None):
        answer = 7
    assert answer == 7


@pytest.mark.skipif(not guarding(), reason="this system tells nothing of its memory")
@pytest.mark.usefixtures("lost")
def test_a_guard_that_nobody_watches_for() -> None:
    with Guard([np.zeros(1)], 1 << 30) as guard:
        guard.look()


@pytest.mark.skipif(not guarding(), reason="this system tells nothing of its memory")
def test_a_guard_that_is_never_left_ends_when_it_is_dropped() -> None:
    """As where an interrupt comes before the block begins."""
    guard = Guard([np.zeros(1)], 1 << 30)
    watching = guard.__enter__()._thread
    assert watching is not None
    assert watching() is not None
    from broadfront import residence

    residence._guards.reset(guard._token)
    del guard
    assert gone(watching)

"""Forking while another thread holds a lock, or compiles: the child works."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

import broadfront as bf
from broadfront.clock import Clock, loading
from broadfront.locks import new_lock

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@contextmanager
def held_elsewhere(lock: Any) -> Iterator[threading.Event]:
    """Let another thread hold a lock; it lets go when the event is set, and at the end."""
    held, enough = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            enough.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(60)
    yield enough
    enough.set()
    holder.join()


def in_child(question: Callable[[], bool]) -> bool:
    """Return what a forked child answers; one that hangs is killed."""
    child = os.fork()
    if child == 0:
        answer = False
        try:
            answer = question()
        finally:
            os._exit(0 if answer else 1)
    until = time.perf_counter() + 120
    while time.perf_counter() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def test_a_lock_held_elsewhere_is_free_in_the_child() -> None:
    lock = new_lock()
    with held_elsewhere(lock):
        assert not lock.acquire(blocking=False)
        assert in_child(lambda: lock.acquire(timeout=1))


def test_a_lock_of_the_forking_thread_stays_its_own() -> None:
    lock = new_lock()

    def let_go() -> bool:
        lock.release()
        return True

    with lock:
        assert in_child(let_go)


def test_a_graph_that_another_thread_transposes() -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 0])
    _ = bf.from_edges([0, 1, 2], [1, 2, 0]).transpose  # compiled
    with held_elsewhere(graph._lock):
        assert in_child(lambda: graph.transpose.targets.tolist() == [2, 0, 1])


def test_a_partition_whose_parts_another_thread_builds() -> None:
    graph = bf.from_edges([0, 1, 2], [1, 2, 0])
    bf.split(graph, 2, by="random").parts()  # compiled
    split = bf.split(graph, 2, by="range")
    with held_elsewhere(split._lock):
        assert in_child(lambda: len(split.parts()) == 2)


def test_a_fork_waits_for_the_compiler() -> None:
    def tripled(value):  # type: ignore[no-untyped-def]
        return 3 * value

    compiled = numba.njit(tripled)  # noqa: TID251 - what is kept on disk would not compile
    with held_elsewhere(global_compiler_lock) as enough:
        threading.Timer(0.2, enough.set).start()
        assert in_child(lambda: bool(compiled(np.int64(5)) == 15))
    assert compiled(np.int64(6)) == 18


def test_clocks_of_a_child_run() -> None:
    """Time in which other threads loaded kernels is none of the child's."""
    with held_elsewhere(loading()):
        clock = Clock()

        def waits() -> bool:
            fresh = Clock()
            time.sleep(0.05)
            return fresh.seconds >= 0.05 and fresh.load_seconds == 0

        assert in_child(waits)
    assert clock.load_seconds > 0

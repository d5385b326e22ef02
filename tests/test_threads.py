"""Running pieces of work on many threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import broadfront as bf
from broadfront import progress, threads
from broadfront.devices.choose import choose
from broadfront.errors import OptionError


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("pieces", [0, 1, 3, 100])
def test_every_piece_once_in_order(count: int, pieces: int) -> None:
    with threads.limit(count):
        assert threads.run(lambda piece: piece * piece, pieces) == [
            piece * piece for piece in range(pieces)
        ]


@pytest.mark.parametrize("count", [1, 3])
def test_the_first_error_stops_the_rest_and_nothing_runs_on(count: int) -> None:
    running = threading.Semaphore(0)
    begun: list[int] = []

    def task(piece: int) -> None:
        begun.append(piece)
        time.sleep(0.001)
        if piece == 5:
            raise ZeroDivisionError("piece five")
        running.release()

    with threads.limit(count), pytest.raises(ZeroDivisionError, match="piece five"):
        threads.run(task, 10_000)
    seen = len(begun)
    time.sleep(0.02)
    assert len(begun) == seen < 10_000


def test_progress_is_told_from_start_to_end() -> None:
    told: list[tuple[str, int, int]] = []
    with progress.listening(lambda *what: told.append(what)):
        threads.run(lambda piece: None, 8, "counting sheep")
    assert {stage for stage, _, _ in told} == {"counting sheep"}
    assert told[-1] == ("counting sheep", 8, 8)
    progress.report("nobody listens", 0, 1)
    assert told[-1] == ("counting sheep", 8, 8)


def test_several_callers_at_once() -> None:
    answers: list[list[int]] = []

    def call() -> None:
        answers.append(threads.run(lambda piece: piece, 50))

    callers = [threading.Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert answers == [list(range(50))] * 8


def test_ranges_cover_everything() -> None:
    for length in (0, 1, 7, 1000):
        for grain in (1, 3, 10_000):
            pieces = threads.ranges(length, grain)
            assert [place for begin, end in pieces for place in range(begin, end)] == list(
                range(length)
            )


def test_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROADFRONT_THREADS", raising=False)
    assert threads.count() == threads.available() >= 1
    monkeypatch.setenv("BROADFRONT_THREADS", "3")
    assert threads.count() == 3
    with threads.limit(5):
        assert threads.count() == 5
    for wrong in ("0", "-1", "many"):
        monkeypatch.setenv("BROADFRONT_THREADS", wrong)
        with pytest.raises(OptionError, match="BROADFRONT_THREADS"):
            threads.count()
    with pytest.raises(OptionError, match="threads=0"), threads.limit(0):
        pass


def test_too_many_threads_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    many = threads.most() + 1
    assert threads.most() >= 256
    with (
        pytest.raises(OptionError, match=f"threads={many}: a run has at most"),
        threads.limit(many),
    ):
        pass
    for devices in (many, ["cpu*200", f"cpu*{many - 200}"]):
        if devices != many or many <= 1024:
            with pytest.raises(OptionError, match="a run has at most"):
                choose(devices)
    with pytest.raises(OptionError, match=f"threads={many}"):
        bf.bfs(bf.generate("cycle:5"), 0, threads=many, time_limit=5)
    monkeypatch.setenv("BROADFRONT_THREADS", str(many))
    with pytest.raises(OptionError, match="BROADFRONT_THREADS"):
        threads.count()


class AlarmError(Exception):
    """What a signal handler raises."""


def test_what_a_signal_handler_raises_leaves_no_piece_running() -> None:
    running: set[int] = set()

    def ring(*_: object) -> None:
        raise AlarmError

    def task(piece: int) -> None:
        running.add(piece)
        try:
            time.sleep(0.01)
        finally:
            running.discard(piece)

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with threads.limit(3), pytest.raises(AlarmError):
            threads.run(task, 100_000)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not running


STORM = """
import random, signal
from broadfront import threads

chance, interrupts, last = random.Random(7), 0, list(range(8))
signal.signal(signal.SIGALRM, signal.default_int_handler)
with threads.limit(4):
    for _ in range(20_000):
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 + 5e-5 * chance.random())
                threads.run(lambda piece: piece, 8)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            interrupts += 1
    print(interrupts > 100 and threads.run(lambda piece: piece, 8) == list(range(8)))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that send signals")
def test_a_storm_of_interrupts_leaves_no_lock_behind() -> None:
    """A lock that is taken when an interrupt comes stays so, and the process never ends."""
    told = subprocess.run(
        [sys.executable, "-c", STORM], stdout=subprocess.PIPE, timeout=120, check=True
    )
    assert told.stdout == b"True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    with threads.limit(2):
        threads.run(lambda piece: piece, 4)
        child = os.fork()
        if child == 0:
            os._exit(0 if threads.run(lambda piece: piece, 4) == [0, 1, 2, 3] else 1)
        assert os.waitpid(child, 0)[1] == 0

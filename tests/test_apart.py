"""Compiling on a thread of its own: the caller can be interrupted, the work cannot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

from broadfront.apart import apart
from broadfront.kernel import kernel

TESTS = Path(__file__).parent
TRIES = os.environ.get("BROADFRONT_INTERRUPTS", "3")


class AlarmError(Exception):
    """What the signal handler of these tests raises."""


@pytest.fixture
def alarm() -> Iterator[None]:
    """SIGALRM raises an error of the test's own."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise AlarmError

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_the_main_thread_has_another_do_it() -> None:
    assert apart(threading.get_ident) != threading.get_ident()


def test_any_other_thread_does_it_itself() -> None:
    seen: list[bool] = []
    worker = threading.Thread(
        target=lambda: seen.append(apart(threading.get_ident) == threading.get_ident())
    )
    worker.start()
    worker.join()
    assert seen == [True]


def test_an_error_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 // 0)


@pytest.mark.usefixtures("alarm")
def test_an_interrupted_caller_leaves_and_the_work_goes_on() -> None:
    may_end, ended = threading.Event(), threading.Event()

    def work() -> None:
        may_end.wait(60)
        ended.set()

    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(AlarmError):
        apart(work)
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(60)


def test_a_kernel_compiles_elsewhere_and_runs_here() -> None:
    compiled_by: list[int] = []

    def doubled(value):  # type: ignore[no-untyped-def]
        return 2 * value

    function = kernel(doubled)
    compile_here = function.compile  # type: ignore[attr-defined]

    def noting(signature: object) -> object:
        compiled_by.append(threading.get_ident())
        return compile_here(signature)

    function.compile = noting  # type: ignore[attr-defined]
    assert function(np.int64(21)) == 42
    assert len(compiled_by) == 1
    assert compiled_by[0] != threading.get_ident()


def run(script: Path | str, *words: str) -> subprocess.CompletedProcess[str]:
    source = ["-c", script] if isinstance(script, str) else [str(script)]
    paths = os.pathsep.join([str(TESTS), *sys.path])
    return subprocess.run(
        [sys.executable, *source, *words],
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=3600,
    )  # fmt: skip


def test_ctrl_c_while_compiling() -> None:
    done = run(TESTS / "interrupts.py", TRIES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ctrl_c_in_calls_of_all_kinds() -> None:
    done = run(
        TESTS / "interrupted.py", "3", "1", "alone", "async", "worklist", "convert", "graph500"
    )
    assert done.returncode == 0, done.stdout + done.stderr


LEAVING = """
import os, signal, threading
import broadfront as bf
from interrupts import program
signal.signal(signal.SIGINT, signal.default_int_handler)
graph = bf.from_edges([0, 1, 2], [1, 2, 3])
threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
bf.run(program(int.from_bytes(os.urandom(4), "little")), graph, threads=2)
"""


def test_a_process_that_leaves_while_compiling_does_not_crash() -> None:
    done = run(LEAVING)
    assert done.returncode in (0, -signal.SIGINT), done.stderr
    assert done.stderr == "" or "KeyboardInterrupt" in done.stderr

"""The line that says why the first call takes long: to whom, when, and how often."""

from __future__ import annotations

import _thread
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest

from broadfront import clock, notice


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def compile_something(module: str) -> None:
    def doubled(values):  # type: ignore[no-untyped-def]
        for place in range(len(values)):
            values[place] *= 2
        return values.sum()

    doubled.__module__ = module
    numba.njit(doubled)(np.arange(4))  # noqa: TID251 - what is kept on disk would not compile again


def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Return what a terminal shows, in a process that has not said it and has no patience.

    Not a fixture: pytest sets standard error anew between fixtures and the test.
    """
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(notice, "_said", False)
    monkeypatch.setattr(notice, "PATIENCE", 0.0)
    monkeypatch.delenv("BROADFRONT_QUIET", raising=False)
    return screen.getvalue


def test_it_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    compile_something("broadfront.graph.build")
    compile_something("broadfront.graph.build")
    assert shown() == notice.TEXT + "\n"


def test_it_is_not_said_of_what_others_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    compile_something("pixels.filters")
    assert shown() == ""


def test_it_is_not_said_before_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    monkeypatch.setattr(notice, "PATIENCE", 1e6)
    compile_something("broadfront.graph.build")
    assert shown() == ""
    assert notice._waiting is None
    assert notice._spent > 0


def test_it_is_not_said_where_there_is_no_room_for_a_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    shown = terminal(monkeypatch)
    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    compile_something("broadfront.graph.build")
    assert shown() == ""
    assert notice._waiting is None


def test_it_is_silenced_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    monkeypatch.setenv("BROADFRONT_QUIET", "1")
    compile_something("broadfront.graph.build")
    assert shown() == ""
    monkeypatch.setenv("BROADFRONT_QUIET", "0")
    compile_something("broadfront.graph.build")
    assert shown() != ""


def test_whoever_watches_says_it_himself(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    with clock.watching(lambda compiling: None):
        compile_something("broadfront.graph.build")
    assert shown() == ""


def test_it_is_for_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROADFRONT_QUIET", raising=False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.delattr(sys, "ps1", raising=False)
    assert not notice._someone_looks()
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    assert notice._someone_looks()
    monkeypatch.setattr(sys, "stderr", None)
    assert not notice._someone_looks()


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Unix")
def test_a_terminal_shows_it(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "BROADFRONT_QUIET": ""}
    script = "import broadfront as bf; bf.generate('kron:8')"
    subprocess.run(
        [sys.executable, "-c", script], env=environment, stderr=theirs, check=True, timeout=300
    )
    os.close(theirs)
    seen = os.read(ours, 4096).decode()
    os.close(ours)
    assert seen.strip() == notice.TEXT

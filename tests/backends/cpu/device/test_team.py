"""Threads that run calls at once: their answers, errors, losses, and what cannot be stopped."""

from __future__ import annotations

import _thread
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.backends.cpu.device import calls, control, team, workspace
from broadfront.backends.cpu.device.team import Team


def words(count: int) -> list[Any]:
    return [control.new_control()[0] for _ in range(count)]


def stopped(own: Any) -> bool:
    return bool(own[control.STOP] != control.RUNNING)


def wait_for_stop(own: Any, *_: object) -> None:
    while not stopped(own):
        threading.Event().wait(0.001)


@pytest.mark.parametrize("may_not_end", [False, True])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_call_once(count: int, may_not_end: bool) -> None:
    crew = Team()
    for _ in range(3):
        answers = crew.call_all(
            lambda number: number * number, [(number,) for number in range(count)], words(count),
            may_not_end=may_not_end,
        )  # fmt: skip
        assert answers == [number * number for number in range(count)]


@pytest.mark.parametrize("may_not_end", [False, True])
@pytest.mark.parametrize("bad", [0, 1, 2])
def test_an_error_in_one_stops_all(bad: int, may_not_end: bool) -> None:
    def fail(own: Any, number: int) -> None:
        if number == bad:
            raise ZeroDivisionError(f"call {number}")
        wait_for_stop(own)

    own = words(3)
    with pytest.raises(ZeroDivisionError, match=f"call {bad}"):
        Team().call_all(
            fail, [(each, number) for number, each in enumerate(own)], own, may_not_end=may_not_end
        )


# ---------------------------------------------------------------------- lost threads


def dies_at_once(*_: object) -> None:
    raise SystemExit  # which threads end by without a word


def dies_with_its_work(jobs: Any, presence: Any) -> None:
    presence.ready.release()
    jobs.get()
    raise SystemExit


def test_a_thread_that_ends_as_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    own = words(2)
    monkeypatch.setattr(team, "_work", dies_at_once)
    with pytest.raises(bf.DeviceError, match="before it began"):
        Team().call_all(wait_for_stop, [(each,) for each in own], own)


@pytest.mark.parametrize("may_not_end", [False, True])
def test_a_thread_that_ends_with_its_work(
    may_not_end: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = words(3)
    monkeypatch.setattr(team, "_work", dies_with_its_work)
    with pytest.raises(bf.DeviceError, match="a thread of cpu:0 ended"):
        Team().call_all(wait_for_stop, [(each,) for each in own], own, may_not_end=may_not_end)


@pytest.mark.parametrize("options", [{"threads": 2}, {"devices": 3, "threads": 1}])
def test_a_run_that_loses_a_thread(
    options: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = bf.generate("cycle:60")
    expected = bf.connected_components(graph, method="min_label", **options).component
    workspace.release()
    with monkeypatch.context() as patch:
        patch.setattr(team, "_work", dies_with_its_work)
        with pytest.raises(bf.DeviceError, match="a thread of cpu:"):
            bf.connected_components(graph, method="min_label", **options)
    again = bf.connected_components(graph, method="min_label", **options).component
    np.testing.assert_array_equal(again, expected)


def test_no_memory_for_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    own = words(2)

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    with pytest.raises(bf.DeviceMemoryError, match="no memory for thread 2 of 2"):
        Team().call_all(wait_for_stop, [(each,) for each in own], own)


# ---------------------------------------------------------------------- signals


class AlarmError(Exception):
    """What the signal handler of these tests raises."""


def press(number: int) -> Callable[..., None]:
    return lambda *_: os.kill(os.getpid(), number)


@pytest.fixture
def _alarm() -> Any:
    def ring(*_: object) -> None:
        raise AlarmError

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_alarm")
@pytest.mark.parametrize("may_not_end", [False, True])
def test_what_a_signal_handler_raises_stops_all_and_comes_out(may_not_end: bool) -> None:
    ended: list[int] = []
    caller = threading.get_ident()

    def work(own: Any, number: int) -> None:
        if threading.get_ident() == caller:
            return
        if number == 1:
            threading.Timer(0.05, press(signal.SIGALRM)).start()
        wait_for_stop(own)
        ended.append(number)

    own = words(3)
    with pytest.raises(AlarmError):
        Team().call_all(
            work, [(each, number) for number, each in enumerate(own)], own, may_not_end=may_not_end
        )
    assert sorted(ended) == ([0, 1, 2] if may_not_end else [1, 2])


def test_kept_errors_are_raised_once() -> None:
    rows = control.new_control(2)
    error = KeyError("kept")
    holders = [error, type(error)]
    rows[1, control.RAISED] = id(type(error))
    rows[1, control.RAISED + 1] = id(error)
    for holder in holders:  # as Python would have counted them
        control.ctypes.pythonapi.Py_IncRef(control.ctypes.py_object(holder))
    with pytest.raises(KeyError, match="kept") as caught:
        control.raise_kept(rows)
    assert caught.value is error
    control.raise_kept(rows)


# ---------------------------------------------------------------------- calls that do not end


class Dear:
    """Something that must live as long as a call runs."""


def test_calls_that_do_not_end_are_left_with_what_they_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "GRACE", 0.1)
    may_end, ended = threading.Event(), threading.Event()
    dropped = threading.Event()

    def work(own: Any, number: int) -> None:
        if number == 0:
            own[control.BEGUN] = 1
            own[control.DEADLINE] = 0
        may_end.wait(60)
        if number == 1:
            ended.set()

    own = words(2)
    crew = Team()
    with pytest.warns(RuntimeWarning, match="runs on after its run was stopped"):
        crew.call_all(
            work, [(each, number) for number, each in enumerate(own)], own, may_not_end=True
        )
    assert all(each[control.STOP] == control.OUT_OF_TIME for each in own)
    dear = Dear()
    team.weakref.finalize(dear, dropped.set)
    crew.entrust([dear])
    del dear, crew
    assert not dropped.is_set()
    may_end.set()
    assert ended.wait(60)
    assert dropped.wait(60)

"""What a listener raises stops the work and comes out of it, whatever the work is."""

from __future__ import annotations

import _thread
import threading
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Compute, Field, Phase, Program, progress, threads
from broadfront.partition.partitioners import metis


class Enough(Exception):
    pass


def refuse(stage: str, done: int, total: int) -> None:
    raise Enough(stage)


def refuse_the_loop(stage: str, done: int, total: int) -> None:
    if stage == "endless":
        raise Enough(stage)


def count_up(vertex, state):  # type: ignore[no-untyped-def]
    state.seen[vertex] += 1


def never(state):  # type: ignore[no-untyped-def]
    return False


ENDLESS = Program(
    {"seen": Field(np.int64)}, phases=[Phase([Compute(count_up)], until=never)], name="endless"
)


@pytest.mark.parametrize(
    "where", [{"threads": 1}, {"threads": 2}, {"devices": 2}], ids=["one", "two", "devices"]
)
def test_a_run_stops(where: dict[str, Any]) -> None:
    graph = bf.generate("cycle:50")
    with pytest.raises(Enough, match="endless"):
        bf.run(ENDLESS, graph, progress=refuse_the_loop, time_limit=60, **where)
    assert bf.bfs(graph, 0, **where).depth.max() == 25


@pytest.mark.parametrize("where", [{"threads": 2}, {"devices": 2}], ids=["apart", "together"])
def test_runs_from_each_source_stop(where: dict[str, Any]) -> None:
    graph = bf.generate("cycle:50")
    with pytest.raises(Enough, match="endless"):
        bf.run_each(
            ENDLESS, graph, frontier=[0, 1, 2], progress=refuse_the_loop, time_limit=60, **where
        )


def test_one_source_after_the_other_is_told_and_can_be_refused() -> None:
    graph, told = bf.generate("path:6"), []

    def listen(stage: str, done: int, total: int) -> None:
        if stage == "bfs":
            told.append((done, total))
        if told and done == 2:
            raise Enough

    with pytest.raises(Enough):
        bf.bfs(graph, [0, 1, 2], each=True, devices=2, progress=listen)
    assert [news for news in told if news[1] == 3] == [(1, 3), (2, 3)]


def test_generating_and_splitting_stop() -> None:
    with pytest.raises(Enough):
        bf.generate("kron:10", progress=refuse)
    with pytest.raises(Enough):
        bf.split(bf.generate("kron:10"), 2, "biased", progress=refuse)


def test_metis_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pymetis")
    monkeypatch.setattr(metis, "ARCS_FOR_A_PROCESS", 0)
    monkeypatch.setattr(progress, "INTERVAL", 0.001)
    with pytest.raises(Enough, match="METIS"):
        bf.split(bf.generate("grid:60x60"), 8, "metis", progress=refuse)


def test_an_error_of_the_work_comes_out_where_the_listener_is_content() -> None:
    def fail() -> None:
        with progress.listening(print), progress.following("work", lambda: 0, lambda: None):
            raise KeyError

    with pytest.raises(KeyError):
        fail()


def test_the_listener_is_asked_no_more_after_it_raised() -> None:
    calls, stopped = [], threading.Event()

    def listen(*news: object) -> None:
        calls.append(news)
        raise Enough

    def work() -> None:
        with progress.listening(listen), progress.following("work", lambda: 7, stopped.set, 9):
            assert stopped.wait(60)
            raise KeyboardInterrupt  # as a stopped loop does

    with pytest.raises(Enough):
        work()
    assert calls == [("work", 7, 9)]


# ---------------------------------------------------------------------- no room for a thread


def no_thread(*arguments: object) -> None:
    raise RuntimeError("can't start new thread")


def test_no_thread_to_follow_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_thread, "start_new_thread", no_thread)
    with pytest.raises(bf.OutOfMemoryError, match="no room for another thread") as caught:
        bf.bfs(bf.generate("path:3"), 0, threads=1, progress=print)
    assert isinstance(caught.value, MemoryError)


def test_no_thread_to_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_pool", None)
    with monkeypatch.context() as patched:
        patched.setattr(_thread, "start_new_thread", no_thread)
        with threads.limit(3), pytest.raises(bf.OutOfMemoryError, match="another thread"):
            threads.run(lambda piece: piece, 9)
    with threads.limit(3):
        assert threads.run(lambda piece: piece, 9) == list(range(9))

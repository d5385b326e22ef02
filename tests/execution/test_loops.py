"""Loops of programs: made once, and functors that may not end."""

from __future__ import annotations

import subprocess
import sys

import numba
import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Compute, Field, Phase, Program
from broadfront.algorithms.bfs import BFS, SMALLEST_PARENTS
from broadfront.execution.loops import made_once, may_not_end


def of(functor, until=None):  # type: ignore[no-untyped-def]
    fields = {"found": Field(np.int64)}
    return Program(fields, phases=[Phase([Compute(functor)], until=until)])


def straight(vertex, state):  # type: ignore[no-untyped-def]
    state.found[vertex] = np.sqrt(vertex) if vertex > 3 else 0


def winding(vertex, state):  # type: ignore[no-untyped-def]
    while state.found[vertex] < vertex:
        state.found[vertex] += 1


@numba.njit  # noqa: TID251 - a user's helper
def counted(number):  # type: ignore[no-untyped-def]
    total = 0
    for each in range(number):
        total += each
    return total


def helped(vertex, state):  # type: ignore[no-untyped-def]
    state.found[vertex] = counted(vertex)


def over(state):  # type: ignore[no-untyped-def]
    return counted(state.found[0]) == 0


def test_which_functors_may_not_end() -> None:
    assert not may_not_end(of(straight))
    assert may_not_end(of(winding))
    assert may_not_end(of(helped))
    assert may_not_end(of(straight, until=over))
    assert not may_not_end(BFS)
    assert may_not_end(SMALLEST_PARENTS)


def test_a_function_of_a_closure_counts() -> None:
    def calls(vertex, state):  # type: ignore[no-untyped-def]
        state.found[vertex] = counting(vertex)

    counting = counted
    assert may_not_end(of(calls))


def test_made_once() -> None:
    program = of(straight)
    made = made_once(program, "key", object)
    assert made_once(program, "key", object) is made
    with pytest.raises(ZeroDivisionError):
        made_once(program, "other", lambda: 1 // 0)
    assert "other" not in program._loops


ENDLESS = """
import os, signal, sys, threading, warnings
import numpy as np
import broadfront as bf
from broadfront import Compute, Field, Program
from broadfront.backends.cpu.device import calls

calls.GRACE = 0.2

def functor(vertex, state):
    while state.on == 1 and vertex == 1:
        state.found[vertex] = 1 - state.found[vertex]
    state.found[vertex] = 5

class AlarmError(Exception):
    pass

def ring(*_):
    raise AlarmError

program = Program({"found": Field(np.int64)}, step=[Compute(functor)], parameters=["on"])
graph = bf.from_edges([0, 1, 2], [1, 2, 0])
signal.signal(signal.SIGALRM, ring)
signal.signal(signal.SIGINT, signal.default_int_handler)

def run(on, **options):
    found = bf.run(program, graph, parameters={"on": on}, **options)["found"]
    print(found.tolist(), flush=True)

def tried(**options):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            run(1, **options)
        except BaseException as error:
            print(type(error).__name__, flush=True)
            assert warned or not options.get("time_limit")

run(0, threads=2)
tried(threads=1, time_limit=0.1)
run(0, threads=1)
signal.setitimer(signal.ITIMER_REAL, 0.3)
tried(threads=2)
run(0, threads=2)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
tried(threads=2)
run(0, threads=2)
"""


def test_a_functor_that_does_not_end_is_left_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENDLESS], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[5, 5, 5]",
        *("TimeLimitError", "[5, 5, 5]"),
        *("AlarmError", "[5, 5, 5]"),
        *("KeyboardInterrupt", "[5, 5, 5]"),
    ]


FACTOR = 1


def further(source, edge, state):  # type: ignore[no-untyped-def]
    return state.hops[source] + 1


def through(source, neighbor, edge, state):  # type: ignore[no-untyped-def]
    return further(source, edge, state)


def test_functions_that_come_to_be_called_later_are_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A helper is another now, and calls one that reads weights and a number from around."""
    program = Program(
        {"hops": Field(np.int64, fill=1000, combine="min")}, step=[Advance(through, into="hops")]
    )
    graph = bf.from_edges([0, 1], [1, 2], weight=np.array([5, 6]))

    def found() -> list[list[int]]:
        begin = {"hops": {0: 0}}
        return [
            bf.run(program, graph, frontier=[0], init=begin, devices=devices)["hops"].tolist()
            for devices in (1, "python")
        ]

    assert found() == [[0, 1, 2]] * 2
    here = globals()
    monkeypatch.setitem(here, "later", lambda edge, state: state.weight[edge] * FACTOR)
    monkeypatch.setitem(here, "further", lambda at, edge, state: later(edge, state))  # noqa: F821
    assert found() == [[0, 5, 6]] * 2
    monkeypatch.setitem(here, "FACTOR", 3)
    assert found() == [[0, 15, 18]] * 2

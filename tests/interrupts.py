"""Ctrl-C at random moments while a program compiles: ``python tests/interrupts.py [tries] [seed]``.

Each try compiles a program that no cache knows, and is interrupted after a random time, or not if
it is done sooner. The call must raise KeyboardInterrupt and nothing else, soon; and the same call
must be right afterwards. `make interrupts` makes many tries.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time

import numpy as np

import broadfront as bf
from broadfront import Compute, Field, Program

PATIENCE = 30.0
"""Seconds after which the caller should have been let go; some hundredths on free cores."""


def program(number: int) -> Program:
    """Return a program that is like no other."""

    def count(vertex, state):  # type: ignore[no-untyped-def]
        state.found[vertex] = vertex + number

    return Program({"found": Field(np.int64)}, step=[Compute(count)])


class Press:
    """Presses Ctrl-C once, after a while, and knows when."""

    def __init__(self, after: float) -> None:
        self.at: float | None = None
        self._timer = threading.Timer(after, self._press)
        self._timer.start()

    def _press(self) -> None:
        self.at = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    def cancel(self) -> None:
        self._timer.cancel()
        self._timer.join()
        time.sleep(0.001)  # so that what was pressed arrives in here


def tried(graph: bf.Graph, number: int, after: float, threads: int) -> str:
    """Return how a call ends that is interrupted after some seconds, and the one after it."""
    fresh, press, ended = program(number), Press(after), "done"
    try:
        try:
            bf.run(fresh, graph, threads=threads)
        finally:
            press.cancel()
    except KeyboardInterrupt:
        ended = "interrupted"
        late = time.perf_counter() - (press.at or 0)
        if late > PATIENCE:
            return f"interrupted after {late:.1f} s"
    found = bf.run(fresh, graph, threads=threads)["found"]
    return ended if (found == np.arange(len(found)) + number).all() else "wrong"


def main(tries: int, seed: int) -> int:
    """Try so often; return how many tries went wrong."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chance = random.Random(seed)
    graph = bf.from_edges([0, 1, 2], [1, 2, 3])
    first = int.from_bytes(os.urandom(4), "little")
    began = time.perf_counter()
    bf.run(program(first), graph, threads=2)
    usual = time.perf_counter() - began
    ends: dict[str, int] = {}
    for number in range(first + 1, first + 1 + tries):
        try:
            end = tried(graph, number, chance.random() * usual, chance.choice([1, 2]))
        except BaseException as error:
            end = f"{type(error).__name__}: {error}"
        ends[end] = ends.get(end, 0) + 1
    print(ends)  # noqa: T201
    return tries - ends.get("interrupted", 0) - ends.get("done", 0)


if __name__ == "__main__":
    tries_and_seed = [int(word) for word in sys.argv[1:]]
    sys.exit(min(100, main(*tries_and_seed, *[20, 0][len(tries_and_seed) :])))

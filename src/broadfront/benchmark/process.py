"""The other end of a worker: start it, ask it, and stop it when it takes too long.

Invariant: a call returns the reply, or raises `Failed` with the reason, and then the process is
gone; the next call starts a new one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from broadfront.benchmark.systems import Entry
from broadfront.benchmark.systems.system import Question
from broadfront.benchmark.worker import serve

START_SECONDS = 120.0
ANSWER_SECONDS = 600.0
THREAD_VARIABLES = (
    "BROADFRONT_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip


class Failed(Exception):
    """A system did not answer; `stopped` tells whether it took too long."""

    def __init__(self, reason: str, stopped: bool = False) -> None:
        super().__init__(reason)
        self.stopped = stopped


class Remote:
    """A system in a process of its own."""

    def __init__(self, entry: Entry, threads: int) -> None:
        self.entry = entry
        self.threads = threads
        self.facts: dict[str, Any] = {}
        self._process: Any = None
        self._pipe: Any = None

    def start(self) -> None:
        """Start the process, unless it runs, and learn what the system offers."""
        if self._process is not None:
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        arguments = (end, self.entry.adapter, self.threads)
        self._process = context.Process(target=serve, args=arguments, daemon=True)
        with _surroundings(self.threads):
            self._process.start()
        end.close()
        self.facts = self._reply(START_SECONDS, "starting")

    def convert(
        self, path: str, primitive: str, question: Question, limit: float | None
    ) -> dict[str, Any]:
        """Have the graph converted for a primitive."""
        self.start()
        self._pipe.send(("convert", path, primitive, question))
        facts: dict[str, Any] = self._reply(limit, "converting the graph")
        return facts

    def run(
        self, primitive: str, question: Question, limit: float | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run a primitive; return the times, and the answer."""
        self._pipe.send(("run", primitive, question))
        facts = self._reply(limit, "running")
        return facts, self._reply(ANSWER_SECONDS, "returning the answer")

    def stop(self) -> None:
        """End the process."""
        if self._process is None:
            return
        self._process.kill()
        self._process.join()
        self._process.close()
        self._pipe.close()
        self._process = self._pipe = None

    def _reply(self, limit: float | None, doing: str) -> Any:
        try:
            if not self._pipe.poll(limit):
                self.stop()
                raise Failed(f"{doing} took over {limit:g} s, stopped", stopped=True)
            status, content = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode
            self.stop()
            raise Failed(f"the process ended while {doing} (exit code {code})") from None
        if status == "failed":
            self.stop()
            raise Failed(" ".join(str(content).split()))
        return content


@contextmanager
def _surroundings(threads: int) -> Iterator[None]:
    """Let processes started in the block know their threads, and leave Ctrl-C to this one."""
    before = dict(os.environ)
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    # A thread of OpenMP that waits by spinning takes the core from the one it waits for wherever
    # other programs run too: PageRank of kron:12 took igraph and NetworKit 90 times as long.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        yield
    finally:
        if main:
            signal.signal(signal.SIGINT, handler)
        for name in (*THREAD_VARIABLES, "OMP_WAIT_POLICY"):
            os.environ.pop(name, None)
            if name in before:
                os.environ[name] = before[name]

"""A process that answers for one system, so that memory, threads and crashes are its own.

It takes messages from a pipe and answers each by ``("done", ...)`` or ``("failed", text)``; a run
is answered twice, at its end and with its answer, so that turning an answer into arrays is neither
timed nor limited. The graph arrives as a file, and is copied into memory of the process before the
system sees it: it is as if it had been made there.
"""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from broadfront.benchmark.systems.system import Question, System
from broadfront.clock import Clock
from broadfront.graph.csr import Graph
from broadfront.graph.read import read

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def serve(pipe: Connection, adapter: str, threads: int) -> None:
    """Answer messages until there is none."""
    try:
        module, _, name = adapter.partition(":")
        server = Server(getattr(import_module(module), name)(threads), pipe)
        pipe.send(("done", server.introduce()))
        while (message := pipe.recv()) is not None:
            getattr(server, message[0])(*message[1:])
    except (EOFError, BrokenPipeError, SystemExit):
        pass
    except BaseException as error:  # a panic of a Rust library is no Exception
        with suppress(OSError):
            pipe.send(("failed", f"{type(error).__name__}: {error}"))


class Server:
    """Holds a system and the forms of the graph it has been given."""

    def __init__(self, system: System, pipe: Connection) -> None:
        self._system = system
        self._pipe = pipe
        self._path = ""
        self._forms: dict[str, Any] = {}

    def introduce(self) -> dict[str, Any]:
        """Return what the other side must know of the system."""
        system = self._system
        return {
            "threads": system.threads, "offers": system.offers(), "notes": system.notes,
            "lacks": system.lacks,
        }  # fmt: skip

    def convert(self, path: str, primitive: str, question: Question) -> None:
        """Make the form of the graph that a primitive wants, unless it is there."""
        if path != self._path:
            gc.unfreeze()
            self._forms.clear()
            gc.collect()
            self._path = path
        form = self._system.form(primitive)
        seconds = None
        if form not in self._forms:
            graph = handed_over(path, weighted=form == "weighted")
            clock = Clock()
            self._forms[form] = self._system.convert(graph, form, question)
            seconds = clock.seconds
            gc.freeze()
        self._pipe.send(("done", {"form": form, "seconds": seconds}))

    def run(self, primitive: str, question: Question) -> None:
        """Run a primitive once."""
        work = getattr(self._system, primitive)
        made = self._forms[self._system.form(primitive)]
        gc.collect()
        before = _memory("VmRSS")
        with suppress(OSError):
            CLEAR.write_text("5")
        clock = Clock()
        finish = work(made, question)
        facts = {"seconds": clock.seconds, "compile_seconds": clock.compile_seconds}
        peak = _memory("VmHWM")
        self._pipe.send(("done", {**facts, "memory_before": before, "memory_peak": peak}))
        self._pipe.send(("done", finish()))


def handed_over(path: str, weighted: bool) -> Graph:
    """Return the graph in a file as arrays of this process."""
    stored = read(path)
    weights = np.array(stored.weights) if weighted else None
    return Graph(
        np.array(stored.offsets), np.array(stored.targets), weights, directed=False, self_loops=0
    )


def _memory(name: str) -> int:
    """Return a figure of this process in bytes; the largest ever where Linux is not there."""
    try:
        for line in STATUS.read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit

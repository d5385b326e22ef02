"""The runtime environment of a dataflow: its endpoints, its memory, and its runs.

A program first makes a context, endpoints, routers and links, and assigns functions to endpoints;
then `Context.run` calls each function on a thread of its own, and waits. The functions overlap as
far as they leave the interpreter lock: in NumPy, and in kernels (`broadfront.kernel.kernel`).

Invariant: when `run` returns or raises, no function of it is running, and the links are open and
empty for the next run. The first error of any function ends all of them, at the next operation of
each, and so do Ctrl-C and the time limit. The caller's thread, which alone can be interrupted by a
signal, only waits and never takes the lock.
"""

from __future__ import annotations

import _thread
import queue
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Protocol

from broadfront import threads
from broadfront.clock import Clock
from broadfront.devices.choose import Devices, choose
from broadfront.errors import OptionError, OutOfMemoryError, TimeLimitError
from broadfront.given import count, is_one_of, number
from broadfront.presence import Presence, present
from broadfront.routing.endpoint import DEVICE, HOST, ROUTER, Endpoint, expect_function
from broadfront.routing.memory import Memory
from broadfront.routing.monitor import Fate, Monitor, Stopped, Worker
from broadfront.routing.report import Report

if TYPE_CHECKING:
    from broadfront.routing.link import Link
    from broadfront.routing.worklist import DistributedWorklist


class Part(Protocol):
    """Something that holds what is under way, and can be emptied after a run."""

    def reset(self) -> None:
        """Make it as it was before the run."""


Job = tuple[Endpoint, Callable[..., Any], tuple[Any, ...]]
MEMORIES = ("own", "shared")


class Context:
    """Devices, the host, and what connects them.

    Parameters
    ----------
    devices
        As everywhere: a number of devices, or a list of names.
    memory
        ``"own"``: each device has a memory of its own, as a GPU has, and what is sent to it is
        copied there. ``"shared"``: all are one memory, and arrays go over as they are.
    memory_limit
        Bytes of each device that buffers of links may take.

    >>> from broadfront.routing import Context, Link
    >>> context = Context(devices=2)
    >>> there = Link(context.host, context.devices[0])
    >>> back = Link(context.devices[0], context.host)
    >>> def double():
    ...     for pending in there:
    ...         with pending as segment:
    ...             back.send(2 * segment.array)
    >>> def main():
    ...     there.send([1, 2, 3])
    ...     there.shutdown()
    ...     return back.receive().wait().array
    >>> context.devices[0].assign(double)
    >>> context.run(main)
    array([2, 4, 6])
    """

    def __init__(
        self, devices: Devices = 2, *, memory: str = "own", memory_limit: int | None = None
    ) -> None:
        if not is_one_of(memory, MEMORIES):
            raise OptionError(f"memory={memory!r}: expected one of {', '.join(MEMORIES)}")
        limit = None if memory_limit is None else count(memory_limit, "memory_limit")
        self.monitor = Monitor()
        self.endpoints: list[Endpoint] = []
        self.links: list[Link] = []
        self.worklists: list[DistributedWorklist] = []
        self.parts: list[Part] = []
        self.jobs: list[Job] = []
        self._active = False
        self._report: Report | None = None
        host = Memory("the host", -1)
        self.host = Endpoint(self, "host", HOST, host, threads=threads.count())
        self.devices = tuple(
            Endpoint(
                self, device.name, DEVICE,
                host if memory == "shared" else Memory(device.name, place, limit),
                index=place, threads=device.threads,
            )
            for place, device in enumerate(choose(devices))
        )  # fmt: skip

    def add_endpoint(self, endpoint: Endpoint) -> None:
        """Take note of an endpoint."""
        if any(endpoint.name == other.name for other in self.endpoints):
            raise OptionError(f"there is an endpoint {endpoint.name!r} already: give another name")
        self.endpoints.append(endpoint)

    def count_routers(self) -> int:
        """Return how many routers there are."""
        return sum(endpoint.kind == ROUTER for endpoint in self.endpoints)

    def check(self) -> None:
        """Leave the function that calls it if the run is ending: for long loops without links."""
        if self.monitor.stopped:
            raise Stopped

    def run(
        self,
        function: Callable[..., Any] | None = None,
        *arguments: Any,
        time_limit: float | None = None,
    ) -> Any:
        """Do what is assigned to endpoints and, on the host, ``function(*arguments)``.

        Returns what the function returns when all have ended. Raises the first error of any of
        them, `TimeLimitError` after `time_limit` seconds, and `DeadlockError` where all wait.
        """
        jobs = list(self.jobs)
        if function is not None:
            expect_function(function)
            jobs.insert(0, (self.host, function, arguments))
        answers = self.run_jobs(jobs, time_limit)
        return answers[0] if function is not None else None

    def run_jobs(self, jobs: Sequence[Job], time_limit: float | None = None) -> list[Any]:
        """Call ``function(*arguments)`` for every endpoint, function and arguments, all at once."""
        limit = None if time_limit is None else number(time_limit, "time_limit", 0)
        if self._active:
            raise OptionError("the context is running already: make another for a run inside a run")
        self._active = True
        run = _Run(self.monitor, jobs)
        try:
            return run.complete(limit)
        finally:
            self._report = Report.of(self, run.workers)
            for part in self.parts:
                part.reset()
            self._active = False

    @property
    def report(self) -> Report:
        """What the last run did: packets, bytes, items, idle time."""
        return self._report or Report.of(self, [])

    def __repr__(self) -> str:
        return f"Context({len(self.devices)} devices, {len(self.links)} links)"


class _Run:
    """The threads of one run, and what they return.

    Threads tell by lists that grow, in one operation of C each, that they have entered and left;
    the caller, whom a signal may interrupt anywhere, only compares how long these are.
    """

    def __init__(self, monitor: Monitor, jobs: Sequence[Job]) -> None:
        self.workers = [Worker(endpoint.name) for endpoint, _, _ in jobs]
        self._monitor = monitor
        self._jobs = jobs
        self._answers: list[Any] = [None] * len(jobs)
        self._threads: list[weakref.ref[Presence]] = []
        self._entered: list[None] = []
        self._left: list[None] = []
        self._closed = False
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()

    def complete(self, limit: float | None) -> list[Any]:
        """Start all threads, wait for all, and return their answers or raise the first error."""
        fate = self._monitor.begin(len(self._jobs))
        clock = Clock()
        try:
            for place in range(len(self._jobs)):
                self._threads.append(present(copy_context().run, self._call, place))
            while len(self._left) < len(self._jobs):
                left = 1.0 if limit is None else limit - clock.seconds
                if left <= 0:
                    raise TimeLimitError(f"time_limit={limit} s is over")
                with suppress(queue.Empty):
                    self._news.get(timeout=min(left, 1.0))
                self._expect_all()
        except BaseException as error:
            self._stop_and_wait(error, fate)
            raise
        finally:
            error_of_one = self._monitor.end()
        if error_of_one is not None:
            raise error_of_one
        return self._answers

    def _expect_all(self) -> None:
        """Refuse to wait for a thread that has ended, and has not left."""
        gone = sum(thread() is None for thread in self._threads)
        if gone > len(self._left):
            raise OutOfMemoryError("there was no memory for the first call of a thread")

    def _stop_and_wait(self, error: BaseException, fate: Fate) -> None:
        """End all functions, and wait, whatever is raised in the caller meanwhile."""
        while not self._closed or len(self._left) < len(self._entered):
            try:
                self._closed = True
                self._stop_elsewhere(error, fate)
                self._news.get(timeout=1)
            except BaseException:
                continue

    def _stop_elsewhere(self, error: BaseException, fate: Fate) -> None:
        """Stop by a thread that no signal can interrupt while it has the lock."""
        try:
            _thread.start_new_thread(self._monitor.stop, (error, fate))
        except RuntimeError:  # there is no room for one
            self._monitor.stop(error, fate)

    def _call(self, place: int) -> None:
        self._entered.append(None)
        try:
            if not self._closed:
                self._work(place)
        finally:
            self._left.append(None)
            self._news.put(None)

    def _work(self, place: int) -> None:
        endpoint, function, arguments = self._jobs[place]
        worker = self.workers[place]
        began = time.perf_counter()
        try:
            self._monitor.enter(worker)
            with threads.limit(endpoint.threads):
                self._answers[place] = function(*arguments)
        except Stopped:
            pass
        except BaseException as error:
            self._monitor.stop(error)
        finally:
            worker.seconds = time.perf_counter() - began
            self._monitor.leave()

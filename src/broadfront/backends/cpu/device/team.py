"""Threads that run one compiled loop together: those of one device, or of several.

The caller is the first of them: a run on one thread is a plain call, and a run on many hands the
loop to waiting threads and joins in. Threads are kept from run to run. Where functors have loops
that may not end, the caller only waits, so that it can leave
(`broadfront.backends.cpu.device.calls`).

Invariant: when `run` returns or raises, no thread of the team is inside the loop, but for those
that cannot be stopped. A functor that raises breaks the barriers of all devices, so that everybody
leaves, and so does a thread that ends for want of memory. A team whose run was cut short is not
used again, and its threads end when nobody holds it any more.
"""

from __future__ import annotations

import _thread
import queue
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from broadfront import threads as thread_settings
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device.calls import Calls
from broadfront.backends.cpu.device.pace import keep_to
from broadfront.errors import DeviceError, DeviceMemoryError, TimeLimitError
from broadfront.presence import Presence, held_lock
from broadfront.residence import Guard

Job = tuple[Calls, int]
STACK = 1 << 23
"""About what a thread takes of the address space."""


class Hired(Presence):
    """The presence of a thread of a team, which tells when it is ready."""

    def __init__(self) -> None:
        self.ready = held_lock()


class Team:
    """Threads that wait for work, and the control words that they share, a row per device."""

    def __init__(self) -> None:
        self._threads: list[weakref.ref[Hired]] = []
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._calls: Calls | None = None
        self.control = control.new_control()  # last: there may be no memory for it

    def run(
        self,
        loop: Callable[..., Any],
        threads: Sequence[int],
        arguments: Sequence[tuple[Any, ...]],
        *,
        time_limit: float | None = None,
        fault: tuple[int, int, int] | None = None,
        one_way: bool = False,
        may_not_end: bool = False,
        here: Sequence[int] | None = None,
        guard: Guard | None = None,
    ) -> Any:
        """Call ``loop(rank, threads, control, *arguments)`` on every thread of every device.

        Returns what the first of them returns. `fault` makes a device fail, for tests: at a block
        of its loop, after so many times. With `one_way` there are no incoming arcs yet, and the
        loop may be left for them: see `wants_incoming`. `may_not_end` tells whether functors have
        loops of their own. `here` are the devices that run in this process, all without a word.
        `guard` is of mapped arrays that the loop of the first device reads.
        """
        here = range(len(threads)) if here is None else here
        self.reset(time_limit, len(threads), fault)
        self.control[:, control.ONE_WAY] = one_way
        if guard is not None:
            keep_to(guard, self.control[0])
        if 0 not in here:  # whose words all look at
            self.control[0, control.BEGUN] = 1
            self.control[0, control.DEADLINE] += time.monotonic_ns()
        everybody = sum(threads)
        crowded = everybody > 1 and everybody > thread_settings.available()
        self.control[:, control.PATIENCE] = control.HASTY if crowded else control.PATIENT
        calls = [
            (rank, threads[device], self.control[device], *arguments[device])
            for device in here
            for rank in range(threads[device])
        ]
        if may_not_end and not compiled(loop):  # here, where Ctrl-C lets the caller go
            stopped = self.control[0].copy()
            stopped[control.STOP], stopped[control.BEGUN] = control.INTERRUPTED, 0
            loop(1, threads[0], stopped, *arguments[0])
        words = [call[2] if 0 in here else self.control[0] for call in calls]
        answers = self.call_all(loop, calls, words, together=True, may_not_end=may_not_end)
        self.raise_if_stopped(time_limit)
        return answers[0]

    def call_all(
        self,
        loop: Callable[..., Any],
        calls: Sequence[tuple[Any, ...]],
        words: Sequence[Any],
        *,
        together: bool = False,
        may_not_end: bool = False,
    ) -> list[Any]:
        """Call ``loop(*call)`` for all calls at once, each with control words; return the answers.

        Calls that run `together` do nothing before the first of them begins.
        """
        if len(calls) == 1 and not may_not_end:
            return [loop(*calls[0])]
        here = 0 if may_not_end else 1
        self._hire(len(calls) - here)
        under_way = self._calls = Calls(loop, calls, words)

        def others_run() -> bool:
            return not together or may_not_end or under_way.begun

        try:
            under_way.send(self._jobs, here)
            if here:
                under_way.call(0)
            if others_run():
                under_way.wait(self._lost, may_not_end)
        except BaseException:  # of a signal handler
            if others_run():
                under_way.stop_and_wait(self._lost, may_not_end)
            else:
                under_way.stop(control.INTERRUPTED)
            raise
        under_way.raise_first(self._lost())
        if under_way.over:
            self._calls = None
        return under_way.answers

    def entrust(self, things: Sequence[Any]) -> None:
        """Leave things to calls that run on, to be dropped when these end."""
        if self._calls is not None and not self._calls.over:
            self._calls.kept.extend(things)

    def _lost(self) -> int:
        return sum(thread() is None for thread in self._threads)

    def _hire(self, count: int) -> None:
        """Have at least so many threads; they know the jobs and not the team, which may go."""
        team = weakref.ref(self)

        def lose(thread: weakref.ref[Hired]) -> None:
            bereft = team()
            if bereft is not None and bereft._calls is not None:
                bereft._calls.stop(control.BROKEN)

        for number in range(len(self._threads), count):
            presence = Hired()
            ready = presence.ready
            self._threads.append(weakref.ref(presence, lose))
            try:
                _thread.start_new_thread(_work, (self._jobs, presence))
            except RuntimeError:
                problem = f"there is no memory for thread {number + 2} of {count + 1}"
                raise DeviceMemoryError(problem, 0, STACK) from None
            del presence
            while not ready.acquire(timeout=0.1):
                if self._lost():
                    raise DeviceError("a thread ended before it began to work", 0)

    def reset(
        self,
        time_limit: float | None,
        devices: int = 1,
        fault: tuple[int, int, int] | None = None,
    ) -> None:
        """Make ready for a run that may take so long from when it begins."""
        if len(self.control) != devices:
            self.control = control.new_control(devices)
        words = self.control
        words[:] = 0
        words[:, control.PAGE_SHIFT] = control.ALL_ARCS
        words[:, control.NEXT_LOOK] = time.monotonic_ns() + control.LOOK_EVERY_NANOSECONDS
        words[:, control.DEADLINE] = (  # the loop adds the time at which it begins
            control.NEVER if time_limit is None else int(min(time_limit * 1e9, control.NEVER))
        )
        for device in range(devices):
            words[device, control.FIRST] = -device * control.WORDS
        if fault is not None:
            words[fault[0], control.FAULT : control.FAULT + 2] = fault[1:]

    @property
    def wants_incoming(self) -> bool:
        """Whether the last run was left for want of incoming arcs, and is to be entered again."""
        return bool(self.control.item(0, control.STOP) == control.INCOMING_WANTED)

    def raise_if_stopped(self, time_limit: float | None) -> None:
        """Raise what the last run was stopped for, if it was."""
        control.raise_kept(self.control)
        stop = self.control.item(0, control.STOP)
        if stop == control.RUNNING:
            return
        device = int(self.control[0, control.STOPPED_BY])
        if stop == control.INTERRUPTED:
            raise KeyboardInterrupt
        if stop == control.OUT_OF_TIME:
            raise TimeLimitError(f"time_limit={time_limit} s is over")
        if stop == control.OUT_OF_MEMORY:
            wanted = int(self.control[device, control.WANTED])
            raise DeviceMemoryError(f"cpu:{device} could not get {wanted:,} bytes", device, wanted)
        if stop == control.LOST:
            raise DeviceError(f"cpu:{device} has failed, or its process is gone", device)
        if stop == control.FAULTED:
            block = int(self.control[device, control.FAULT])
            raise DeviceError(f"cpu:{device} failed at block {block}, as it was told", device)

    def __del__(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)


def compiled(loop: Any) -> bool:
    """Tell whether a loop has been compiled for some arguments, most likely those to come."""
    return bool(getattr(loop, "overloads", True))


def _work(jobs: queue.SimpleQueue[Job | None], presence: Hired) -> None:
    presence.ready.release()
    while (job := jobs.get()) is not None:
        job[0].call_and_tell(job[1])
        del job

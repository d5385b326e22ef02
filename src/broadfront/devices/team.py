"""Threads that run one compiled loop together: those of one device, or of several.

The caller is the first of them: a run on one thread is a plain call, and a run on many hands the
loop to waiting threads and joins in. Threads are kept from run to run.

Invariant: when `run` returns or raises, no thread of the team is inside the loop. An error in
Python (compilation, above all) comes before any thread has begun. A functor that raises breaks the
barriers of all devices, so that everybody leaves. A team whose run was cut short is not used again,
and its threads end when nobody holds it any more.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from broadfront import threads as thread_settings
from broadfront.devices import control
from broadfront.errors import DeviceError, DeviceMemoryError, TimeLimitError

Job = tuple[Callable[..., Any], tuple[Any, ...], Any, "Ends"]


class Ends:
    """How the calls of one run ended: an error or None for each that has."""

    def __init__(self) -> None:
        self.all: list[BaseException | None] = []
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()

    def note(self, error: BaseException | None) -> None:
        """Note that a call has ended."""
        self.all.append(error)
        self._news.put(None)

    def wait_for(self, count: int, words: Any) -> None:
        """Wait until so many have ended; Ctrl-C stops them, and is raised once they have."""
        interrupted = False
        while len(self.all) < count:
            try:
                self._news.get(timeout=1)
            except queue.Empty:
                continue
            except KeyboardInterrupt:
                interrupted = True
                if words[0, control.STOP] == control.RUNNING:
                    words[0, control.STOP] = control.INTERRUPTED
        if interrupted:
            raise KeyboardInterrupt

    def first_error(self) -> BaseException | None:
        """Return the first error, and forget all, whose frames refer to this."""
        found = next((error for error in self.all if error is not None), None)
        self.all.clear()
        return found


class Team:
    """Threads that wait for work, and the control words that they share, a row per device."""

    def __init__(self) -> None:
        self.control = control.new_control()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._started = 0

    def run(
        self,
        loop: Callable[..., Any],
        threads: Sequence[int],
        arguments: Sequence[tuple[Any, ...]],
        *,
        time_limit: float | None = None,
        fault: tuple[int, int, int] | None = None,
    ) -> Any:
        """Call ``loop(rank, threads, control, *arguments)`` on every thread of every device.

        Returns what the first of them returns. `fault` makes a device fail, for tests: at a block
        of its loop, after so many times.
        """
        self.reset(time_limit, len(threads), fault)
        crowded = sum(threads) > thread_settings.available()
        self.control[:, control.PATIENCE] = control.HASTY if crowded else control.PATIENT
        calls = [
            (rank, count, words, *given)
            for count, words, given in zip(threads, self.control, arguments, strict=True)
            for rank in range(count)
        ]
        self._hire(len(calls) - 1)
        ends, sent = Ends(), 0
        try:
            for call in calls[1:]:
                self._jobs.put((loop, call, self.control, ends))
                sent += 1
            answer = loop(*calls[0])
        except BaseException as error:
            _break(self.control)
            raise _named(error, self.control, self.control[0]) from None
        finally:
            if self.control[0, control.BEGUN] == 0:
                self.control[0, control.STOP] = control.INTERRUPTED
            ends.wait_for(sent, self.control)
        raised = ends.first_error()
        if raised is not None:
            try:
                raise raised
            finally:
                del raised  # or the error and this frame would keep each other
        self.raise_if_stopped(time_limit)
        return answer

    def _hire(self, count: int) -> None:
        """Have at least so many threads; they know the jobs and not the team, which may go."""
        for number in range(self._started + 1, count + 1):
            name = f"broadfront-{number}"
            threading.Thread(target=_work, args=(self._jobs,), daemon=True, name=name).start()
            self._started = number

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
        words[:, control.NEXT_LOOK] = time.monotonic_ns() + control.LOOK_EVERY_NANOSECONDS
        words[:, control.DEADLINE] = (  # the loop adds the time at which it begins
            control.NEVER if time_limit is None else int(min(time_limit * 1e9, control.NEVER))
        )
        for device in range(devices):
            words[device, control.FIRST] = -device * control.WORDS
        if fault is not None:
            words[fault[0], control.FAULT : control.FAULT + 2] = fault[1:]

    def raise_if_stopped(self, time_limit: float | None) -> None:
        """Raise what the last run was stopped for, if it was."""
        stop = self.control[0, control.STOP]
        device = int(self.control[0, control.STOPPED_BY])
        if stop == control.INTERRUPTED:
            raise KeyboardInterrupt
        if stop == control.OUT_OF_TIME:
            raise TimeLimitError(f"time_limit={time_limit} s is over")
        if stop == control.OUT_OF_MEMORY:
            wanted = int(self.control[device, control.WANTED])
            raise DeviceMemoryError(f"cpu:{device} could not get {wanted:,} bytes", device, wanted)
        if stop == control.FAULTED:
            block = int(self.control[device, control.FAULT])
            raise DeviceError(f"cpu:{device} failed at block {block}, as it was told", device)

    def __del__(self) -> None:
        for _ in range(self._started):
            self._jobs.put(None)


def _break(words: Any) -> None:
    """Let nobody wait for a thread that has failed."""
    words[0, control.STOP] = control.BROKEN


def _named(error: BaseException, words: Any, own: Any) -> BaseException:
    """Return an error with a note that names the device, where there are several."""
    if len(words) > 1:
        error.add_note(f"on cpu:{-own[control.FIRST] // control.WORDS}")
    return error


def _work(jobs: queue.SimpleQueue[Job | None]) -> None:
    while (job := jobs.get()) is not None:
        _do(*job)
        del job


def _do(loop: Callable[..., Any], call: tuple[Any, ...], words: Any, ends: Ends) -> None:
    try:
        loop(*call)
    except BaseException as error:
        _break(words)
        ends.note(_named(error, words, call[2]))
    else:
        ends.note(None)

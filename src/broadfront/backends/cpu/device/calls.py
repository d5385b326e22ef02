"""The calls of one loop that run at once: who has ended and how, and who will never.

Each call has control words of its own, or those of its device. An error in one breaks the barriers
of all, so that everybody leaves. Whoever waits here for the others notices three things besides
their ends: an exception in Python itself (Ctrl-C, or what another signal handler raises), which
stops them and is raised once they have left; a thread that is gone; and, where functors have loops
of their own that may not end, calls that go on long after they were stopped: these are left to
themselves, with all the memory that they use.
"""

from __future__ import annotations

import queue
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from broadfront.backends.cpu.device import control
from broadfront.errors import DeviceError

GRACE = 1.0
"""Seconds that a stopped call may go on before it is left to itself."""
LOOK_EVERY = 0.05
ABANDONED = (
    "a functor runs on after its run was stopped, in a loop of its own that does not end; nothing "
    "can stop its thread, which takes a core and the memory of the run from now on"
)


class Calls:
    """Calls of a loop, each on a thread."""

    def __init__(
        self, loop: Callable[..., Any], calls: Sequence[tuple[Any, ...]], words: Sequence[Any]
    ) -> None:
        self.answers: list[Any] = [None] * len(calls)
        self.kept: list[Any] = []
        """What must live for as long as a call runs."""
        self._loop = loop
        self._calls = calls
        self._words = words
        self._errors: list[BaseException] = []
        self._sent: list[None] = []
        self._ended: set[int] = set()
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()

    def send(self, jobs: queue.SimpleQueue[Any], first: int) -> None:
        """Hand all calls from the `first` on to threads, and know of each that was.

        Both happen in C, where no signal handler comes between.
        """
        numbers = [(self, number) for number in range(first, len(self._calls))]
        self._sent.extend(map(jobs.put, numbers))

    def call(self, number: int) -> None:
        """Make one of the calls."""
        words = self._words[number]
        try:
            if self._words[0][control.STOP] != control.BROKEN:
                self.answers[number] = self._loop(*self._calls[number])
            if words[control.STOP] != control.RUNNING:
                self.stop(words[control.STOP])
        except BaseException as error:
            self.stop(control.BROKEN)
            self._errors.append(self._named(error, words))

    def call_and_tell(self, number: int) -> None:
        """Make one of the calls that were sent, and tell who waits."""
        self.call(number)
        self._ended.add(number)
        if self.over:
            self.kept.clear()
        self._news.put(None)

    def stop(self, reason: int) -> None:
        """Stop all calls; the first reason stays, but for an error, after which nobody waits."""
        for words in self._words:
            if words[control.STOP] == control.RUNNING or reason == control.BROKEN:
                words[control.STOP] = reason

    @property
    def begun(self) -> bool:
        """Whether the first call is past the point where all assemble."""
        return bool(self._words[0][control.BEGUN])

    @property
    def over(self) -> bool:
        """Whether all calls that were sent have ended."""
        return len(self._ended) == len(self._sent)

    def wait(self, lost: Callable[[], int], may_not_end: bool) -> None:
        """Wait until all that were sent have ended, but for those whose threads are lost."""
        stopped_at: float | None = None
        while len(self._ended) + lost() < len(self._sent):
            with suppress(queue.Empty):
                self._news.get(timeout=LOOK_EVERY if may_not_end else 1)
            if may_not_end and self._is_stopped():
                stopped_at = stopped_at or time.monotonic()
                if time.monotonic() > stopped_at + GRACE and not self.over:
                    if self.begun:  # else it compiles, and will not begin
                        warnings.warn(ABANDONED, RuntimeWarning, stacklevel=4)
                    break

    def stop_and_wait(self, lost: Callable[[], int], may_not_end: bool) -> None:
        """Stop all calls and wait for them, whatever else is raised in the caller meanwhile."""
        while True:
            try:
                self.stop(control.INTERRUPTED)
                self.wait(lost, may_not_end)
                return
            except RuntimeWarning:
                raise
            except BaseException:
                continue

    def _is_stopped(self) -> bool:
        """Tell whether the calls are to end; stop them if it is time, and nobody else looks."""
        if self.begun and time.monotonic_ns() > self._words[0][control.DEADLINE]:
            self.stop(control.OUT_OF_TIME)
        going_on = (control.RUNNING, control.INCOMING_WANTED)
        return self._words[0][control.STOP] not in going_on

    def raise_first(self, lost: int) -> None:
        """Raise the first error of a call, or that one was lost; forget all errors."""
        errors, self._errors = self._errors, []
        if errors:
            try:
                raise errors[0]
            finally:
                errors.clear()  # their frames refer to this
        if lost and not self.over:
            first = len(self._calls) - len(self._sent)
            missing = set(range(first, len(self._calls))) - self._ended
            device = _device(self._words[min(missing)])
            raise DeviceError(f"a thread of cpu:{device} ended before its work was done", device)

    def _named(self, error: BaseException, words: Any) -> BaseException:
        """Return an error with a note that names the device, where there are several."""
        if any(_device(others) for others in self._words):
            error.add_note(f"on cpu:{_device(words)}")
        return error


def _device(words: Any) -> int:
    return int(-words[control.FIRST] // control.WORDS + words[control.ACTING])

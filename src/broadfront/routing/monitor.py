"""Steps that threads take on what they share, under one lock, when they can be taken.

Everything that endpoints share (buffers, queues, counters) changes in steps. A step is a function
that is called under the lock: it does its change and returns an answer, or it changes nothing and
returns `NOT_YET`. An operation, as sending, is a generator that yields steps, each with a text that
says what it waits for, and is sent their answers.

`Monitor.perform` drives an operation on the caller's thread. A step that cannot be taken yet is
parked; whoever takes the next step tries the parked ones again, oldest first, and hands each its
answer. So nobody polls, nobody is woken in vain, and there is no notification to forget. When the
last of the threads of a run parks, all wait for each other: that is an error, and no hang.

Invariant: between two steps what is shared is whole. So any order of steps is a run that may
happen, and the tests drive the same generators through all orders, without threads.
"""

from __future__ import annotations

import _thread
import time
from collections.abc import Callable, Generator
from typing import Any, TypeVar

from broadfront.errors import DeadlockError

Answer = TypeVar("Answer")
Step = tuple[Callable[[], Any], str]
Operation = Generator[Step, Any, Answer]

NOT_YET = object()
"""What a step returns that cannot be taken yet."""


class Stopped(BaseException):
    """Ends the functions of all endpoints when one of them has failed; none need catch it."""


class Fate:
    """The error that stopped a run, if one did."""

    error: BaseException | None = None


class Worker:
    """A thread of a run: its name, and for how long it waited."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.idle_seconds = 0.0
        self.seconds = 0.0


class _Parked:
    """A step that waits, of whom, for what, and then its answer or error."""

    def __init__(self, attempt: Callable[[], Any], waits_for: str, worker: Worker) -> None:
        self.attempt = attempt
        self.waits_for = waits_for
        self.worker = worker
        self.answer: Any = NOT_YET
        self.error: BaseException | None = None
        self.awake = _thread.allocate_lock()
        self.awake.acquire()

    def try_again(self) -> bool:
        """Take the step if it can be taken; what it raises is for the one who waits."""
        try:
            self.answer = self.attempt()
        except BaseException as error:
            self.error = error
        return self.answer is not NOT_YET or self.error is not None


class Monitor:
    """The lock of a context, the steps that wait, and why a run was stopped."""

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._parked: list[_Parked] = []
        self._workers: dict[int, Worker] = {}
        self._running = 0
        self._fate = Fate()
        self.pause: Callable[[], None] | None = None
        """Called before every step, for tests that delay it."""

    @property
    def stopped(self) -> bool:
        """Whether the run is ending by an error."""
        return self._fate.error is not None

    def perform(self, operation: Operation[Answer]) -> Answer:
        """Take all steps of an operation; return what it returns."""
        answer = None
        try:
            while True:
                answer = self._take(*operation.send(answer))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def now(self, attempt: Callable[[], Any]) -> Any:
        """Try a step once; return `NOT_YET` if it cannot be taken."""
        with self._lock:
            if self.stopped:
                raise Stopped
            answer = attempt()
            if answer is not NOT_YET and self._parked:
                self._try_parked()
            return answer

    def _take(self, attempt: Callable[[], Any], waits_for: str) -> Any:
        if self.pause is not None:
            self.pause()
        with self._lock:
            if self.stopped:
                raise Stopped
            answer = attempt()
            if answer is not NOT_YET:
                if self._parked:
                    self._try_parked()
                return answer
            worker = self._workers.get(_thread.get_ident())
            if worker is None:
                raise DeadlockError(
                    f"there is no {waits_for.removeprefix('a ')}, and only functions of a run wait"
                )
            parked = _Parked(attempt, waits_for, worker)
            self._parked.append(parked)
            self._running -= 1
            self._stop_if_all_wait()
        began = time.perf_counter()
        parked.awake.acquire()
        worker.idle_seconds += time.perf_counter() - began
        if parked.error is not None:
            raise parked.error
        return parked.answer

    def _try_parked(self) -> None:
        """Take parked steps until none of them can be taken."""
        again = True
        while again:
            again = False
            for parked in list(self._parked):
                if parked.try_again():
                    self._wake(parked)
                    again = True

    def _wake(self, parked: _Parked) -> None:
        self._parked.remove(parked)
        self._running += 1
        parked.awake.release()

    def _stop_if_all_wait(self) -> None:
        if self._running or not self._parked:
            return
        waits = "; ".join(f"{each.worker.name} for {each.waits_for}" for each in self._parked)
        error = DeadlockError(f"all wait, and nobody is left to end it: {waits}")
        self._stop(error, self._fate)

    def _stop(self, error: BaseException, fate: Fate) -> None:
        if fate.error is None:
            fate.error = error
        for parked in list(self._parked):
            parked.error = Stopped()
            self._wake(parked)

    def begin(self, workers: int) -> Fate:
        """Make ready for a run of so many threads, which have not begun yet."""
        self._running = workers
        self._fate = Fate()
        return self._fate

    def end(self) -> BaseException | None:
        """End a run that all threads have left; return the error that stopped it, if any."""
        ended, self._fate = self._fate, Fate()
        return ended.error

    def enter(self, worker: Worker) -> None:
        """Count the caller's thread as one of the run."""
        with self._lock:
            self._workers[_thread.get_ident()] = worker

    def leave(self) -> None:
        """Count the caller's thread no more."""
        with self._lock:
            del self._workers[_thread.get_ident()]
            self._running -= 1
            self._stop_if_all_wait()

    def stop(self, error: BaseException, fate: Fate | None = None) -> None:
        """Stop a run, by default the present one, with an error: all who wait leave."""
        with self._lock:
            fate = fate or self._fate
            if fate is self._fate:  # if it ends right now, nobody is parked
                self._stop(error, fate)

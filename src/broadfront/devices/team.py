"""A team of threads that run one compiled loop together.

The caller is the first of them: a run on one thread is a plain call, and a run on many hands the
loop to waiting threads and joins in. Threads are kept from run to run.

Invariant: when `run` returns or raises, no thread of the team is inside the loop. Compiled loops
raise nothing; an error in Python (compilation, above all) comes before any thread has begun. A team
whose run was cut short is not used again.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from broadfront.devices import control
from broadfront.errors import TimeLimitError

Job = tuple[Callable[..., Any], int, int, tuple[Any, ...]]


class Team:
    """Threads that wait for work, and the control array that they share."""

    def __init__(self) -> None:
        self.control = control.new_control()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._started = 0

    def run(
        self,
        loop: Callable[..., Any],
        threads: int,
        *arguments: Any,
        time_limit: float | None = None,
    ) -> Any:
        """Call ``loop(rank, threads, control, *arguments)`` on every thread; return rank 0's."""
        self.reset(time_limit)
        for rank in range(self._started + 1, threads):
            threading.Thread(target=self._work, daemon=True, name=f"broadfront-{rank}").start()
            self._started = rank
        sent = 0
        try:
            for rank in range(1, threads):
                self._jobs.put((loop, rank, threads, arguments))
                sent += 1
            answer = loop(0, threads, self.control, *arguments)
        finally:
            if self.control[control.BEGUN] == 0:
                self.control[control.STOP] = control.INTERRUPTED
            errors = [self._done.get() for _ in range(sent)]
        for error in errors:
            if error is not None:
                raise error
        self.raise_if_stopped(time_limit)
        return answer

    def reset(self, time_limit: float | None) -> None:
        """Make ready for a run that may take so long from when it begins."""
        words = self.control
        words[:] = 0
        words[control.NEXT_LOOK] = time.monotonic_ns() + control.LOOK_EVERY_NANOSECONDS
        words[control.DEADLINE] = (  # the loop adds the time at which it begins
            control.NEVER if time_limit is None else int(min(time_limit * 1e9, control.NEVER))
        )

    def raise_if_stopped(self, time_limit: float | None) -> None:
        """Raise what the run was stopped for, if it was."""
        stop = self.control[control.STOP]
        if stop == control.INTERRUPTED:
            raise KeyboardInterrupt
        if stop == control.OUT_OF_TIME:
            raise TimeLimitError(f"time_limit={time_limit} s is over")

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            loop, rank, threads, arguments = job
            error: BaseException | None = None
            try:
                loop(rank, threads, self.control, *arguments)
            except BaseException as caught:
                error = caught
            del job, loop, arguments
            self._done.put(error)

    def __del__(self) -> None:
        for _ in range(self._started):
            self._jobs.put(None)

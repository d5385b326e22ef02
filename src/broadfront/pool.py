"""Threads that wait for pieces of work, and one round of such work.

A round is one call of `broadfront.threads.run`: a task, its pieces, and who works on them. The
caller and any number of threads of the pool take the next piece until none is left.

Everything that the caller shares with the threads is one operation in C: a queue, a list that
grows, a flag. Python's own pools, futures, events and conditions are written in Python: an
exception of a signal handler can come between taking their lock and knowing that it is taken, and
then nobody ever releases it; the threads wait for it for good, and so does the end of the process.

Invariant: when `Round.wait` returns, no piece of the round is being worked on; a thread that comes
later finds no piece.
"""

from __future__ import annotations

import _thread
import itertools
import queue
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Generic, TypeVar

from broadfront.errors import OutOfMemoryError

Result = TypeVar("Result")

MOST_THREADS = 64


class Round(Generic[Result]):
    """Pieces of work, for the caller and up to so many `helpers`."""

    def __init__(self, task: Callable[[int], Result], pieces: int, helpers: int) -> None:
        self.results: list[Any] = [None] * pieces
        self.helpers = helpers
        self.stopped = False
        self._task = task
        self._turn = itertools.count()
        self._not_begun = [None] * helpers
        self._ended: list[None] = []
        self._news: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._errors: list[BaseException] = []

    def work(self) -> Iterator[int]:
        """Work on a piece whenever it has been yielded; stop everybody at the first error."""
        try:
            while not self.stopped and (piece := next(self._turn)) < len(self.results):
                yield piece
                self.results[piece] = self._task(piece)
        except BaseException:
            self.stopped = True
            raise

    def help(self) -> None:
        """Work on pieces, as one of the helpers, and tell who waits."""
        try:
            self._not_begun.pop()
        except IndexError:
            return
        try:
            for _ in self.work():
                pass
        except BaseException as error:
            self._errors.append(error)
        finally:
            self._ended.append(None)
            self._news.put(None)

    def wait(self) -> None:
        """Wait for all helpers that have begun."""
        while len(self._ended) < self.helpers - len(self._not_begun):
            with suppress(queue.Empty):
                self._news.get(timeout=1)

    def stop_and_wait(self) -> None:
        """Let nobody begin another piece, and wait, whatever is raised in the caller meanwhile."""
        while True:
            try:
                self.stopped = True
                self.wait()
                return
            except BaseException:
                continue

    def raise_first(self) -> None:
        """Raise the first error of a helper; forget all errors."""
        errors, self._errors = self._errors, []
        if errors:
            try:
                raise errors[0]
            finally:
                errors.clear()  # their frames refer to this


class Pool:
    """Threads that help with rounds; they end when the pool goes."""

    def __init__(self) -> None:
        self._hired: list[None] = []
        self._busy: list[None] = []
        self._rounds: queue.SimpleQueue[Round[Any] | None] = queue.SimpleQueue()

    def help(self, round_: Round[Any]) -> None:
        """Have threads help with a round as soon as they are free."""
        missing = round_.helpers - (len(self._hired) - len(self._busy))
        for _ in range(min(missing, MOST_THREADS - len(self._hired))):
            self._hired.append(None)
            try:
                _thread.start_new_thread(_serve, (self._rounds, self._hired, self._busy))
            except RuntimeError as error:
                self._hired.pop()
                raise OutOfMemoryError(f"there is no room for another thread: {error}") from error
        for _ in range(round_.helpers):
            self._rounds.put(round_)

    def __del__(self) -> None:
        for _ in range(len(self._hired)):
            self._rounds.put(None)


def _serve(
    rounds: queue.SimpleQueue[Round[Any] | None], hired: list[None], busy: list[None]
) -> None:
    try:
        while (round_ := rounds.get()) is not None:
            busy.append(None)
            round_.help()
            busy.pop()
            del round_
    finally:
        hired.pop()

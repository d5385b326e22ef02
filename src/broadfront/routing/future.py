"""Answers that will be there later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from broadfront.routing.monitor import NOT_YET, Monitor

Answer = TypeVar("Answer")


class Future(Generic[Answer]):
    """What a send or a receive comes to: `done` looks, `result` waits."""

    def __init__(self, monitor: Monitor, attempt: Callable[[], Any], waits_for: str) -> None:
        self._monitor = monitor
        self._attempt = attempt
        self._waits_for = waits_for
        self._answer: Any = NOT_YET

    def _look(self) -> Any:
        """Take the answer once and keep it, a step."""
        if self._answer is NOT_YET:
            self._answer = self._attempt()
        return self._answer

    def done(self) -> bool:
        """Return whether the answer is there."""
        return self._monitor.now(self._look) is not NOT_YET

    def result(self) -> Answer:
        """Wait for the answer, and return it."""

        def operation() -> Any:
            return (yield self._look, self._waits_for)

        return self._monitor.perform(operation())  # type: ignore[no-any-return]

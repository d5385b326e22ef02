"""What all devices of a worklist know together: counts, and the threshold of priorities.

Every method is one step. Items that are not consumed are deferred, on some device, or active: in a
queue, in work, or under way.

Invariant: the counts change in the step in which an item becomes what they say, or before; so no
item is ever missing from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from broadfront.errors import RoutingError
from broadfront.routing.link import Link
from broadfront.routing.local_queue import LocalQueue
from broadfront.routing.monitor import NOT_YET

WORK, PROMOTE, RAISED, END = (object() for _ in range(4))
"""What a device is to do next, beside receiving: work, look through its deferred items, ask again,
and stop."""


class Ledger:
    """Counts per device, and the threshold."""

    def __init__(self, queues: Sequence[LocalQueue], delta: float) -> None:
        self._queues = queues
        self._delta = delta
        self.produced, self.consumed, self.useless = ([0] * len(queues) for _ in range(3))
        self._deferred = [0] * len(queues)
        self._least = [math.inf] * len(queues)
        self.threshold = -math.inf

    def following(self, device: int, inbox: Link | None) -> Any:
        """Return what a device does next: a segment to receive, or one of those above."""
        if inbox is not None and inbox.arriving:
            return inbox.take()
        if self._queues[device].near:
            return WORK
        if self._deferred[device] and self._least[device] < self.threshold:
            self._deferred[device], self._least[device] = 0, math.inf
            return PROMOTE
        left = sum(self.produced) - sum(self.consumed)
        if left == 0:
            return END
        if left == sum(self._deferred) and min(self._least) >= self.threshold:
            least = min(self._least)
            self.threshold = max(least + self._delta, math.nextafter(least, math.inf))
            return RAISED
        return NOT_YET

    def add(self, device: int, produced: int, consumed: int, deferred: int, least: float) -> None:
        """Count items, some of which are deferred."""
        self.produced[device] += produced
        self.consumed[device] += consumed
        self.defer(device, deferred, least)

    def defer(self, device: int, deferred: int, least: float) -> None:
        """Count items as deferred."""
        if deferred and math.isinf(least):
            raise RoutingError("priority returned no finite number for some item")
        self._deferred[device] += deferred
        self._least[device] = min(self._least[device], least)

    def counted(self, device: int) -> dict[str, int]:
        """Return the counts of a device."""
        return {
            "produced": self.produced[device],
            "consumed": self.consumed[device],
            "useless": self.useless[device],
        }

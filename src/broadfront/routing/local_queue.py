"""The items of one device that are to be worked on, now or later.

Invariant: only its device changes it, and nobody else looks but while that device is waiting.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

Items = NDArray[Any]
Deferred = tuple[int, float]


class LocalQueue:
    """Arrays of items in the order in which they came, and those that are beyond the threshold."""

    def __init__(self, batch: int | None = None) -> None:
        self.near: deque[Items] = deque()
        self._far: list[tuple[Items, NDArray[Any]]] = []
        self._batch = batch

    def push(self, items: Items, priorities: NDArray[Any] | None, threshold: float) -> Deferred:
        """Add items; return how many are beyond the threshold, and the least priority of these."""
        if priorities is None:
            if len(items):
                self.near.append(items)
            return 0, math.inf
        now = priorities < threshold
        if now.any():
            self.near.append(items[now])
        if now.all():
            return 0, math.inf
        later, their = items[~now], priorities[~now]
        self._far.append((later, their))
        return len(later), float(their.min())

    def promote(self, threshold: float) -> Deferred:
        """Take over items that the threshold has come to pass; return the rest as `push` does."""
        if not self._far:
            return 0, math.inf
        arrays, self._far = self._far, []
        items, priorities = (np.concatenate(each) for each in zip(*arrays, strict=True))
        return self.push(items, priorities, threshold)

    def pop(self) -> Items:
        """Take the next items, not more than a batch."""
        if self._batch is None:
            items = np.concatenate(self.near) if len(self.near) > 1 else self.near[0]
            self.near.clear()
            return items
        first = self.near.popleft()
        if len(first) > self._batch:
            self.near.appendleft(first[self._batch :])
        return first[: self._batch]

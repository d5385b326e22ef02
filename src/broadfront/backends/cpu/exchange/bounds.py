"""How long messages can be: what is said of a message before there is one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.execution.plan import Plan
from broadfront.execution.program import Program
from broadfront.partition.outline import Outline

Array = NDArray[Any]


class Bounds(NamedTuple):
    """What bounds the messages of one device: a program, what crosses, how large parts are."""

    program: Program
    plan: Plan
    parts: Sequence[Outline]
    device: int

    @property
    def part(self) -> Outline:
        """The part of the device."""
        return self.parts[self.device]

    def width(self, names: Iterable[str]) -> int:
        """Return the bytes that fields have for a vertex."""
        return sum(self.program.fields[name].storage.itemsize for name in names)

    @staticmethod
    def columns(count: Array, each: int, many: int) -> Array:
        """Return the bytes of so many columns of `count` entries, of `each` bytes together."""
        sizes: Array = np.where(count > 0, count * each + 8 * many, 0)
        return sizes

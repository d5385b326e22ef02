"""What a run answers: the fields of the program, and the record of what happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.report.record import Record

Array = NDArray[Any]


@dataclass(frozen=True)
class Answer:
    """The fields of a program after a run, by name, and the record of the run.

    `frontier` has the positions that were left in it, in increasing order.
    """

    fields: Mapping[str, Array]
    frontier: NDArray[np.int64]
    record: Record

    def __getitem__(self, name: str) -> Array:
        return self.fields[name]

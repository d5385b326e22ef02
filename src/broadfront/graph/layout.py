"""Where the edges are in a line of text, for people and for kernels, and what can be wrong with it.

`Layout` says it in words, `Code` in numbers. A kernel that meets a line it cannot read returns the
number of a problem and the byte where it is; `refusal` turns both into the error with its line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import FormatError
from broadfront.graph.fields import COLUMNS, FINE, QUOTES, WEIGHT, next_row, row_fields
from broadfront.graph.lines import Text
from broadfront.kernel import kernel

Array = NDArray[Any]

BAD_INTEGER, NEGATIVE, BELOW_BASE, TOO_LARGE, BAD_WEIGHT, BAD_TAG, HARD_FULL = range(10, 17)
"""What else can be wrong with a line; `HARD_FULL` is no fault but a pause."""


class Code(NamedTuple):
    """A layout in numbers; -1 for what it does not have."""

    source: int
    target: int
    weight: int
    columns: int
    last: int
    """The last column that is needed."""
    separator: int
    comment: int
    other_comment: int
    tag: int
    base: int
    largest: int
    """The largest id, counted from 0."""


@dataclass(frozen=True)
class Layout:
    """Where the edges are in a line."""

    source: int = 0
    target: int = 1
    weight: int = -1
    """The weight's column, or -1 without weights."""
    columns: int = 2
    """How many columns every line has; 0 to allow any number."""
    separator: str = ""
    """One character, or empty for white space."""
    comments: str = "#%"
    """Characters that make a line a comment when they come first."""
    tag: str = ""
    """The letter in the first column of an edge's line, where the format has one."""
    base: int = 0
    """The smallest id."""
    vertices: int | None = None
    """How many ids there are, where that is known."""
    whole: bool = False
    """Whether weights must be integers."""

    def code(self, index: Any = np.int64) -> Code:
        """Return the layout for kernels that keep ids in the dtype `index`."""
        comments = [ord(sign) for sign in self.comments] + [-1]
        largest = int(np.iinfo(index).max)
        return Code(
            self.source, self.target, self.weight, self.columns,
            last=max(self.source, self.target, self.weight),
            separator=ord(self.separator) if self.separator else -1,
            comment=comments[0], other_comment=comments[1],
            tag=ord(self.tag) if self.tag else -1, base=self.base,
            largest=largest if self.vertices is None else min(largest, self.vertices - 1),
        )  # fmt: skip


def refusal(text: Text, problem: int, position: int, layout: Layout) -> FormatError:
    """Return the error for what a kernel could not read."""
    token = text.token(position)
    found = repr(token) if token else "nothing"
    wanted = layout.columns or f"at least {layout.code().last + 1}"
    beyond = "is too large"
    if layout.vertices is not None:
        beyond = f"is not in {layout.base}..{layout.base + layout.vertices - 1}"
    return text.error(
        {
            BAD_INTEGER: f"expected a vertex id, found {found}",
            NEGATIVE: f"vertex id {token} is negative",
            BELOW_BASE: f"vertex id {token} is less than {layout.base}",
            TOO_LARGE: f"vertex id {token} {beyond}",
            BAD_WEIGHT: f"expected a weight, found {found}",
            COLUMNS: f"expected {wanted} columns",
            BAD_TAG: f"expected a line that starts with {layout.tag!r}, found {found}",
            QUOTES: "a quote is not closed",
        }[problem],
        position,
    )


def find_fields(text: Text, begin: int, layout: Layout) -> Array:
    """Return begin and end of source, target and weight in every line from byte `begin` on."""
    pieces = [(begin, len(text.data))] if begin < len(text.data) else []
    fields = np.empty((int(text.lines_before(pieces)[-1]), WEIGHT + 1, 2), np.int64)
    problem, position, rows = _find(text.data, begin, layout.code(), fields)
    if problem:
        raise refusal(text, problem, position, layout)
    return fields[:rows]


@kernel
def _find(data, position, code, fields):
    end = len(data)
    row = 0
    position = next_row(data, position, end, code)
    while position < end:
        problem, position = row_fields(data, position, end, code, fields[row])
        if problem:
            return problem, position, row
        row += 1
        position = next_row(data, position, end, code)
    return FINE, position, row

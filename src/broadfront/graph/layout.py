"""Where the edges are in a line of text, for people and for kernels, and what can be wrong with it.

`Layout` says it in words, `Code` in numbers. A kernel that meets a line it cannot read returns the
number of a problem and the byte where it is; `refusal` turns both into the error with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import FormatError
from broadfront.graph.fields import COLUMNS, FINE, QUOTES, WEIGHT, next_row, row_fields
from broadfront.graph.lines import Lines
from broadfront.kernel import kernel

Array = NDArray[Any]

BAD_INTEGER, NEGATIVE, BELOW_BASE, TOO_LARGE, BAD_WEIGHT, BAD_TAG, HARD_FULL = range(10, 17)
"""What else can be wrong with a line; `HARD_FULL` is no fault but a pause."""


MIXED = (BAD_INTEGER, BAD_WEIGHT, COLUMNS)
"""What is wrong with a line that another character separates than the others."""
SEPARATED_BY = {
    " ": "a blank", "\t": "a tab", ",": "a comma", ";": "a semicolon", "|": "a bar"
}  # fmt: skip
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", re.IGNORECASE)
QUOTED_FIELD = re.compile(r'\s*"(?:[^"]|"")*"')
WORD = re.compile(r'"(?:[^"]|"")*"|[^ \t\r]+')


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


def refusal(lines: Lines, problem: int, position: int, layout: Layout) -> FormatError:
    """Return the error for what a kernel could not read."""
    mixed = _mixed_separators(lines, position, layout) if problem in MIXED else ""
    if mixed:
        return lines.error(mixed, position)
    token = lines.token(position, layout.separator)
    found = repr(token) if token else "nothing"
    wanted = layout.columns or f"at least {layout.code().last + 1}"
    beyond = "is too large"
    if layout.vertices is not None:
        beyond = f"is not in {layout.base}..{layout.base + layout.vertices - 1}"
    return lines.error(
        {
            BAD_INTEGER: f"expected a vertex id, found {found}",
            NEGATIVE: f"vertex id {token} is negative",
            BELOW_BASE: f"vertex id {token} is less than {layout.base}",
            TOO_LARGE: f"vertex id {token} {beyond}",
            BAD_WEIGHT: f"expected a weight, found {found}",
            COLUMNS: f"expected {wanted} columns, found {_width(lines, position, layout)}",
            BAD_TAG: f"expected a line that starts with {layout.tag!r}, found {found}",
            QUOTES: "a quote is not closed",
        }[problem],
        position,
    )


def _width(lines: Lines, position: int, layout: Layout) -> int:
    return len(split_line(lines.line(lines.line_begin(position)), layout.separator))


def _mixed_separators(lines: Lines, position: int, layout: Layout) -> str:
    """Return in words that another character separates in this line than in others, or nothing."""
    line = lines.line(lines.line_begin(position))
    for other in "" if '"' in line else SEPARATED_BY:
        for field in split_line(line, layout.separator):
            parts = field.split(other) if other in field else []
            if len(parts) > 1 and all(map(NUMBER.fullmatch, map(str.strip, parts))):
                usual = SEPARATED_BY[layout.separator or " "]
                return (
                    f"{field[:40]!r}: expected {usual} between columns, found {SEPARATED_BY[other]}"
                )
    return ""


def split_line(line: str, separator: str) -> list[str]:
    """Return the fields of a line as the kernels see them, without their quotes."""
    if not separator:
        return [_bare(word) for word in WORD.findall(line)]
    fields: list[str] = []
    position = 0
    while position <= len(line):
        quoted = QUOTED_FIELD.match(line, position)
        end = line.find(separator, quoted.end() if quoted else position)
        end = len(line) if end < 0 else end
        fields.append(_bare(line[position:end].strip()))
        position = end + 1
    return fields


def _bare(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def find_fields(lines: Lines, layout: Layout) -> Array:
    """Return begin and end of source, target and weight in every line."""
    fields = np.empty((lines.count(), WEIGHT + 1, 2), np.int64)
    problem, position, rows = _find(lines.data, 0, layout.code(), fields)
    if problem:
        raise refusal(lines, problem, position, layout)
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

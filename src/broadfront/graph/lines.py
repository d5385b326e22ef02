"""Text as bytes, cut into pieces of whole lines so that every thread can read its own.

Lines are counted first (a pass at the speed of memory), so each piece knows the number of its first
line: rows go straight to their place and an error can name its line.
"""

from __future__ import annotations

import re
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.bits import count_ones, word_at
from broadfront.errors import FormatError
from broadfront.graph import files
from broadfront.kernel import kernel

BYTES_PER_PIECE = 1 << 23
NEWLINE = ord("\n")
SAMPLE_BYTES = 1 << 16
FREE_VERTICES = 1 << 24
COUNT = re.compile("[0-9]{1,18}")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Text:
    """The lines of a file."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = fspath(path)
        self.data = files.content(path)
        if len(self.data) == 0:
            raise self.error("the file is empty")
        if self.data[: len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK:
            self.data = self.data[len(BYTE_ORDER_MARK) :]
        if not self.data[:SAMPLE_BYTES].all():
            raise self.error("expected text, found binary data", 0)

    def error(self, problem: str, position: int | None = None) -> FormatError:
        """Return the error for what stands at byte `position`."""
        if position is None:
            return FormatError(self.path, problem)
        return FormatError(self.path, problem, self.line_number(position))

    def refuse_absurd(self, vertices: int, edges: int, position: int) -> None:
        """Refuse counts that no file of this size could be honest about."""
        if edges > len(self.data) or vertices > 64 * len(self.data) + FREE_VERTICES:
            raise self.error(
                f"the header promises {vertices:,} vertices and {edges:,} edges; "
                f"the file has {len(self.data):,} bytes",
                position,
            )

    def line_number(self, position: int) -> int:
        """Return the number of the line, from 1, that byte `position` stands in."""
        return 1 + int(np.count_nonzero(self.data[:position] == NEWLINE))

    def line_end(self, position: int) -> int:
        """Return the position of the newline that ends this line, or of the end of the file."""
        return int(_line_end(self.data, position))

    def line(self, position: int) -> str:
        """Return the line that begins at `position`, without its end, whatever its encoding."""
        line = self.data[position : self.line_end(position)].tobytes()
        return line.decode(errors="replace").rstrip("\r")

    def decoded(self, begin: int, end: int) -> str:
        """Return the text between two positions; the file must be UTF-8 there."""
        try:
            return self.data[begin:end].tobytes().decode()
        except UnicodeDecodeError as error:
            raise self.error("expected UTF-8 text", begin + error.start) from error

    def token(self, position: int) -> str:
        """Return what stands at `position` up to the next separator, for messages."""
        line = self.data[position : self.line_end(position)].tobytes().decode(errors="replace")
        word = line.strip().replace(",", " ").split()
        return word[0][:40] if word and line[0] not in ",;|" else ""

    def pieces(self, begin: int = 0) -> list[tuple[int, int]]:
        """Cut the text from `begin` on into ranges of whole lines."""
        length = len(self.data)
        cuts = [begin]
        for _, cut in threads.ranges(length - begin, BYTES_PER_PIECE)[:-1]:
            cuts.append(min(length, self.line_end(max(begin + cut, cuts[-1])) + 1))
        cuts.append(length)
        return [(first, last) for first, last in zip(cuts, cuts[1:], strict=False) if first < last]

    def lines_before(self, pieces: list[tuple[int, int]]) -> NDArray[Any]:
        """Return how many lines lie before each piece, counted from the first; the total last."""
        counted = threads.run(
            lambda piece: _count_lines(self.data, *pieces[piece]), len(pieces), "counting lines"
        )
        before = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum(counted, out=before[1:])
        return before


def counts(words: list[str]) -> list[int]:
    """Return the numbers that a header promises; none at all when one of them is no count."""
    return [int(word) for word in words] if all(map(COUNT.fullmatch, words)) else []


@kernel
def _count_lines(data, begin, end):
    lows, newlines = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x0A0A0A0A0A0A0A0A)
    lines = np.int64(0)
    words = (end - begin) // 8
    for word in range(words):  # a byte that equals a newline leaves its highest bit
        octets = word_at(data, np.uint64(begin + 8 * word)) ^ newlines
        others = ((octets & lows) + lows) | octets | lows
        lines += np.int64(count_ones(~others))
    for position in range(begin + 8 * words, end):
        lines += data[position] == NEWLINE
    if end > begin and data[end - 1] != NEWLINE:
        lines += 1
    return lines


@kernel
def _line_end(data, position):
    while position < len(data) and data[position] != NEWLINE:
        position += 1
    return position

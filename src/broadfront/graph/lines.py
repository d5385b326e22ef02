"""Text as bytes, in pieces of whole lines, so that every thread can read its own.

A plain file is mapped to memory, and what has been read is let go. A packed one is unpacked batch
by batch: no more of the text is held than a batch, whatever the size of the file.

Invariant: every line is in one piece, and every piece knows where in the file it is, so that an
error can name its line.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.bits import count_ones, word_at
from broadfront.errors import FormatError
from broadfront.graph import files
from broadfront.kernel import kernel

Array = NDArray[Any]

LARGEST_PIECE = 1 << 23
SMALLEST_PIECE = 1 << 18
PIECES_PER_THREAD = 8
"""How many pieces a thread has of a file, at least: one of them is in memory at a time."""
MOST_PIECES = 1 << 12
BATCHES = 16
"""How many batches a packed file has, at least, if it is not small."""
NEWLINE = ord("\n")
SAMPLE_BYTES = 1 << 16
FREE_VERTICES = 1 << 24
COUNT = re.compile("[0-9]{1,18}")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Lines:
    """Whole lines of a file.

    Parameters
    ----------
    lines_before
        Tells how many lines of the file come before these; asked for errors alone.
    """

    def __init__(self, path: str, data: Array, lines_before: Callable[[], int] = lambda: 0) -> None:
        self.path = path
        self.data = data
        self._lines_before = lines_before

    def error(self, problem: str, position: int | None = None) -> FormatError:
        """Return the error for what stands at byte `position`."""
        if position is None:
            return FormatError(self.path, problem)
        return FormatError(self.path, problem, self.line_number(position))

    def line_number(self, position: int) -> int:
        """Return the number of the line, from 1, that byte `position` stands in."""
        return 1 + self._lines_before() + int(_count_newlines(self.data, 0, position))

    def line_end(self, position: int) -> int:
        """Return the position of the newline that ends this line, or of the end."""
        return int(_line_end(self.data, position))

    def line_begin(self, position: int) -> int:
        """Return where the line begins that byte `position` stands in."""
        return int(_line_begin(self.data, position))

    def line(self, position: int) -> str:
        """Return the line that begins at `position`, without its end, whatever its encoding."""
        end = self.line_end(position)
        return self.data[position:end].tobytes().decode(errors="replace").rstrip("\r")

    def decoded(self, begin: int, end: int) -> str:
        """Return the text between two positions; the file must be UTF-8 there."""
        try:
            return self.data[begin:end].tobytes().decode()
        except UnicodeDecodeError as error:
            raise self.error("expected UTF-8 text", begin + error.start) from error

    def token(self, position: int, separator: str = "") -> str:
        """Return what stands at `position` up to the separator, or to a blank, for messages."""
        line = self.data[position : self.line_end(position)].tobytes().decode(errors="replace")
        words = line.split(separator) if separator else line.split()
        return words[0].strip()[:40] if words else ""

    def count(self) -> int:
        """Return the number of lines."""
        unfinished = len(self.data) > 0 and self.data[-1] != NEWLINE
        return int(_count_newlines(self.data, 0, len(self.data))) + int(unfinished)

    def pieces(self, begin: int = 0) -> list[Lines]:
        """Cut the lines from `begin` on into pieces, for all threads."""
        length = len(self.data)
        grain = (length - begin) // (PIECES_PER_THREAD * threads.count())
        grain = max(min(max(grain, SMALLEST_PIECE), LARGEST_PIECE), length // MOST_PIECES)
        cuts = [begin]
        for _, cut in threads.ranges(length - begin, grain)[:-1]:
            cuts.append(min(length, self.line_end(max(begin + cut, cuts[-1])) + 1))
        cuts.append(length)
        return [
            self._piece(first, last)
            for first, last in zip(cuts, cuts[1:], strict=False)
            if first < last
        ]

    def _piece(self, begin: int, end: int) -> Lines:
        return Lines(self.path, self.data[begin:end], lambda: self.line_number(begin) - 1)


class Text(Lines):
    """A file of text; `data` is its beginning, and of one that is mapped all of it.

    Parameters
    ----------
    mapped
        Whether a plain file is mapped to memory, or else read batch by batch as a packed one.
    unpack_limit
        The most bytes that a packed file may unpack to.
    """

    def __init__(
        self, path: str | PathLike[str], *, mapped: bool = True, unpack_limit: int | None = None
    ) -> None:
        self.most_at_once = 1 << 62
        """Bytes in a batch that is not mapped, about."""
        self._map: mmap.mmap | None = None
        self._blocks: Iterator[bytes] = iter(())
        if files.suffixes(path)[1] or not mapped:
            self._blocks = files.blocks(path, unpack_limit)
            data = np.frombuffer(next(self._blocks, b""), np.uint8)
        elif os.path.getsize(path):
            self._map = files.mapped_file(path)
            data = np.frombuffer(self._map, np.uint8)
        else:
            data = np.empty(0, np.uint8)
        super().__init__(fspath(path), data)
        if len(data) == 0:
            raise self.error("the file is empty")
        if data[: len(BYTE_ORDER_MARK)].tobytes() == BYTE_ORDER_MARK:
            self.data = data[len(BYTE_ORDER_MARK) :]
        self.size = len(self.data)
        if not self.data[:SAMPLE_BYTES].all():
            raise self.error("expected text, found binary data", 0)

    def reaches(self, position: int) -> bool:
        """Return whether the file goes on at byte `position`; unpack as far as that."""
        while position >= len(self.data) and self._unpack():
            pass
        return position < len(self.data)

    def line_end(self, position: int) -> int:
        """Return the position of the newline that ends this line, or of the end of the file."""
        end = super().line_end(position)
        while end == len(self.data) and self._unpack():
            end = super().line_end(end)
        return end

    def refuse_absurd(self, vertices: int, edges: int, position: int) -> None:
        """Refuse counts that no file of this size could be honest about; all of it must be read."""
        if edges > self.size or vertices > 64 * self.size + FREE_VERTICES:
            raise self.error(
                f"the header promises {vertices:,} vertices and {edges:,} edges; "
                f"the file has {self.size:,} bytes",
                position,
            )

    def batches(self, begin: int) -> Iterator[list[Lines]]:
        """Yield the lines from byte `begin` on, as pieces to be read at once; only once."""
        if self._map is not None:
            if begin < len(self.data):
                yield self.pieces(begin)
            return
        waiting = [self.data[begin:].tobytes()]
        self.data = np.frombuffer(self.data[:begin].tobytes(), np.uint8)
        lines = self.line_number(begin) - 1
        for text in self._whole_lines(waiting):
            batch = Lines(self.path, np.frombuffer(text, np.uint8), partial(int, lines))
            lines += batch.count()
            yield batch.pieces()
            del text, batch

    def lines_before(self, batch: list[Lines]) -> Array:
        """Return how many lines lie before each piece, counted from the first; the total last."""

        def count(place: int) -> int:
            lines = batch[place].count()
            if 2 * place >= len(batch):  # what is read first may stay: there are no columns yet
                self.let_go(batch[place])
            return lines

        return np.cumsum([0, *threads.run(count, len(batch), "counting lines")])

    def let_go(self, piece: Lines) -> None:
        """Take a piece of a plain file, which has been read, out of memory."""
        if self._map is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        begin = piece.data.ctypes.data - np.frombuffer(self._map, np.uint8).ctypes.data
        end = (begin + len(piece.data)) // mmap.PAGESIZE * mmap.PAGESIZE
        begin = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
        if begin < end:
            self._map.madvise(mmap.MADV_DONTNEED, begin, end - begin)

    def _unpack(self) -> bool:
        """Unpack as much again as there is, so that a long line is copied a few times only."""
        more, goal = bytearray(), len(self.data)
        while len(more) < goal and (block := next(self._blocks, b"")):
            more += block
        if more:
            self.data = np.frombuffer(self.data.tobytes() + more, np.uint8)
            self.size += len(more)
        return len(more) > 0

    def _whole_lines(self, waiting: list[bytes]) -> Iterator[bytes]:
        """Yield all that is left of the file in texts of whole lines, what is waiting first."""
        for block in self._blocks:
            self.size += len(block)
            waiting.append(block)
            goal = threads.count() * LARGEST_PIECE // 2
            goal = min(self.size // BATCHES, goal, self.most_at_once)
            cut = block.rfind(b"\n") + 1
            if cut and sum(map(len, waiting)) >= goal:
                waiting[-1], rest = block[:cut], block[cut:]
                text = b"".join(waiting)
                waiting[:] = [rest]
                del block
                yield text
                del text
        if any(waiting):
            yield b"".join(waiting)


def counts(words: list[str]) -> list[int]:
    """Return the numbers that a header promises; none at all when one of them is no count."""
    return [int(word) for word in words] if all(map(COUNT.fullmatch, words)) else []


@kernel
def _count_newlines(data, begin, end):
    lows, newlines = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x0A0A0A0A0A0A0A0A)
    lines = np.int64(0)
    words = (end - begin) // 8
    for word in range(words):  # a byte that equals a newline leaves its highest bit
        octets = word_at(data, np.uint64(begin + 8 * word)) ^ newlines
        others = ((octets & lows) + lows) | octets | lows
        lines += np.int64(count_ones(~others))
    for position in range(begin + 8 * words, end):
        lines += data[position] == NEWLINE
    return lines


@kernel
def _line_end(data, position):
    while position < len(data) and data[position] != NEWLINE:
        position += 1
    return position


@kernel
def _line_begin(data, position):
    while position > 0 and data[position - 1] != NEWLINE:
        position -= 1
    return position

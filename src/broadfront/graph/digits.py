"""Columns of numbers and names as text, in blocks: integers by a kernel, the rest by Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import progress
from broadfront.errors import GraphError
from broadfront.kernel import kernel

Array = NDArray[Any]

ROWS_PER_BLOCK = 1 << 18
MOST_LETTERS = 20
SEPARATORS = ",\t;|"
"""What may separate the columns of an edge list, blanks apart, in the order of looking."""
UNWRITABLE = re.compile("[\n\r\0]")
TO_QUOTE = re.compile(f'^[#%]|[ "{re.escape(SEPARATORS)}]')
ZERO, MINUS, NEWLINE = (ord(sign) for sign in "0-\n")


def columns_of_text(
    columns: list[Array], separator: str = " ", *, base: int = 0, tag: str = ""
) -> Iterator[bytes]:
    """Yield the rows as lines of text.

    `base` is added to the first two columns; `tag` starts every line.
    """
    rows = len(columns[0])
    integers = all(column.dtype.kind in "iu" for column in columns)
    for begin in range(0, rows, ROWS_PER_BLOCK):
        progress.report("writing", begin, rows)
        block = [column[begin : begin + ROWS_PER_BLOCK] for column in columns]
        if integers:
            yield _integers(block, separator, base, tag)
        else:
            yield _anything(block, separator, base, tag)


def _integers(block: list[Array], separator: str, base: int, tag: str) -> bytes:
    numbers = np.empty((len(block[0]), len(block)), np.int64)
    for place, column in enumerate(block):
        numbers[:, place] = column
    numbers[:, :2] += base
    prefix = np.frombuffer(tag.encode(), np.uint8)
    width = len(prefix) + len(block) * (MOST_LETTERS + 1)
    text = np.empty(len(numbers) * width, np.uint8)
    return text[: _spell(numbers, ord(separator), prefix, text)].tobytes()


def _anything(block: list[Array], separator: str, base: int, tag: str) -> bytes:
    ends = [column + base if column.dtype.kind in "iu" else column for column in block[:2]]
    words = [map(_word, column.tolist()) for column in ends]
    words += [map(repr, column.tolist()) for column in block[2:]]
    rows = zip(*words, strict=True)
    return "".join(f"{tag}{separator.join(row)}\n" for row in rows).encode()


def _word(value: object) -> str:
    """Return a name as it must stand in a file to be read back, whatever separates columns."""
    word = str(value)
    if not word or UNWRITABLE.search(word):
        raise GraphError(
            f"vertex {word!r}: text holds no name that is empty or has a line break or NUL in it"
        )
    if TO_QUOTE.search(word) or word != word.strip():
        word = '"' + word.replace('"', '""') + '"'
    return word


@kernel
def _spell(numbers, separator, prefix, text):
    end = 0
    for row in range(len(numbers)):
        for letter in prefix:
            text[end] = letter
            end += 1
        for column in range(numbers.shape[1]):
            value = numbers[row, column]
            if value < 0:
                text[end] = MINUS
                end += 1
            rest = np.uint64(-value) if value < 0 else np.uint64(value)
            length = 1
            bound = np.uint64(10)
            while length < 19 and rest >= bound:
                length += 1
                bound *= np.uint64(10)
            for place in range(length):
                text[end + length - 1 - place] = ZERO + rest % np.uint64(10)
                rest //= np.uint64(10)
            end += length
            text[end] = separator
            end += 1
        text[end - 1] = NEWLINE
    return end

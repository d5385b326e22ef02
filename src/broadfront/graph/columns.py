"""Edges in columns of text: two integers, maybe a weight, a row a line.

One kernel serves every format that lists edges so: it knows where the columns are, what separates
them, which lines are comments and which tag starts an edge. Pieces of whole lines are read at once
by all threads, each row straight to its place.

Invariant: a line is read in full or refused by number; nothing is guessed and nothing skipped but
blank lines and comments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import FormatError
from broadfront.graph import numbers
from broadfront.graph.fields import (
    COLUMNS,
    FINE,
    QUOTE,
    QUOTES,
    RETURN,
    SPACE,
    TAB,
    ends_field,
    next_field,
    skip_blanks,
    skip_field,
    skip_line,
)
from broadfront.graph.lines import NEWLINE, Text
from broadfront.graph.numbers import integer, real, short_integer
from broadfront.kernel import kernel

Array = NDArray[Any]

HARD_AT_ONCE = 256

BAD_INTEGER, NEGATIVE, BELOW_BASE, TOO_LARGE, BAD_WEIGHT, BAD_TAG, HARD_FULL = range(10, 17)
"""What else can be wrong with a line; `HARD_FULL` is no fault but a pause."""


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


class Columns(NamedTuple):
    """The edges of a text."""

    source: Array
    target: Array
    weight: Array | None


def read_columns(text: Text, begin: int, layout: Layout, index: Any = np.int32) -> Columns:
    """Read the edges from byte `begin` on; ids become 0-based by taking the base away.

    Ids are int32 unless one is larger, and then all of them int64.
    """
    pieces = text.pieces(begin)
    before = text.lines_before(pieces)
    rows = int(before[-1])
    source, target = np.empty(rows, index), np.empty(rows, index)
    weight = None if layout.weight < 0 else np.empty(rows, np.float64)
    code = layout_code(layout)

    def read(piece: int) -> tuple[int, bool]:
        return _read_piece(text, *pieces[piece], int(before[piece]), code, source, target, weight)

    try:
        found = threads.run(read, len(pieces), "reading edges")
    except _TooLargeError:
        if index is np.int64:
            raise
        return read_columns(text, begin, layout, np.int64)
    if sum(count for count, _ in found) < rows:
        spans = [slice(int(start), int(start) + count)
                 for start, (count, _) in zip(before[:-1], found, strict=True)]  # fmt: skip
        source, target = (_joined(ids, spans) for ids in (source, target))
        weight = None if weight is None else _joined(weight, spans)
    if weight is not None and all(whole for _, whole in found):
        weight = _as_integers(weight)
    return Columns(source, target, weight)


class _TooLargeError(FormatError):
    """An id does not fit the arrays."""


def _joined(array: Array, spans: list[slice]) -> Array:
    """Move the filled spans together, in place, and return the part that holds them."""
    end = 0
    for span in spans:
        length = span.stop - span.start
        array[end : end + length] = array[span]
        end += length
    return array[:end]


def _as_integers(weight: Array) -> Array:
    """Return whole weights as int32 or int64; as they are where doubles cannot hold them."""
    largest = np.abs(weight).max(initial=0)
    if largest > 2**53:
        return weight
    return weight.astype(np.int32 if largest < 2**31 else np.int64)


def layout_code(layout: Layout) -> Array:
    """Return the layout as numbers for the kernel."""
    comments = [ord(sign) for sign in layout.comments] + [-1, -1]
    separator = ord(layout.separator) if layout.separator else -1
    last = max(layout.source, layout.target, layout.weight)
    tag = ord(layout.tag) if layout.tag else -1
    return np.array(
        [layout.source, layout.target, layout.weight, layout.columns, last,
         separator, comments[0], comments[1], tag, layout.base], np.int64,
    )  # fmt: skip


def _read_piece(
    text: Text,
    begin: int,
    end: int,
    row: int,
    code: Array,
    source: Array,
    target: Array,
    weight: Array | None,
) -> tuple[int, bool]:
    """Read one piece to its rows; return how many it holds and whether all weights are whole."""
    hard = np.empty((HARD_AT_ONCE, 2), np.int64)
    first_row, whole = row, True
    bits = None if weight is None else weight.view(np.uint64)
    table = numbers.powers_of_five()
    position = begin
    while True:
        problem, position, row, all_whole, hard_found = _read(
            text.data, position, end, row, code, source, target, weight, bits, table, hard
        )
        whole = whole and all_whole
        for place, start in hard[:hard_found]:
            assert weight is not None
            weight[place] = _hard_weight(text, int(start), code)
        if problem == FINE:
            return row - first_row, whole
        if problem != HARD_FULL:
            raise refusal(text, problem, position, code)


def _hard_weight(text: Text, position: int, code: Array) -> float:
    line = text.data[position : text.line_end(position)].tobytes().decode(errors="replace")
    separator = int(code[5])
    word = line.split(chr(separator) if separator >= 0 else None)[0].strip().strip('"')
    try:
        value = float(word)
    except ValueError:
        raise refusal(text, BAD_WEIGHT, position, code) from None
    if value != value:
        raise text.error("the weight is nan", position)
    return value


def refusal(text: Text, problem: int, position: int, code: Array) -> FormatError:
    """Return the error for what a kernel could not read."""
    token = text.token(position)
    found = repr(token) if token else "nothing"
    if problem == TOO_LARGE:
        return _TooLargeError(
            text.path, f"vertex id {token} is too large", text.line_number(position)
        )
    wanted = int(code[3]) or f"at least {int(code[4]) + 1}"
    return text.error(
        {
            BAD_INTEGER: f"expected a vertex id, found {found}",
            NEGATIVE: f"vertex id {token} is negative",
            BELOW_BASE: f"vertex id {token} is less than {code[9]}",
            BAD_WEIGHT: f"expected a weight, found {found}",
            COLUMNS: f"expected {wanted} columns",
            BAD_TAG: f"expected a line that starts with {chr(max(0, code[8]))!r}, found {found}",
            QUOTES: "a quote is not closed",
        }[problem],
        position,
    )


@kernel
def _vertex(data, position, end, separator, base, largest):
    """Return a 0-based id (or minus a problem) and where it ends."""
    quoted = position < end and data[position] == QUOTE
    start = position + 1 if quoted else position
    value, after = integer(data, start, end)
    if quoted and after < end and data[after] == QUOTE:
        after += 1
    elif quoted:
        return np.int64(-BAD_INTEGER), position
    if value < 0:
        if start < end and data[start] == numbers.MINUS:
            return np.int64(-NEGATIVE), position
        too_long = after > start
        return np.int64(-TOO_LARGE if too_long else -BAD_INTEGER), position
    if not ends_field(data, after, end, separator):
        return np.int64(-BAD_INTEGER), position
    if value < base:
        return np.int64(-BELOW_BASE), position
    if value - base > largest:
        return np.int64(-TOO_LARGE), position
    return value - base, after


@kernel
def _weight(data, position, end, separator, table):
    """Return what kind of number a field holds, its bits, and where the field ends."""
    quoted = position < end and data[position] == QUOTE
    start = position + 1 if quoted else position
    if ends_field(data, start, end, separator):
        return numbers.NOT_A_NUMBER, np.uint64(0), position
    kind, value, after = real(data, start, end, table)
    if quoted and after < end and data[after] == QUOTE:
        after += 1
    if kind > numbers.HARD and ends_field(data, after, end, separator):
        return kind, value, after
    return numbers.HARD, np.uint64(0), skip_field(data, position, end, separator)


@kernel
def _plain_id(data, position):
    """Return the digits at `position` as a number, and where they end or become too many."""
    value, count = short_integer(data, position)
    if count < 8:
        return value, position + count
    start = position
    while True:
        figure = np.uint8(data[position] - numbers.ZERO)
        if figure > 9 or position - start > numbers.MOST_DIGITS:
            return value, position
        value = value * np.uint64(10) + np.uint64(figure)
        position += np.uint64(1)


@kernel
def _plain_lines(data, position, end, row, code, largest, source, target, weight, bits, table):
    """Read lines while they are just ``[tag] digits digits [number]``, one separator between.

    Returns the first line that is not, for `_read` to look at with care, its row, and whether all
    weights so far were whole.
    """
    at, place, one = np.uint64(position), np.uint64(row), np.uint64(1)
    stop = np.uint64(max(0, end - 2 * numbers.MOST_DIGITS - 24))
    separator, tag, low = code[5], code[8], np.uint64(code[9])
    high = np.uint64(largest) + low
    all_whole = True
    while at < stop:
        start = at
        if tag >= 0:
            if data[at] != tag or data[at + one] != SPACE:
                break
            start = at + one + one
        tail, gap = _plain_id(data, start)
        head, final = _plain_id(data, gap + one)
        if gap == start or final == gap + one or not _separates(data[gap], separator):
            break
        if tail < low or head < low or tail > high or head > high:
            break
        if bits is not None:
            if not _separates(data[final], separator):
                break
            small, count = short_integer(data, final + one)
            final += one + count
            if count > 0 and count < 8 and data[final] <= RETURN:
                weight[place] = small
            else:
                kind, value, after = real(data, np.int64(final - count), end, table)
                if kind <= numbers.HARD or after + 2 > end:
                    break
                bits[place] = value
                all_whole = all_whole and kind == numbers.INTEGER
                final = np.uint64(after)
        if data[final] == RETURN:
            final += one
        if data[final] != NEWLINE:
            break
        source[place] = tail - low
        target[place] = head - low
        at = final + one
        place += one
    return np.int64(at), np.int64(place), all_whole


@kernel
def _separates(letter, separator):
    return letter == separator or (separator < 0 and (letter == SPACE or letter == TAB))


@kernel
def _read(data, position, end, row, code, source, target, weight, bits, table, hard):
    """Read lines until the piece ends, a line is wrong, or `hard` has no room for a line more."""
    (source_column, target_column, weight_column, columns, last_column,
     separator, comment, other_comment, tag, base) = code  # fmt: skip
    largest = np.int64(np.iinfo(source.dtype).max)
    all_whole = True
    hard_found = 0
    first = 1 if tag >= 0 else 0
    plain = source_column == first and target_column == first + 1 and columns == last_column + 1
    while position < end:
        if plain:
            position, row, whole = _plain_lines(
                data, position, end, row, code, largest, source, target, weight, bits, table
            )
            all_whole = all_whole and whole
        line = position
        position = skip_blanks(data, position, end, separator)
        if position >= end:
            break
        letter = np.int64(data[position])
        if letter == NEWLINE:
            position += 1
            continue
        if letter == comment or letter == other_comment:
            position = skip_line(data, position, end) + 1
            continue
        if hard_found == len(hard):
            return HARD_FULL, line, row, all_whole, hard_found
        column = 0
        more = True
        while more:
            if column == source_column or column == target_column:
                vertex, position = _vertex(data, position, end, separator, base, largest)
                if vertex < 0:
                    return -vertex, position, row, all_whole, hard_found
                if column == source_column:
                    source[row] = vertex
                if column == target_column:
                    target[row] = vertex
            elif column == weight_column and bits is not None:
                kind, bits[row], after = _weight(data, position, end, separator, table)
                if after < 0 or kind == numbers.NOT_A_NUMBER:
                    return BAD_WEIGHT, position, row, all_whole, hard_found
                if kind == numbers.HARD:
                    hard[hard_found, 0] = row
                    hard[hard_found, 1] = position
                    hard_found += 1
                all_whole = all_whole and kind == numbers.INTEGER
                position = after
            elif column == 0 and tag >= 0:
                if letter != tag or not ends_field(data, position + 1, end, separator):
                    return BAD_TAG, position, row, all_whole, hard_found
                position += 1
            else:
                after = skip_field(data, position, end, separator)
                if after < 0:
                    return QUOTES, position, row, all_whole, hard_found
                position = after
            problem, position, more = next_field(data, position, end, separator)
            if problem:
                return problem, position, row, all_whole, hard_found
            column += 1
        if column <= last_column or (columns > 0 and column != columns):
            return COLUMNS, line, row, all_whole, hard_found
        position += 1
        row += 1
    return FINE, position, row, all_whole, hard_found

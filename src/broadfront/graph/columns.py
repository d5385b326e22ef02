"""Edges in columns of text: two integers, maybe a weight, a row a line.

One kernel serves every format that lists edges so: the `Layout` says where the columns are, what
separates them, which lines are comments and which tag starts an edge. Pieces of whole lines are
read at once by all threads, each row straight to its place; what a batch holds is made as narrow as
it can be before the next is read.

Invariant: a line is read in full or refused by number; nothing is guessed and nothing skipped but
blank lines and comments.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront import threads
from broadfront.graph import numbers
from broadfront.graph.build import NOTHING, Columns, index_dtype
from broadfront.graph.fields import (
    FINE,
    RETURN,
    SOURCE,
    SPACE,
    TAB,
    TARGET,
    WEIGHT,
    next_row,
    row_fields,
    unquoted,
)
from broadfront.graph.layout import (
    BAD_INTEGER,
    BAD_TAG,
    BELOW_BASE,
    HARD_FULL,
    NEGATIVE,
    TOO_LARGE,
    Layout,
    refusal,
)
from broadfront.graph.lines import NEWLINE, Lines, Text
from broadfront.graph.numbers import integer, real, short_integer
from broadfront.graph.weights import hard_weight, settled, weight_at
from broadfront.kernel import kernel
from broadfront.pages import LARGE_PAGE, anonymous_map, new_array

Array = NDArray[Any]

HARD_AT_ONCE = 256
LEAST_MAPPED = 1 << 16


def read_columns(text: Text, begin: int, layout: Layout) -> Iterator[Columns]:
    """Yield the edges from byte `begin` on; ids become 0-based by taking the base away.

    Ids are int32 unless one of a batch is larger, and then all of its are int64.
    """
    for batch in text.batches(begin):
        yield _read_batch(text, batch, layout)


def _read_batch(text: Text, batch: list[Lines], layout: Layout) -> Columns:
    before = text.lines_before(batch)
    try:
        return _read_as(text, batch, before, layout, index_dtype(layout.vertices or 0, 0))
    except _TooNarrowError:
        return _read_as(text, batch, before, layout, np.int64)


class _TooNarrowError(Exception):
    """An id does not fit 32 bits."""


def _read_as(text: Text, batch: list[Lines], before: Array, layout: Layout, index: Any) -> Columns:
    rows = int(before[-1])
    columns = Columns(room(rows, index), room(rows, index), owned=True)
    if layout.weight >= 0:
        columns.weight = room(rows, np.float64)

    def read(place: int) -> tuple[int, bool]:
        found = _read_piece(batch[place], int(before[place]), layout, columns)
        text.let_go(batch[place])
        return found

    found = threads.run(read, len(batch), "reading edges")
    if sum(count for count, _ in found) < rows:
        spans = [slice(int(start), int(start) + count)
                 for start, (count, _) in zip(before[:-1], found, strict=True)]  # fmt: skip
        columns.source, columns.target = (
            _closed_up(ids, spans) for ids in (columns.source, columns.target)
        )
        columns.weight = None if columns.weight is None else _closed_up(columns.weight, spans)
    if columns.weight is not None:
        columns.weight = settled(batch, columns.weight, all(whole for _, whole in found), layout)
    return columns


def _closed_up(array: Array, spans: list[slice]) -> Array:
    """Move the filled spans together, in place, and return the part that holds them."""
    end = 0
    for span in spans:
        length = span.stop - span.start
        array[end : end + length] = array[span]
        end += length
    return array[:end]


def _read_piece(lines: Lines, row: int, layout: Layout, columns: Columns) -> tuple[int, bool]:
    """Read one piece to its rows; return how many it holds and whether all weights are whole."""
    source, target, weight = columns.source, columns.target, columns.weight
    bits = None if weight is None else weight.view(np.uint64)
    hard = np.empty((HARD_AT_ONCE, 3), np.int64)
    code, table = layout.code(source.dtype), numbers.powers_of_five()
    first_row, position, whole = row, 0, True
    while True:
        problem, position, row, all_whole, hard_found = _read(
            lines.data, position, len(lines.data), row, code, source, target, weight, bits, table,
            hard,
        )  # fmt: skip
        whole = whole and all_whole
        for place, field, field_end in hard[:hard_found].tolist():
            assert weight is not None
            weight[place] = hard_weight(lines, field, field_end, layout)
        if problem == FINE:
            return row - first_row, whole
        if problem == TOO_LARGE and layout.vertices is None and source.dtype == np.int32:
            raise _TooNarrowError
        if problem != HARD_FULL:
            raise refusal(lines, problem, position, layout)


def joined(chunks: list[Columns], weighted: bool) -> Columns:
    """Join the edges of all pieces, maybe none; the chunks are used up column by column."""
    if len(chunks) == 1:
        return chunks[0]
    return Columns(
        _joined(chunks, "source"), _joined(chunks, "target"),
        _joined(chunks, "weight") if weighted else None, owned=True,
    )  # fmt: skip


def _joined(chunks: list[Columns], name: str) -> Array:
    parts: list[Array] = [getattr(chunk, name) for chunk in chunks]
    ends = np.cumsum([0, *map(len, parts)])
    whole = room(int(ends[-1]), np.result_type(np.int32, *{part.dtype for part in parts}))

    def move(place: int) -> None:
        whole[ends[place] : ends[place + 1]] = parts[place]
        setattr(chunks[place], name, NOTHING)
        parts[place] = NOTHING

    threads.run(move, len(parts))
    return whole


def room(length: int, dtype: DTypeLike) -> Array:
    """Return a new array whose memory goes back to the system, and at once, when it is freed."""
    nbytes = length * np.dtype(dtype).itemsize
    if nbytes < LEAST_MAPPED or os.name != "posix":
        return np.empty(length, dtype)
    if nbytes >= LARGE_PAGE:
        return new_array(length, dtype)
    return np.frombuffer(anonymous_map(nbytes), dtype)


def copied(array: Array, dtype: DTypeLike | None = None) -> Array:
    """Return a copy in `room` of its own."""
    copy = room(len(array), array.dtype if dtype is None else dtype)
    copy[:] = array
    return copy


@kernel
def _read(data, position, end, row, code, source, target, weight, bits, table, hard):
    """Read lines until the piece ends, a line is wrong, or `hard` has no room for a line more."""
    all_whole = True
    hard_found = 0
    fields = np.empty((WEIGHT + 1, 2), np.int64)
    first = 1 if code.tag >= 0 else 0
    plain = code.source == first and code.target == first + 1
    plain = plain and code.columns == code.last + 1 and code.largest >= 0
    while True:
        if plain:
            position, row, whole = _plain_lines(
                data, position, end, row, code, source, target, weight, bits, table
            )
            all_whole = all_whole and whole
        position = next_row(data, position, end, code)
        if position >= end:
            return FINE, position, row, all_whole, hard_found
        if hard_found == len(hard):
            return HARD_FULL, position, row, all_whole, hard_found
        problem, after = _edge(data, position, end, code, fields, row, source, target)
        if problem:
            return problem, after, row, all_whole, hard_found
        if bits is not None:
            kind, bits[row] = weight_at(data, fields[WEIGHT, 0], fields[WEIGHT, 1], table)
            if kind == numbers.HARD:
                hard[hard_found, 0] = row
                hard[hard_found, 1] = fields[WEIGHT, 0]
                hard[hard_found, 2] = fields[WEIGHT, 1]
                hard_found += 1
            all_whole = all_whole and kind == numbers.INTEGER
        position = after
        row += 1


@kernel
def _edge(data, position, end, code, fields, row, source, target):
    """Read the ends of the edge in this line; return a problem and where, or the next line."""
    if code.tag >= 0:
        after = position + 1
        if data[position] != code.tag or (after < end and data[after] not in (SPACE, TAB)):
            return BAD_TAG, position
    problem, after = row_fields(data, position, end, code, fields)
    if problem:
        return problem, after
    tail = _vertex(data, fields[SOURCE, 0], fields[SOURCE, 1], code)
    if tail < 0:
        return -tail, fields[SOURCE, 0]
    head = _vertex(data, fields[TARGET, 0], fields[TARGET, 1], code)
    if head < 0:
        return -head, fields[TARGET, 0]
    source[row] = tail
    target[row] = head
    return np.int64(FINE), after


@kernel
def _vertex(data, begin, end, code):
    """Return the 0-based id that a field holds, or minus a problem."""
    begin, end = unquoted(data, begin, end)
    negative = begin < end and data[begin] == numbers.MINUS
    start = begin + 1 if negative else begin
    value, after = integer(data, start, end)
    if after == start or after != end:
        return np.int64(-BAD_INTEGER)
    if negative:
        return np.int64(-NEGATIVE)
    if value >= 0 and value < code.base:
        return np.int64(-BELOW_BASE)
    if value < 0 or value - code.base > code.largest:
        return np.int64(-TOO_LARGE)
    return value - code.base


# ---------------------------------------------------------------------- plain lines


@kernel
def _plain_lines(data, position, end, row, code, source, target, weight, bits, table):
    """Read lines while they are just ``[tag] digits digits [number]``, one separator between.

    Returns the first line that is not, its row, and whether all weights so far were whole.
    """
    at, place, one = np.uint64(position), np.uint64(row), np.uint64(1)
    stop = np.uint64(max(0, end - 2 * numbers.MOST_DIGITS - 24))
    separator, tag, low = code.separator, code.tag, np.uint64(code.base)
    high = np.uint64(code.largest) + low
    all_whole = True
    while at < stop:
        start = _after_tag(data, at, tag)
        tail, gap = _plain_id(data, start)
        head, final = _plain_id(data, gap + one)
        if (start == at and tag >= 0) or gap == start or final == gap + one:
            break
        if not _separates(data[gap], separator) or min(tail, head) < low or max(tail, head) > high:
            break
        if bits is not None:
            if not _separates(data[final], separator):
                break
            small, count = short_integer(data, final + one)
            final += one + count
            if count > 0 and count < 8 and data[final] <= RETURN:
                weight[place] = small
            else:
                kind, bits[place], after = real(data, np.int64(final - count), end, table)
                if kind <= numbers.HARD or after + 2 > end:
                    break
                all_whole = all_whole and kind == numbers.INTEGER
                final = np.uint64(after)
        final += np.uint64(data[final] == RETURN)
        if data[final] != NEWLINE:
            break
        source[place] = tail - low
        target[place] = head - low
        at = final + one
        place += one
    return np.int64(at), np.int64(place), all_whole


@kernel
def _plain_id(data, position):
    """Return the digits at `position` as a number, and where they end or become too many."""
    value, count = short_integer(data, position)
    if count < 8:
        return value, position + count
    start = position
    while True:
        figure = np.uint8(data[position] - numbers.ZERO)
        if figure > 9 or position - start >= numbers.MOST_DIGITS:
            return value, position
        value = value * np.uint64(10) + np.uint64(figure)
        position += np.uint64(1)


@kernel
def _after_tag(data, position, tag):
    """Return where the fields after the tag begin; `position` where the tag is not there."""
    if tag >= 0 and data[position] == tag and data[position + np.uint64(1)] == SPACE:
        return position + np.uint64(2)
    return position


@kernel
def _separates(letter, separator):
    return letter == separator or (separator < 0 and (letter == SPACE or letter == TAB))

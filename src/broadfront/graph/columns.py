"""Edges in columns of text: two integers, maybe a weight, a row a line.

One kernel serves every format that lists edges so: the `Layout` says where the columns are, what
separates them, which lines are comments and which tag starts an edge. Pieces of whole lines are
read at once by all threads, each row straight to its place.

Invariant: a line is read in full or refused by number; nothing is guessed and nothing skipped but
blank lines and comments.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.graph import numbers
from broadfront.graph.build import index_dtype
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
    find_fields,
    refusal,
)
from broadfront.graph.lines import NEWLINE, Text
from broadfront.graph.numbers import integer, real, short_integer
from broadfront.graph.weights import hard_weight, settled, weight_at
from broadfront.kernel import kernel

Array = NDArray[Any]

HARD_AT_ONCE = 256


class Columns(NamedTuple):
    """The edges of a text."""

    source: Array
    target: Array
    weight: Array | None


def read_columns(text: Text, begin: int, layout: Layout) -> Columns:
    """Read the edges from byte `begin` on; ids become 0-based by taking the base away.

    Ids are int32 unless one is larger, and then all of them int64.
    """
    try:
        return _read_columns(text, begin, layout, index_dtype(layout.vertices or 0, 0))
    except _TooNarrowError:
        return _read_columns(text, begin, layout, np.int64)


class _TooNarrowError(Exception):
    """An id does not fit 32 bits."""


def _read_columns(text: Text, begin: int, layout: Layout, index: Any) -> Columns:
    pieces = text.pieces(begin)
    before = text.lines_before(pieces)
    rows = int(before[-1])
    source, target = np.empty(rows, index), np.empty(rows, index)
    weight = None if layout.weight < 0 else np.empty(rows, np.float64)

    def read(piece: int) -> tuple[int, bool]:
        return _read_piece(text, *pieces[piece], int(before[piece]), layout, source, target, weight)

    found = threads.run(read, len(pieces), "reading edges")
    if sum(count for count, _ in found) < rows:
        spans = [slice(int(start), int(start) + count)
                 for start, (count, _) in zip(before[:-1], found, strict=True)]  # fmt: skip
        source, target = (_joined(ids, spans) for ids in (source, target))
        weight = None if weight is None else _joined(weight, spans)
    if weight is not None:
        whole = all(whole for _, whole in found)
        weight = settled(
            text, weight, whole, lambda: find_fields(text, begin, layout)[:, WEIGHT], layout
        )
    return Columns(source, target, weight)


def _joined(array: Array, spans: list[slice]) -> Array:
    """Move the filled spans together, in place, and return the part that holds them."""
    end = 0
    for span in spans:
        length = span.stop - span.start
        array[end : end + length] = array[span]
        end += length
    return array[:end]


def _read_piece(
    text: Text,
    begin: int,
    end: int,
    row: int,
    layout: Layout,
    source: Array,
    target: Array,
    weight: Array | None,
) -> tuple[int, bool]:
    """Read one piece to its rows; return how many it holds and whether all weights are whole."""
    hard = np.empty((HARD_AT_ONCE, 3), np.int64)
    code = layout.code(source.dtype)
    first_row, whole = row, True
    bits = None if weight is None else weight.view(np.uint64)
    table = numbers.powers_of_five()
    position = begin
    while True:
        problem, position, row, all_whole, hard_found = _read(
            text.data, position, end, row, code, source, target, weight, bits, table, hard
        )
        whole = whole and all_whole
        for place, field, field_end in hard[:hard_found].tolist():
            assert weight is not None
            weight[place] = hard_weight(text, field, field_end, layout)
        if problem == FINE:
            return row - first_row, whole
        if problem == TOO_LARGE and layout.vertices is None and source.dtype == np.int32:
            raise _TooNarrowError
        if problem != HARD_FULL:
            raise refusal(text, problem, position, layout)


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

"""Edges between named vertices, read from text.

The ends of every edge are found as spans of bytes, the spans numbered through a hash table in
order of first appearance, and only the distinct names become Python strings; vertices are then in
increasing order of their names.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import progress
from broadfront.graph.columns import Layout, layout_code, refusal
from broadfront.graph.fields import (
    COLUMNS,
    FINE,
    QUOTES,
    RETURN,
    SPACE,
    TAB,
    next_field,
    skip_blanks,
    skip_field,
    skip_line,
)
from broadfront.graph.labels import Labels, Numbered, objects
from broadfront.graph.lines import NEWLINE, Text
from broadfront.kernel import kernel

Array = NDArray[Any]

FULL_SHARE = 0.5


def read_names(text: Text, begin: int, layout: Layout) -> tuple[Numbered, Array | None]:
    """Read edges whose ends are names; return them numbered, and the weights as read."""
    lines = int(text.lines_before([(begin, len(text.data))] if begin < len(text.data) else [])[-1])
    spans = np.empty((lines, 3, 2), np.int64)
    problem, position, rows = _find(text.data, begin, layout_code(layout), spans)
    if problem:
        raise refusal(text, problem, position, layout_code(layout))
    ends = spans[:rows, :2].reshape(-1, 2)
    codes, firsts = _numbered_spans(text, ends)
    names = [_name(text, *ends[first].tolist()) for first in firsts]
    order = sorted(range(len(names)), key=names.__getitem__)
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    numbered = place[codes].reshape(-1, 2)
    labels = Labels(objects(names[code] for code in order))
    weight = _weights(text, spans[:rows, 2]) if layout.weight >= 0 else None
    return Numbered(numbered[:, 0].copy(), numbered[:, 1].copy(), len(names), labels), weight


def _numbered_spans(text: Text, ends: Array) -> tuple[Array, Array]:
    """Return the number of each span's name, and for each number the first span that has it."""
    codes = np.empty(len(ends), np.int64)
    firsts = np.empty(len(ends), np.int64)
    slots = 1 << 12
    table = np.full(slots, -1, np.int64)
    done = count = 0
    while True:
        done, count = _number(text.data, ends, done, count, table, codes, firsts)
        progress.report("numbering names", done, len(ends))
        if done == len(ends):
            return codes, firsts[:count]
        slots *= 4
        table = np.full(slots, -1, np.int64)
        _insert(text.data, ends, firsts[:count], table)


def _name(text: Text, begin: int, end: int) -> str:
    name = text.decoded(begin, end)
    if name.startswith('"'):
        name = name[1:-1].replace('""', '"')
    if not name:
        raise text.error("the name of a vertex is missing", begin)
    return name


def _weights(text: Text, spans: Array) -> Array:
    values: list[float] = []
    for begin, end in spans.tolist():
        word = text.decoded(begin, end).strip('"')
        try:
            value = float(word)
        except ValueError:
            raise text.error(f"expected a weight, found {word!r}", begin) from None
        if value != value:
            raise text.error("the weight is nan", begin)
        values.append(value)
    weights = np.array(values)
    whole = np.all(np.isfinite(weights)) and np.all(weights == np.trunc(weights))
    if whole and np.abs(weights).max(initial=0) < 2**53:
        return weights.astype(np.int64)
    return weights


@kernel
def _find(data, position, code, spans):
    """Find begin and end of source, target and weight in every line."""
    columns, last_column, separator = code[3], code[4], code[5]
    end = len(data)
    row = 0
    while position < end:
        line = position
        position = skip_blanks(data, position, end, separator)
        if position >= end:
            break
        letter = np.int64(data[position])
        if letter == NEWLINE:
            position += 1
            continue
        if letter == code[6] or letter == code[7]:
            position = skip_line(data, position, end) + 1
            continue
        column = 0
        more = True
        while more:
            after = skip_field(data, position, end, separator)
            if after < 0:
                return QUOTES, position, row
            for role in range(3):
                if column == code[role]:
                    spans[row, role, 0] = position
                    spans[row, role, 1] = _trimmed(data, position, after)
            problem, position, more = next_field(data, after, end, separator)
            if problem:
                return problem, position, row
            column += 1
        if column <= last_column or (columns > 0 and column != columns):
            return COLUMNS, line, row
        position += 1
        row += 1
    return FINE, position, row


@kernel
def _trimmed(data, begin, end):
    while end > begin and data[end - 1] in (SPACE, TAB, RETURN):
        end -= 1
    return end


@kernel
def _hash(data, begin, end):
    value = np.uint64(0xCBF29CE484222325)
    for position in range(begin, end):
        value = (value ^ np.uint64(data[position])) * np.uint64(0x100000001B3)
    return value ^ (value >> np.uint64(29))


@kernel
def _same(data, begin, other, length):
    for step in range(length):
        if data[begin + step] != data[other + step]:
            return False
    return True


@kernel
def _slot(data, spans, firsts, table, begin, end):
    """Return the slot of a name: the one that holds it, or the free one where it belongs."""
    mask = np.uint64(len(table) - 1)
    slot = _hash(data, begin, end) & mask
    while table[slot] >= 0:
        known = firsts[table[slot]]
        if spans[known, 1] - spans[known, 0] == end - begin:
            if _same(data, begin, spans[known, 0], end - begin):
                break
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def _number(data, spans, done, count, table, codes, firsts):
    """Give numbers to spans from `done` on until all are or the table is half full."""
    while done < len(spans):
        slot = _slot(data, spans, firsts, table, spans[done, 0], spans[done, 1])
        if table[slot] < 0:
            if count >= FULL_SHARE * len(table):
                break
            table[slot] = count
            firsts[count] = done
            count += 1
        codes[done] = table[slot]
        done += 1
    return done, count


@kernel
def _insert(data, spans, firsts, table):
    for code in range(len(firsts)):
        first = firsts[code]
        table[_slot(data, spans, firsts, table, spans[first, 0], spans[first, 1])] = code

"""Edges between named vertices, read from text.

The ends of every edge are found as spans of bytes, piece by piece, the spans numbered through a
hash table in order of first appearance, and only the distinct names become Python strings; vertices
are then in increasing order of their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import progress
from broadfront.graph.build import Columns
from broadfront.graph.columns import copied
from broadfront.graph.fields import WEIGHT
from broadfront.graph.labels import Labels, objects
from broadfront.graph.layout import Layout, find_fields
from broadfront.graph.lines import Lines, Text
from broadfront.graph.numbering import Ends, Numbering
from broadfront.graph.weights import read_weights
from broadfront.kernel import kernel

Array = NDArray[Any]

FULL_SHARE = 0.5
FIRST_SLOTS = 1 << 12


class Names:
    """The names met so far: their letters in a row, and the table that finds their numbers."""

    def __init__(self) -> None:
        self.spelled: list[str] = []
        self.letters = np.empty(FIRST_SLOTS, np.uint8)
        self.ends = np.zeros(FIRST_SLOTS, np.int64)
        self.table = np.full(FIRST_SLOTS, -1, np.int32)

    def read(self, text: Text, begin: int, layout: Layout) -> Iterator[Columns]:
        """Yield edges whose ends are names, as the numbers of these by first appearance."""
        for batch in text.batches(begin):
            for lines in batch:
                progress.report("numbering names", text.size - len(lines.data), text.size)
                yield _read_lines(lines, layout, self)
                text.let_go(lines)

    def number(self, ends: Ends) -> Numbering:
        """Give vertices their positions, in increasing order of their names."""
        names = sorted(set(self.spelled))  # one name may be spelled with quotes and without
        positions = {name: place for place, name in enumerate(names)}
        ends.replace(np.fromiter(map(positions.__getitem__, self.spelled), np.int32))
        return Numbering(len(names), Labels(objects(names)))

    def grow(self, letters: int) -> None:
        """Make room for as many names more as there are, and for so many letters more."""
        known = len(self.spelled)
        used = int(self.ends[known])
        if used + letters > len(self.letters):
            self.letters = np.concatenate([self.letters[:used], np.empty(used + letters, np.uint8)])
        self.table = np.full(2 * len(self.table), -1, np.int32)
        self.ends = np.concatenate([self.ends, np.zeros(len(self.ends), np.int64)])
        _insert(known, self.letters, self.ends, self.table)


def _read_lines(lines: Lines, layout: Layout, met: Names) -> Columns:
    fields = find_fields(lines, layout)
    spans = fields[:, :WEIGHT].reshape(-1, 2)
    codes = np.empty(len(spans), np.int32)
    firsts = np.empty(len(spans), np.int64)
    done = 0
    while done < len(spans):
        known = len(met.spelled)
        done, count = _number(
            lines.data, spans, done, known, met.table, codes, firsts, met.letters, met.ends
        )
        met.spelled += [_name(lines, *spans[first].tolist()) for first in firsts[: count - known]]
        if done < len(spans):
            met.grow(int(spans[done, 1] - spans[done, 0]))
    weight = read_weights(lines, fields[:, WEIGHT], layout) if layout.weight >= 0 else None
    ends = codes.reshape(-1, 2)
    kept = None if weight is None else copied(weight)
    return Columns(copied(ends[:, 0]), copied(ends[:, 1]), kept)


def _name(lines: Lines, begin: int, end: int) -> str:
    name = lines.decoded(begin, end)
    if name.startswith('"'):
        name = name[1:-1].replace('""', '"')
    if not name:
        raise lines.error("the name of a vertex is missing", begin)
    return name


@kernel
def _hash(data, begin, end):
    value = np.uint64(0xCBF29CE484222325)
    for position in range(begin, end):
        value = (value ^ np.uint64(data[position])) * np.uint64(0x100000001B3)
    return value ^ (value >> np.uint64(29))


@kernel
def _same(data, begin, letters, first, length):
    for step in range(length):
        if data[begin + step] != letters[first + step]:
            return False
    return True


@kernel
def _slot(data, begin, end, letters, ends, table):
    """Return the slot of a name: the one that holds it, or the free one where it belongs."""
    mask = np.uint64(len(table) - 1)
    slot = _hash(data, begin, end) & mask
    while table[slot] >= 0:
        first = ends[table[slot]]
        if ends[table[slot] + 1] - first == end - begin:
            if _same(data, begin, letters, first, end - begin):
                break
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def _number(data, spans, done, count, table, codes, firsts, letters, ends):
    """Give numbers to spans from `done` on until all are, or there is no room for one more.

    The place of each new name goes to `firsts`, in order.
    """
    known = count
    while done < len(spans):
        begin = spans[done, 0]
        end = spans[done, 1]
        slot = _slot(data, begin, end, letters, ends, table)
        if table[slot] < 0:
            used = ends[count]
            if count >= FULL_SHARE * len(table) or used + end - begin > len(letters):
                break
            for step in range(end - begin):
                letters[used + step] = data[begin + step]
            ends[count + 1] = used + end - begin
            table[slot] = count
            firsts[count - known] = done
            count += 1
        codes[done] = table[slot]
        done += 1
    return done, count


@kernel
def _insert(count, letters, ends, table):
    for code in range(count):
        table[_slot(letters, ends[code], ends[code + 1], letters, ends, table)] = code

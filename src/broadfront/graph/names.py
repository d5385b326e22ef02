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
from broadfront.graph.fields import WEIGHT
from broadfront.graph.labels import Labels, Numbered, objects
from broadfront.graph.layout import Layout, find_fields
from broadfront.graph.lines import Text
from broadfront.graph.weights import read_weights
from broadfront.kernel import kernel

Array = NDArray[Any]

FULL_SHARE = 0.5


def read_names(text: Text, begin: int, layout: Layout) -> tuple[Numbered, Array | None]:
    """Read edges whose ends are names; return them numbered, and the weights as read."""
    fields = find_fields(text, begin, layout)
    ends = fields[:, :WEIGHT].reshape(-1, 2)
    codes, firsts = _numbered_spans(text, ends)
    spelled = [_name(text, *ends[first].tolist()) for first in firsts]
    names = sorted(set(spelled))  # one name may be spelled with quotes and without
    positions = {name: place for place, name in enumerate(names)}
    place = np.fromiter(map(positions.__getitem__, spelled), np.int64, len(spelled))
    numbered = place[codes].reshape(-1, 2)
    weight = read_weights(text, fields[:, WEIGHT], layout) if layout.weight >= 0 else None
    labels = Labels(objects(names))
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

"""The distinct ids of edges in increasing order, and where each is among them.

Method: number the integers through a hash table in order of first appearance, which needs one look
per entry, and sort only the distinct ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import progress, threads
from broadfront.graph.build import Columns, index_dtype
from broadfront.kernel import kernel

Array = NDArray[Any]

FIRST_SLOTS = 1 << 12
FULL_SHARE = 0.5
IDS_AT_ONCE = 1 << 21


def distinct(columns: Columns) -> Array:
    """Return the distinct ids, sorted, and put in their place the position of each among them.

    >>> columns = Columns(np.array([70, 5, 70]), np.array([5, 5, 6]))
    >>> distinct(columns), columns.source, columns.target
    (array([ 5,  6, 70]), array([2, 0, 2], dtype=int32), array([0, 0, 1], dtype=int32))
    """
    found = Found.none(2 * len(columns))
    for side in ("source", "target"):
        ids = getattr(columns, side)
        in_place = columns.owned and ids.dtype == found.table.dtype
        codes, found = found.numbered(ids, ids if in_place else None)
        setattr(columns, side, codes)
        del ids
    values, place = ranked(found)
    for codes in (columns.source, columns.target):
        _replace_all(codes, place)
    return values


class Found(NamedTuple):
    """The integers met so far, and the table that finds their numbers."""

    known: int
    values: Array
    table: Array

    @classmethod
    def none(cls, most: int) -> Found:
        """Return that none is met yet, of `most` at the most."""
        table = np.full(FIRST_SLOTS, -1, index_dtype(most, 0))
        return cls(0, np.empty(FIRST_SLOTS, np.int64), table)

    def numbered(self, ids: Array, codes: Array | None = None) -> tuple[Array, Found]:
        """Return the numbers of `ids`, in `codes` where it is given, and what is met by then."""
        count, values, table = self
        codes = np.empty(len(ids), table.dtype) if codes is None else codes
        done = 0
        while done < len(ids):
            progress.report("numbering ids", done, len(ids))
            goal = min(len(ids), done + IDS_AT_ONCE)
            done, count = _number(ids, done, goal, count, table, values, codes)
            if done < goal:
                table = np.full(2 * len(table), -1, table.dtype)
                more = np.empty(len(table) // 2 - count, np.int64)
                values = np.concatenate([values[:count], more])
                _insert(values[:count], table)
        return codes, Found(count, values, table)


def ranked(found: Found) -> tuple[Array, Array]:
    """Return the integers in increasing order, and where each is among them by its number."""
    values = found.values[: found.known]
    order = np.argsort(values)
    place = np.empty(found.known, found.table.dtype)
    place[order] = np.arange(found.known, dtype=place.dtype)
    return values[order], place


def _replace_all(codes: Array, place: Array) -> None:
    pieces = threads.ranges(len(codes), IDS_AT_ONCE)
    threads.run(lambda piece: _replace(codes, *pieces[piece], place), len(pieces))


@kernel
def _slot(value, values, table):
    """Return the slot of a value: the one that holds it, or the free one where it belongs."""
    mask = np.uint64(len(table) - 1)
    mixed = np.uint64(value) * np.uint64(0x9E3779B97F4A7C15)
    slot = (mixed ^ (mixed >> np.uint64(32))) & mask
    while table[slot] >= 0 and values[table[slot]] != value:
        slot = (slot + np.uint64(1)) & mask
    return slot


@kernel
def _number(ids, done, goal, count, table, values, codes):
    """Give numbers to the ids up to `goal`, or until the table is half full."""
    while done < goal:
        slot = _slot(ids[done], values, table)
        if table[slot] < 0:
            if count >= FULL_SHARE * len(table):
                break
            table[slot] = count
            values[count] = ids[done]
            count += 1
        codes[done] = table[slot]
        done += 1
    return done, count


@kernel
def _insert(values, table):
    for code in range(len(values)):
        table[_slot(values[code], values, table)] = code


@kernel
def _replace(codes, begin, end, place):
    for entry in range(begin, end):
        codes[entry] = place[codes[entry]]

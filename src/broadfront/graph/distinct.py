"""The distinct integers of an array in increasing order, and where each entry is among them.

Method: number the integers through a hash table in order of first appearance, which needs one look
per entry, and sort only the distinct ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import progress, threads
from broadfront.kernel import kernel

Array = NDArray[Any]

FIRST_SLOTS = 1 << 12
FULL_SHARE = 0.5
IDS_AT_ONCE = 1 << 21


def distinct(ids: Array) -> tuple[Array, Array]:
    """Return the distinct integers, sorted, and the position of each entry of `ids` in them.

    >>> distinct(np.array([70, 5, 70]))
    (array([ 5, 70]), array([1, 0, 1]))
    """
    codes = np.empty(len(ids), np.int64)
    values = np.empty(len(ids), np.int64)
    table = np.full(FIRST_SLOTS, -1, np.int64)
    done = count = 0
    while done < len(ids):
        progress.report("numbering ids", done, len(ids))
        goal = min(len(ids), done + IDS_AT_ONCE)
        done, count = _number(ids, done, goal, count, table, values, codes)
        if done < goal:
            table = np.full(4 * len(table), -1, np.int64)
            _insert(values[:count], table)
    order = np.argsort(values[:count])
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    pieces = threads.ranges(len(ids), IDS_AT_ONCE)
    threads.run(lambda piece: _replace(codes, *pieces[piece], place), len(pieces))
    return values[order], codes


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

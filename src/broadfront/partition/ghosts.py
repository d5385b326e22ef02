"""The ghosts of parts: neighbours of their own vertices that other parts own.

Method: mark all neighbours in a table of the graph's vertices, then number the marked ones by group
(which is by owner first) and id, in two passes over pieces of the table. Several parts are under
way at once, each with a table of its own; all phases run on all threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.kernel import kernel
from broadfront.partition.groups import Groups
from broadfront.partition.members import VERTICES_PER_PIECE, Members, cut, slots_of
from broadfront.partition.rows import Rows

Array = NDArray[Any]

SMALL_TABLES = 1 << 22  # bytes: within, more parts than threads are under way at once


class Table(NamedTuple):
    """What one part under way keeps of every vertex of the graph."""

    seen: Array
    """1 where a vertex is a neighbour; all 0 between parts."""
    local: Array | None
    """The local position; None where it is the id. Undefined for vertices not seen."""

    @classmethod
    def several(cls, parts: int, size: int, index: np.dtype[Any] | None) -> list[Table]:
        """Return tables for as many of the parts as should be under way at once.

        Of `size` vertices, with local positions of dtype `index`, or without.
        """
        each = size * (1 if index is None else 1 + index.itemsize)
        wanted = max(threads.count(), SMALL_TABLES // max(1, each))
        return [
            cls(np.zeros(size, np.uint8), None if index is None else np.empty(size, index))
            for _ in range(min(parts, wanted))
        ]


class Ghosts(NamedTuple):
    """The ghosts of one part."""

    starts: Array
    """Those of owner ``q`` are ``ids[starts[q] : starts[q + 1]]``, in its own order."""
    ids: Array


def find(
    parts: Sequence[int],
    rows: Sequence[Sequence[Rows]],
    groups: Groups,
    own: Members,
    tables: Sequence[Table],
) -> list[Ghosts]:
    """Find the ghosts of some parts, given all their rows; fill local positions of the tables."""
    jobs = [
        (turn, direction, *piece)
        for turn in range(len(parts))
        for direction in rows[turn]
        for piece in direction.pieces()
    ]

    def mark(job: int) -> None:
        turn, direction, first, last = jobs[job]
        direction.mark(first, last, tables[turn].seen)

    threads.run(mark, len(jobs))

    of, each, count = groups
    pieces = cut(len(of), VERTICES_PER_PIECE)
    both = list(itertools.product(range(len(parts)), range(len(pieces))))
    counts = np.zeros((len(parts), len(pieces), count * each), np.int64)

    def tally(job: int) -> None:
        turn, piece = both[job]
        _tally_seen(of, each, parts[turn], tables[turn].seen, *pieces[piece], counts[turn, piece])

    threads.run(tally, len(both))
    slots = [slots_of(counts[turn]) for turn in range(len(parts))]
    found = [
        Ghosts(starts[::each].copy(), np.empty(starts[-1], own.listed.dtype)) for starts, _ in slots
    ]

    def number(job: int) -> None:
        turn, piece = both[job]
        part, (seen, local), (begin, end) = parts[turn], tables[turn], pieces[piece]
        first = int(own.starts[part + 1] - own.starts[part])
        _number(
            of, each, part, own.rank, first, seen, begin, end, slots[turn][1][piece],
            found[turn].ids, local,
        )  # fmt: skip

    threads.run(number, len(both))
    return found


@kernel
def _tally_seen(groups, each, own, seen, begin, end, counts):
    for vertex in range(begin, end):
        if seen[vertex] != 0 and not own * each <= groups[vertex] < (own + 1) * each:
            counts[groups[vertex]] += 1


@kernel
def _number(groups, each, own, rank, first, seen, begin, end, slots, ids, local):
    for vertex in range(begin, end):
        if seen[vertex] == 0:
            continue
        seen[vertex] = 0
        group = groups[vertex]
        if own * each <= group < (own + 1) * each:
            if local is not None:
                local[vertex] = rank[vertex]
            continue
        slot = slots[group]
        slots[group] = slot + 1
        ids[slot] = vertex
        if local is not None:
            local[vertex] = first + slot

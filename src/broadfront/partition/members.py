"""The vertices of each part, by group and id, and where each stands among them.

Two passes on all threads: count by group, then put each vertex where the counts say. The result is
the same for any number of threads.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.kernel import kernel

if TYPE_CHECKING:
    from broadfront.partition.groups import Groups

Array = NDArray[Any]

VERTICES_PER_PIECE = 1 << 17


class Members(NamedTuple):
    """The vertices of each part."""

    starts: Array
    """Part ``p`` owns ``listed[starts[p] : starts[p + 1]]``."""
    listed: Array
    rank: Array
    """Where each vertex stands among those of its part."""

    def of(self, part: int) -> Array:
        """Return the vertices of a part, by group and increasing id."""
        return self.listed[self.starts[part] : self.starts[part + 1]]


def members(groups: Groups, index: np.dtype[Any]) -> Members:
    """List the vertices of each part, as numbers of dtype `index`."""
    of, each, count = groups
    pieces = cut(len(of), VERTICES_PER_PIECE)
    counts = np.zeros((len(pieces), count * each), np.int64)
    threads.run(lambda piece: _tally(of, *pieces[piece], counts[piece]), len(pieces))
    starts, slots = slots_of(counts)
    starts = starts[::each].copy()
    listed, rank = np.empty(len(of), index), np.empty(len(of), index)

    def list_piece(piece: int) -> None:
        _list(of, each, *pieces[piece], slots[piece], starts, listed, rank)

    threads.run(list_piece, len(pieces))
    return Members(starts, listed, rank)


def cut(length: int, grain: int) -> list[tuple[int, int]]:
    """Cut ``0 .. length`` into equal ranges of at most `grain`; at least one."""
    pieces = max(1, -(-length // grain))
    cuts = [length * piece // pieces for piece in range(pieces + 1)]
    return list(itertools.pairwise(cuts))


def slots_of(counts: Array) -> tuple[Array, Array]:
    """Return where each group begins, and where each piece begins within each group.

    ``counts[piece, group]`` is how many of a group a piece holds.
    """
    starts = np.zeros(counts.shape[1] + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=starts[1:])
    return starts, starts[:-1] + np.cumsum(counts, axis=0) - counts


@kernel
def _tally(groups, begin, end, counts):
    for vertex in range(begin, end):
        counts[groups[vertex]] += 1


@kernel
def _list(groups, each, begin, end, slots, starts, listed, rank):
    for vertex in range(begin, end):
        group = groups[vertex]
        slot = slots[group]
        slots[group] = slot + 1
        listed[slot] = vertex
        rank[vertex] = slot - starts[group // each]

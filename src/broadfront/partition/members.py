"""The vertices of each part, in increasing order, and where each stands among them.

Two passes on all threads: count by owner, then put each vertex where the counts say. The result is
the same for any number of threads.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.kernel import kernel

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
        """Return the vertices of a part, in increasing order."""
        return self.listed[self.starts[part] : self.starts[part + 1]]


def members(owner: Array, count: int, index: np.dtype[Any]) -> Members:
    """List the vertices of each part, as numbers of dtype `index`."""
    pieces = cut(len(owner), VERTICES_PER_PIECE)
    counts = np.zeros((len(pieces), count), np.int64)
    threads.run(lambda piece: _tally(owner, *pieces[piece], counts[piece]), len(pieces))
    starts, slots = slots_of(counts)
    listed, rank = np.empty(len(owner), index), np.empty(len(owner), index)
    threads.run(
        lambda piece: _list(owner, *pieces[piece], slots[piece], starts, listed, rank), len(pieces)
    )
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
def _tally(owner, begin, end, counts):
    for vertex in range(begin, end):
        counts[owner[vertex]] += 1


@kernel
def _list(owner, begin, end, slots, starts, listed, rank):
    for vertex in range(begin, end):
        part = owner[vertex]
        slot = slots[part]
        slots[part] = slot + 1
        listed[slot] = vertex
        rank[vertex] = slot - starts[part]

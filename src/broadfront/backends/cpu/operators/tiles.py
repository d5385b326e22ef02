"""Arcs in tiles: squares of the adjacency matrix whose two sides fit in a core's cache.

An arc in a tile is 4 bytes, 16 bits for each end, counted from the sides of the tile; there are no
row pointers. Tiles lie target stripe by target stripe, so that one thread owns all totals of a
stripe, and within a stripe in the order of sources. Each is filled up to a multiple of `TOGETHER`
with arcs into a slot past the stripe, so that the innermost loop has no ragged end.

Invariant: each total meets its offers in the order of sources, whatever the size of a tile and the
number of threads; and whether a graph suits, and the size, depend on the graph alone.

References
----------
Zhang, Kiriansky, Mendis, Amarasinghe, Zaharia: Making caches work for graph analytics (IEEE Big
Data 2017), for cutting the graph by sources whose values fit in the cache. Buluç, Fineman, Frigo,
Gilbert, Leiserson: Parallel sparse matrix-vector multiplication using compressed sparse blocks
(SPAA 2009), for blocks of short indices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.graph.build import transposed
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.partition.part import Part
from broadfront.pointers import pointer

Array = NDArray[Any]

LARGE = 1 << 13
"""Up to so many vertices rows do as well."""
STRIPES = 64
"""Stripes that a graph is cut into where they are neither too narrow nor too wide."""
LEAST_BITS, MOST_BITS = 10, 15
DENSE, SPARSE = 1024, 32
"""Arcs per tile, in the mean, below which stripes get wider, and below which nothing helps."""
TOGETHER = 4


class Tiles(NamedTuple):
    """The arcs of a graph, tile by tile."""

    starts: Array
    """Where each tile begins in `pairs`; that of target stripe t and source stripe s is number
    ``t * stripes + s``, and one more is the end."""
    pairs: Array
    """Two arcs in each word of 64 bits, an arc as ``source << 16 | target``."""
    arcs: Array
    """How many arcs each target stripe has, without those that only fill up."""
    bits: int
    """A stripe has ``1 << bits`` vertices."""
    stripes: int


def suit(graph: Graph) -> bool:
    """Return whether tiles are worth their while for a graph."""
    size, arcs = graph.num_vertices, graph.num_arcs
    return size > LARGE and _stripes(size, _bits(size, arcs)) ** 2 * SPARSE <= arcs


def tiles_of(graph: Graph, make: Callable[..., Array] = np.empty) -> Tiles:
    """Return the tiles of a graph, cut on first need into an array that `make` makes, and kept."""
    bits = _bits(graph.num_vertices, graph.num_arcs)
    size = graph.num_vertices
    tiles: Tiles = graph.kept("tiles", lambda: cut(graph.offsets, graph.targets, size, bits, make))
    return tiles


def outlined(size: int, arcs: int, in_arcs: int, *, filled_up: bool) -> Tiles:
    """Return tiles that are not there yet: arrays as long as those will be, without memory.

    How many arcs only fill up is not known before: none are counted, or as many as there can be.
    """
    bits = _bits(size, arcs)
    stripes = _stripes(size, bits)
    tiles = stripes * stripes
    words = in_arcs + ((TOGETHER - 1) * min(tiles, in_arcs) if filled_up else 0)

    def array(length: int) -> Array:
        return np.broadcast_to(np.zeros(1, np.int64), length)

    return Tiles(array(tiles + 1), array(words // 2), array(stripes), bits, stripes)


def tiles_of_part(part: Part) -> Tiles:
    """Return the tiles of the arcs into the vertices that a part owns, from all it knows."""
    offsets, targets = part.in_offsets, part.in_targets
    assert offsets is not None
    assert targets is not None
    turned = transposed(offsets, targets, None)
    bits = _bits(part.positions, part.num_arcs)
    return cut(turned.offsets, turned.targets, part.positions, bits)


def _bits(size: int, arcs: int) -> int:
    bits = max(LEAST_BITS, ((size - 1) // STRIPES).bit_length())
    while bits < MOST_BITS and _stripes(size, bits) ** 2 * DENSE > arcs:
        bits += 1
    return min(MOST_BITS, bits)


def _stripes(size: int, bits: int) -> int:
    return -(-size >> bits)


def cut(
    offsets: Array, targets: Array, size: int, bits: int, make: Callable[..., Array] = np.empty
) -> Tiles:
    """Sort arcs, given by rows, into tiles with sides of ``1 << bits`` vertices, bits up to 15."""
    stripes = _stripes(size, bits)
    counts = np.zeros((stripes, stripes), np.int64)

    def ends(stripe: int) -> tuple[int, int]:
        return stripe << bits, min(size, (stripe + 1) << bits)

    def count(stripe: int) -> None:
        _count(offsets, targets, *ends(stripe), bits, counts[stripe])

    threads.run(count, stripes, "counting tiles")
    starts = np.zeros(stripes * stripes + 1, np.int64)
    np.cumsum(-(-counts.T // TOGETHER) * TOGETHER, out=starts[1:])
    pairs = make(int(starts[-1]), np.uint32)

    def fill(stripe: int) -> None:
        slots = starts[stripe:-1:stripes].copy()
        _fill(offsets, targets, *ends(stripe), bits, slots, pairs)

    threads.run(fill, stripes, "filling tiles")
    return Tiles(starts // 2, pairs.view(np.uint64), counts.sum(axis=0), bits, stripes)


@kernel
def _count(offsets, targets, first, last, bits, counts):
    target, count = pointer(targets), pointer(counts)
    for edge in range(np.int64(offsets[first]), np.int64(offsets[last])):
        count[np.int64(target[edge]) >> bits] += 1


@kernel
def _fill(offsets, targets, first, last, bits, slots, pairs):
    target, slot, pair = pointer(targets), pointer(slots), pointer(pairs)
    within = (1 << bits) - 1
    for vertex in range(first, last):
        source = (vertex - first) << 16
        for edge in range(np.int64(offsets[vertex]), np.int64(offsets[vertex + 1])):
            other = np.int64(target[edge])
            stripe = other >> bits
            place = slot[stripe]
            slot[stripe] = place + 1
            pair[place] = source | (other & within)
    for stripe in range(len(slots)):
        place = slot[stripe]
        while place % TOGETHER != 0:
            pair[place] = 1 << bits
            place += 1

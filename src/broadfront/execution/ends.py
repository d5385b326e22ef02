"""What a run begins with and what it leaves, between arrays of NumPy and memory of operators.

A product over a semiring is a run of one iteration, so what happens once in a run counts there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.bits import count_ones, trailing_zeros
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel

Array = NDArray[Any]

VERY_FEW, FEW = 4, 1 << 12
"""Vertices for which Python is quicker than NumPy, and this quick enough: no kernel is loaded."""
MANY = 64
"""Of so many vertices one, and a frontier is put in order by marks of all."""


def arcs_of(graph: Graph, queue: Array) -> int:
    """Return how many arcs leave the vertices of a queue."""
    if len(queue) == graph.num_vertices:
        return graph.num_arcs
    offsets = graph.offsets
    if len(queue) <= VERY_FEW:
        return sum(offsets.item(vertex + 1) - offsets.item(vertex) for vertex in queue.tolist())
    if len(queue) < FEW:
        return int((offsets[queue + 1] - offsets[queue]).sum())
    return int(_arcs_of(offsets, queue))


def increasing(places: Array, size: int) -> NDArray[np.int64]:
    """Return positions in order, each once; many are marked, which beats sorting."""
    if len(places) * MANY < size or size < FEW:
        return np.unique(places).astype(np.int64)
    words = np.zeros((size + 63) >> 6, np.uint64)
    _mark(places, words)
    return places_in(words, size)


def places_in(words: NDArray[np.uint64], num_vertices: int) -> NDArray[np.int64]:
    """Return the vertices of a bitmap, in increasing order."""
    if num_vertices < FEW:
        octets = words[: num_vertices // 64 + 1].view(np.uint8)
        bits = np.unpackbits(octets, bitorder="little")[:num_vertices]
        return np.flatnonzero(bits.view(np.bool_))
    found: NDArray[np.int64] = _places_in(words, (num_vertices + 63) >> 6)
    return found


@kernel
def _arcs_of(offsets, queue):
    arcs = np.int64(0)
    for vertex in queue:
        arcs += np.int64(offsets[vertex + 1]) - np.int64(offsets[vertex])
    return arcs


@kernel
def _places_in(words, length):
    count = np.int64(0)
    for place in range(length):
        count += np.int64(count_ones(words[place]))
    found = np.empty(count, np.int64)
    end = 0
    for place in range(length):
        left = words[place]
        while left != 0:
            found[end] = (place << 6) + np.int64(trailing_zeros(left))
            left &= left - np.uint64(1)
            end += 1
    return found


@kernel
def _mark(places, words):
    for place in places:
        words[place >> 6] |= np.uint64(1) << np.uint64(place & 63)

"""Whether arrays that somebody else made are a graph as Broadfront stores them.

That an undirected graph has every arc in both directions is seen without looking for any: a sum of
hashes over the arcs ``(u, v, weight)`` must be the same with the ends exchanged. One pass finds
this, the order of the neighbours and the self-loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import GraphError
from broadfront.kernel import kernel

Array = NDArray[Any]

VERTICES_PER_PIECE = 1 << 18
NUMBERS_PER_PIECE = 1 << 21


def check_rows(
    offsets: Array,
    targets: Array,
    weights: Array | None,
    *,
    directed: bool,
    self_loops: int,
    parallel: bool = False,
) -> None:
    """Refuse rows that are not sorted, not symmetric where they must be, or not of this graph.

    In those of a graph with parallel edges a neighbour may follow itself.
    """
    if offsets[0] != 0 or offsets[-1] != len(targets) or np.any(offsets[1:] < offsets[:-1]):
        raise GraphError("the offsets do not rise from 0 to the number of targets")
    if len(targets):
        lowest, highest = extremes(targets)
        if lowest < 0 or highest >= len(offsets) - 1:
            raise GraphError("a target is not a vertex")
        if weights is not None and weights.dtype.kind == "f" and np.isnan(extremes(weights)[1]):
            raise GraphError("a weight is nan")
    width = 8 if weights is None else weights.dtype.itemsize
    bits = None if weights is None else weights.view(f"u{width}")
    negative_zero = np.uint64(1 << (8 * width - 1))
    size = len(offsets) - 1
    grain = min(VERTICES_PER_PIECE, 1 + size * NUMBERS_PER_PIECE // max(1, len(targets)))
    pieces = threads.ranges(size, grain)
    found = threads.run(
        lambda piece: _scan(offsets, targets, bits, negative_zero, parallel, *pieces[piece]),
        len(pieces), "checking",
    )  # fmt: skip
    if not all(rising for rising, _, _ in found):
        raise GraphError("the neighbours of a vertex do not rise")
    if sum(loops for _, loops, _ in found) != self_loops:
        raise GraphError(f"the header promises {self_loops:,} self-loops, which is wrong")
    if not directed and sum(int(balance) for _, _, balance in found) % 2**64:
        raise GraphError("an undirected edge stands at one of its ends only, or has two weights")


def extremes(array: Array) -> tuple[Any, Any]:
    """Return the smallest and the largest of some numbers; NaN if one is NaN."""
    pieces = threads.ranges(len(array), NUMBERS_PER_PIECE)
    found = threads.run(
        lambda piece: [pick(array[slice(*pieces[piece])]) for pick in (np.min, np.max)], len(pieces)
    )
    lowest, highest = zip(*found, strict=True)
    return np.array(lowest).min(), np.array(highest).max()


def check_labels(values: Array) -> None:
    """Refuse labels of which two are equal."""
    if values.dtype.kind == "i":
        repeated = bool(np.any(np.diff(np.sort(values)) == 0))
    else:
        repeated = len(set(values.tolist())) < len(values)
    if repeated:
        raise GraphError("two vertices have the same label")


@kernel
def _scan(offsets, targets, bits, negative_zero, parallel, begin, end):
    """Return if the rows rise, their self-loops, and the hashes of the arcs less those turned."""
    loops = 0
    balance = np.uint64(0)
    for vertex in range(begin, end):
        tail = np.uint64(vertex)
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            if arc > offsets[vertex] and targets[arc] <= targets[arc - 1]:
                if not parallel or targets[arc] < targets[arc - 1]:
                    return False, loops, balance
            head = np.uint64(targets[arc])
            loops += tail == head
            weight = np.uint64(0) if bits is None else np.uint64(bits[arc])
            if weight == negative_zero:
                weight = np.uint64(0)
            balance += mixed(tail, head, weight) - mixed(head, tail, weight)
    return True, loops, balance


@kernel
def mixed(first, second, weight):
    """Return a hash of an arc, which differs from that of the arc turned around."""
    word = first * np.uint64(0x9E3779B97F4A7C15) + weight * np.uint64(0xC2B2AE3D27D4EB4F)
    word = (word ^ (word >> np.uint64(31))) * np.uint64(0xD6E8FEB86659FD93)
    word = (word ^ second) * np.uint64(0xFF51AFD7ED558CCD)
    return word ^ (word >> np.uint64(29))

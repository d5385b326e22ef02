"""The edge list in sorted order, against which answers are checked.

Checking in the order of the list would look up two random vertices for each of its tuples. The index
holds the same tuples by row, each once, at the end of smaller degree: a check reads one vertex after
the other, and what it looks up are few vertices of large degree, which stay in the cache. It is built
once, untimed, and shares no memory with what kernel 1 built; the list is not needed any more.

Invariant: the index holds the tuples of the list and nothing else. This is checked when it is built,
by their number and the sum of their hashes, since answers are judged by it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics, threads
from broadfront.errors import VerificationError
from broadfront.graph.build import Columns, rows_from
from broadfront.graph.generate.random import word
from broadfront.graph500.edges import EDGES_PER_PIECE, EdgeList
from broadfront.kernel import kernel

Array = NDArray[Any]

VERTICES_PER_PIECE = 1 << 15


class EdgeIndex(NamedTuple):
    """The tuples at vertex v are ``targets[offsets[v] : offsets[v + 1]]``, sorted."""

    offsets: Array
    targets: Array
    weights: NDArray[np.float32] | None

    @property
    def num_vertices(self) -> int:
        """The number of vertices, isolated ones included."""
        return len(self.offsets) - 1


def index_edges(edges: EdgeList) -> EdgeIndex:
    """Sort the tuples of a list, which is used up, and check that none was lost."""
    tuples, columns = len(edges), _oriented(edges)
    pieces = threads.ranges(tuples, EDGES_PER_PIECE)
    source, target, weight = columns.source, columns.target, columns.weight
    wanted = threads.run(
        lambda piece: int(_hash_tuples(*pieces[piece], source, target, weight)), len(pieces)
    )
    del source, target, weight
    rows = rows_from(columns, edges.num_vertices, keep=True)
    index = EdgeIndex(rows.offsets, rows.targets, rows.weights)
    parts = threads.ranges(index.num_vertices, VERTICES_PER_PIECE)
    held = threads.run(
        lambda piece: int(_hash_rows(*parts[piece], *index)), len(parts), "checking the index"
    )
    if len(index.targets) != tuples or (sum(held) - sum(wanted)) % 2**64 != 0:
        raise VerificationError("the index holds the edge list", "its tuples are others")
    return index


def _oriented(edges: EdgeList) -> Columns:
    """Take the list, and turn each tuple so that it leads to the end of larger degree."""
    columns = edges.taken()
    source, target = columns.source, columns.target
    degrees = np.zeros(edges.num_vertices, np.int64)
    pieces = threads.ranges(len(source), EDGES_PER_PIECE)
    for pass_over, stage in ((_count_ends, "counting degrees"), (_turn, "turning tuples")):
        threads.run(
            lambda piece, go=pass_over: go(*pieces[piece], source, target, degrees),  # type: ignore[misc]
            len(pieces), stage,
        )  # fmt: skip
    return columns


@kernel
def _count_ends(begin, end, source, target, degrees):
    for edge in range(begin, end):
        atomics.add(degrees, source[edge], 1)
        atomics.add(degrees, target[edge], 1)


@kernel
def _turn(begin, end, source, target, degrees):
    for edge in range(begin, end):
        tail, head = source[edge], target[edge]
        if degrees[tail] > degrees[head]:
            source[edge], target[edge] = head, tail


@kernel
def _hashed(tail, head, edge, weight):
    value = word(word(np.uint64(0), tail), head)
    if weight is not None:
        value = word(value, np.int64(weight[edge] * np.float32(2.0**24)))
    return value


@kernel
def _hash_tuples(begin, end, source, target, weight):
    total = np.uint64(0)
    for edge in range(begin, end):
        total += _hashed(source[edge], target[edge], edge, weight)
    return total


@kernel
def _hash_rows(first, last, offsets, targets, weights):
    total = np.uint64(0)
    for vertex in range(first, last):
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            total += _hashed(vertex, targets[arc], arc, weights)
    return total

"""The edge list in sorted order, against which answers are checked.

Checking in the order of the list would look up two random vertices for each of its tuples. The
index holds the same tuples by row, each once, at the end of smaller degree. The other end is there
by its rank, the largest degree first: a check reads one vertex after the other, and nearly all that
it looks up by rank lies side by side in the cache. The index is built once, untimed, and shares no
memory with what kernel 1 built; the list is not needed any more.

Invariant: the index holds the tuples of the list and nothing else. This is checked when it is
built, by their number and the sum of their hashes, since answers are judged by it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics, threads
from broadfront.errors import VerificationError
from broadfront.graph.build import Columns, rows_from
from broadfront.graph.generate.random import word
from broadfront.graph.labels import frozen
from broadfront.graph500.edges import EDGES_PER_PIECE, EdgeList
from broadfront.graph500.on_disk import little_of, sorted_on_disk
from broadfront.kernel import inlined, kernel

Array = NDArray[Any]


class EdgeIndex(NamedTuple):
    """The other ends at vertex v are ``ranks[offsets[v] : offsets[v + 1]]``, sorted.

    Vertex v itself has the rank ``rank_of[v]``.
    """

    offsets: Array
    ranks: Array
    weights: NDArray[np.float32] | None
    rank_of: Array

    @property
    def num_vertices(self) -> int:
        """The number of vertices, isolated ones included."""
        return len(self.offsets) - 1


def index_edges(edges: EdgeList, memory_limit: int | None = None) -> EdgeIndex:
    """Sort the tuples of a list, which is used up, and check that none was lost.

    With a limit the index is sorted on the disk, and mapped.
    """
    with little_of(edges.source, edges.target, edges.weight, limit=memory_limit):
        rank_of = _ranks(edges)
        wanted = len(edges), _sum_over_tuples(edges, rank_of)
    rows: Any
    if memory_limit is None:
        rows = rows_from(_turned(edges.taken(), rank_of), edges.num_vertices, keep=True)
    else:
        turn = partial(_turned, rank_of=rank_of)
        rows = sorted_on_disk(edges, memory_limit, keep=True, turn=turn)
        edges.taken()
    weights = None if rows.weights is None else frozen(rows.weights)
    index = EdgeIndex(frozen(rows.offsets), frozen(rows.targets), weights, rank_of)
    with little_of(index.ranks, index.weights, limit=memory_limit):
        hashes = _over(index.num_vertices, lambda first, last: _hash_rows(first, last, *index[:3]))
    if (len(index.ranks), hashes) != wanted:
        raise VerificationError("the index holds the edge list", "its tuples are others")
    return index


def _ranks(edges: EdgeList) -> Array:
    """Return the rank of each vertex, that of the largest degree first."""
    source, target = edges.source, edges.target
    degrees = np.zeros(edges.num_vertices, np.int64)
    _over(len(source), lambda begin, end: _count_ends(begin, end, source, target, degrees))
    rank_of = np.empty(len(degrees), source.dtype)
    rank_of[np.argsort(-degrees, kind="stable")] = np.arange(len(degrees), dtype=source.dtype)
    return rank_of


def _sum_over_tuples(edges: EdgeList, rank_of: Array) -> int:
    ends = edges.source, edges.target, edges.weight
    return _over(len(edges), lambda begin, end: _hash_tuples(begin, end, *ends, rank_of))


def _turned(columns: Columns, rank_of: Array) -> Columns:
    """Return tuples from the end of larger rank to the rank of the other.

    The arrays of the list are somebody else's, too, and stay as they are.
    """
    source, target, weight = columns.taken()
    turned = Columns(np.empty_like(source), np.empty_like(target), weight)
    ends = source, target, turned.source, turned.target
    _over(len(source), lambda begin, end: _turn(begin, end, *ends, rank_of))
    return turned


def _over(length: int, task: Callable[[int, int], Any]) -> int:
    """Call ``task(begin, end)`` on pieces of ``0 .. length`` on all threads; return the sum."""
    pieces = threads.ranges(length, EDGES_PER_PIECE)
    sums = threads.run(lambda piece: int(task(*pieces[piece]) or 0), len(pieces), "indexing edges")
    return sum(sums) % 2**64


@kernel
def _count_ends(begin, end, source, target, degrees):
    for edge in range(begin, end):
        atomics.add(degrees, source[edge], 1)
        atomics.add(degrees, target[edge], 1)


@inlined
def _placed(source, target, rank_of):
    """Return the end that a tuple is kept at, and the rank of the other."""
    if rank_of[source] < rank_of[target]:
        return target, rank_of[source]
    return source, rank_of[target]


@kernel
def _turn(begin, end, source, target, vertices, ranks, rank_of):
    for edge in range(begin, end):
        vertices[edge], ranks[edge] = _placed(source[edge], target[edge], rank_of)


@kernel
def _hashed(vertex, rank, edge, weight):
    value = word(word(np.uint64(0), vertex), rank)
    if weight is not None:
        value = word(value, np.int64(weight[edge] * np.float32(2.0**24)))
    return value


@kernel
def _hash_tuples(begin, end, source, target, weight, rank_of):
    total = np.uint64(0)
    for edge in range(begin, end):
        vertex, rank = _placed(source[edge], target[edge], rank_of)
        total += _hashed(vertex, rank, edge, weight)
    return total


@kernel
def _hash_rows(first, last, offsets, ranks, weights):
    total = np.uint64(0)
    for vertex in range(first, last):
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            total += _hashed(vertex, ranks[arc], arc, weights)
    return total

"""From edges in any order to compressed sparse rows: sorted, merged, symmetric on request.

Method: deal every arc into buckets of consecutive sources, as one key (source within the bucket,
target) of 32 bits, or 64 where needed; sort each bucket by radix while it fits in the cache; merge
equal keys; unpack the targets. Each phase runs on all threads over disjoint pieces of memory.

Invariant: the result depends on the set of edges alone, not on their order and not on the number
of threads; parallel edges that are kept stay in the order in which they were given. Beyond input
and result, the only large allocation is the array of keys (and one of weights). `rows_from` lets go
of the input as soon as it is dealt.

References
----------
Beamer, Asanović, Patterson: Reducing PageRank communication via propagation blocking (IPDPS 2017),
for dealing into cache-sized bins before touching memory at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import GraphError
from broadfront.kernel import kernel

Array = NDArray[Any]

BUCKET_ARCS = 1 << 15  # 256 KiB of keys: sorts inside a core's own cache
LEAST_BUCKET_ARCS = 1 << 9  # smaller ones only to make keys of 32 bits do are no gain
MOST_BUCKETS = 1 << 12  # beyond this many open buckets, dealing misses the TLB at every write
NARROW_KEY_BITS = 32
MOST_DIGIT_BITS = 11
INSERTION_SORT_BELOW = 48
EDGES_PER_PIECE = 1 << 22
NOTHING: Array = np.empty(0, np.int32)


@dataclass
class Columns:
    """Edges in any order, an entry per edge. What builds a graph of them may use them up."""

    source: Array
    target: Array
    weight: Array | None = None
    owned: bool = False
    """Whether the arrays may be changed."""

    def __len__(self) -> int:
        return len(self.source)

    def taken(self) -> tuple[Array, Array, Array | None]:
        """Return source, target and weight, and keep nothing."""
        taken = self.source, self.target, self.weight
        self.source, self.target = NOTHING, NOTHING
        self.weight = None
        return taken


class Rows(NamedTuple):
    """Compressed sparse rows, and what was merged or dropped to make them."""

    offsets: Array
    targets: Array
    weights: Array | None
    loops_read: int
    """Self-loops in the input, duplicates included."""
    loops_kept: int


def rows(
    source: Array,
    target: Array,
    weight: Array | None,
    num_vertices: int,
    *,
    symmetric: bool = False,
    drop_loops: bool = False,
) -> Rows:
    """Sort edges, which stay as they are, into compressed sparse rows.

    Parameters
    ----------
    source, target
        Vertex ids, int32 or int64, every one in ``0 .. num_vertices - 1`` (not checked here).
    weight
        None, or a number per edge; of equal edges the smallest weight stays.
    symmetric
        Store every edge in both directions.
    drop_loops
        Leave edges from a vertex to itself out.
    """
    columns = Columns(source, target, weight)
    return rows_from(columns, num_vertices, symmetric=symmetric, drop_loops=drop_loops)


def rows_from(
    columns: Columns,
    num_vertices: int,
    *,
    symmetric: bool = False,
    drop_loops: bool = False,
    keep: bool = False,
) -> Rows:
    """Do as `rows`, and let go of the columns when they are no longer needed.

    `keep` leaves parallel edges apart, in the order of the columns.
    """
    plan = _plan(num_vertices, len(columns) * (2 if symmetric else 1))
    dealt = _dealt(plan, columns, symmetric, drop_loops)
    return _sorted_rows(plan, num_vertices, dealt, keep)


class _Dealt(NamedTuple):
    """Arcs by bucket, in any order within."""

    bucket_starts: Array
    keys: Array
    values: Array | None
    loops_read: int


def _dealt(plan: _Plan, columns: Columns, symmetric: bool, drop_loops: bool) -> _Dealt:
    source, target, weight = columns.taken()
    pieces = threads.ranges(len(source), EDGES_PER_PIECE)
    counts = np.zeros((len(pieces), plan.buckets), np.int64)

    def count(piece: int) -> int:
        begin, end = pieces[piece]
        loops = _count(source, target, begin, end, plan.shift, symmetric, drop_loops, counts[piece])
        return int(loops)

    loops_read = sum(threads.run(count, len(pieces), "counting edges"))

    bucket_starts = np.zeros(plan.buckets + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=bucket_starts[1:])
    slots = bucket_starts[:-1] + np.cumsum(counts, axis=0) - counts
    keys = np.empty(bucket_starts[-1], plan.key_dtype)
    values = None if weight is None else np.empty(len(keys), weight.dtype)

    def deal(piece: int) -> None:
        begin, end = pieces[piece]
        _deal(
            source, target, weight, begin, end,
            plan.shift, plan.target_bits, symmetric, drop_loops, slots[piece], keys, values,
        )  # fmt: skip

    threads.run(deal, len(pieces), "dealing edges")
    return _Dealt(bucket_starts, keys, values, loops_read)


class _Plan(NamedTuple):
    buckets: int
    shift: int
    """A vertex belongs to bucket ``vertex >> shift``."""
    target_bits: int
    key_dtype: type[np.uint32] | type[np.uint64]


def _plan(num_vertices: int, arcs: int) -> _Plan:
    vertex_bits = max(1, (num_vertices - 1).bit_length())
    wanted = min(MOST_BUCKETS, max(1, arcs // BUCKET_ARCS))
    shift = min(max(0, vertex_bits - wanted.bit_length() + 1), 64 - vertex_bits)
    narrow = max(0, NARROW_KEY_BITS - vertex_bits)
    if num_vertices >> narrow < min(MOST_BUCKETS, arcs // LEAST_BUCKET_ARCS):
        shift = min(shift, narrow)
    key_dtype = np.uint32 if shift + vertex_bits <= NARROW_KEY_BITS else np.uint64
    return _Plan(max(1, -(-num_vertices // (1 << shift))), shift, vertex_bits, key_dtype)


def _sorted_rows(plan: _Plan, num_vertices: int, dealt: _Dealt, keep: bool) -> Rows:
    bucket_starts, keys, values, loops_read = dealt
    groups = _groups(bucket_starts)
    degrees = np.zeros(num_vertices + 1, np.int64)
    kept = np.zeros(plan.buckets + 1, np.int64)
    loops = np.zeros(plan.buckets, np.int64)

    def sort(group: int) -> None:
        first, last = groups[group]
        largest = int(np.diff(bucket_starts[first : last + 1]).max(initial=0))
        spare_keys = np.empty(largest, keys.dtype)
        spare_values = None if values is None else np.empty(largest, values.dtype)
        _sort_buckets(
            first, last, bucket_starts, keys, values, spare_keys, spare_values,
            plan.shift, plan.target_bits, keep, degrees[1:], kept[1:], loops,
        )  # fmt: skip

    threads.run(sort, len(groups), "sorting neighbours")

    np.cumsum(kept, out=kept)
    arcs = int(kept[-1])
    index = index_dtype(num_vertices, arcs)
    offsets = np.cumsum(degrees, out=degrees).astype(index, copy=False)
    targets = np.empty(arcs, index)
    weights = None if values is None else np.empty(arcs, values.dtype)

    def unpack(group: int) -> None:
        first, last = groups[group]
        _unpack(first, last, bucket_starts, kept, keys, values, plan.target_bits, targets, weights)

    threads.run(unpack, len(groups), "unpacking")
    return Rows(offsets, targets, weights, loops_read, int(loops.sum()))


def _groups(bucket_starts: Array) -> list[tuple[int, int]]:
    """Cut the buckets into runs of about equal work, so that each is a piece for a thread."""
    pieces = threads.ranges(int(bucket_starts[-1]), EDGES_PER_PIECE // 4)
    cuts = np.searchsorted(bucket_starts, [begin for begin, _ in pieces], "left")
    edges = sorted({0, *cuts.tolist(), len(bucket_starts) - 1})
    return list(zip(edges, edges[1:], strict=False))


def index_dtype(num_vertices: int, arcs: int) -> type[np.int32] | type[np.int64]:
    """Return int32 while vertex ids and arc positions fit, int64 beyond."""
    return np.int32 if max(num_vertices, arcs) <= np.iinfo(np.int32).max else np.int64


def transposed(offsets: Array, targets: Array, weights: Array | None, keep: bool = False) -> Rows:
    """Turn every arc around; `keep` as in `rows_from`."""
    num_vertices = len(offsets) - 1
    sources = np.repeat(np.arange(num_vertices, dtype=targets.dtype), np.diff(offsets))
    columns = Columns(targets, sources, weights)
    del sources
    return rows_from(columns, num_vertices, keep=keep)


def check_ids(source: Array, target: Array, num_vertices: int, first: int = 0) -> None:
    """Refuse the first edge that names a vertex outside ``first .. first + num_vertices - 1``."""
    end = first + num_vertices
    for name, ids in (("source", source), ("target", target)):
        if len(ids) and (ids.min() < first or ids.max() >= end):
            edge = int(np.flatnonzero((ids < first) | (ids >= end))[0])
            raise GraphError(
                f"edge {edge:,}: {name} {ids[edge]} is not a vertex id in {first}..{end - 1}"
            )


@kernel
def _count(source, target, begin, end, shift, symmetric, drop_loops, counts):
    loops = 0
    for edge in range(begin, end):
        tail = source[edge]
        head = target[edge]
        if tail == head:
            loops += 1
            if drop_loops:
                continue
        elif symmetric:
            counts[head >> shift] += 1
        counts[tail >> shift] += 1
    return loops


@kernel
def _deal(
    source, target, weight, begin, end,
    shift, target_bits, symmetric, drop_loops, slots, keys, values,
):  # fmt: skip
    within = (np.uint64(1) << np.uint64(shift)) - np.uint64(1)
    bits = np.uint64(target_bits)
    for edge in range(begin, end):
        tail = source[edge]
        head = target[edge]
        if tail == head:
            if drop_loops:
                continue
        elif symmetric:
            bucket = head >> shift
            slot = slots[bucket]
            slots[bucket] = slot + 1
            keys[slot] = ((np.uint64(head) & within) << bits) | np.uint64(tail)
            if values is not None:
                values[slot] = weight[edge]
        bucket = tail >> shift
        slot = slots[bucket]
        slots[bucket] = slot + 1
        keys[slot] = ((np.uint64(tail) & within) << bits) | np.uint64(head)
        if values is not None:
            values[slot] = weight[edge]


@kernel
def _sort_buckets(
    first, last, bucket_starts, keys, values, spare_keys, spare_values,
    shift, target_bits, keep, degrees, kept, loops,
):  # fmt: skip
    key_bits = shift + target_bits
    passes = (key_bits + MOST_DIGIT_BITS - 1) // MOST_DIGIT_BITS
    digit = (key_bits + passes - 1) // passes
    counts = np.empty(1 << digit, np.int64)
    for bucket in range(first, last):
        begin = bucket_starts[bucket]
        length = bucket_starts[bucket + 1] - begin
        own = keys[begin : begin + length]
        own_values = None if values is None else values[begin : begin + length]
        if length < INSERTION_SORT_BELOW:
            _insertion_sort(own, own_values)
        else:
            _radix_sort(own, own_values, spare_keys, spare_values, counts, passes, digit)
        kept[bucket], loops[bucket] = _merge_equal(
            own, own_values, bucket << shift, target_bits, keep, degrees
        )


@kernel
def _insertion_sort(keys, values):
    for place in range(1, len(keys)):
        key = keys[place]
        if values is not None:
            value = values[place]
        hole = place
        while hole > 0 and keys[hole - 1] > key:
            keys[hole] = keys[hole - 1]
            if values is not None:
                values[hole] = values[hole - 1]
            hole -= 1
        keys[hole] = key
        if values is not None:
            values[hole] = value


@kernel
def _radix_sort(keys, values, spare_keys, spare_values, counts, passes, digit):
    length = len(keys)
    for turn in range(passes):
        if turn % 2 == 0:
            _radix_pass(length, keys, values, spare_keys, spare_values, counts, turn * digit)
        else:
            _radix_pass(length, spare_keys, spare_values, keys, values, counts, turn * digit)
    if passes % 2 == 1:
        for place in range(length):  # a slice assignment would compile 5 s of error text
            keys[place] = spare_keys[place]
            if values is not None:
                values[place] = spare_values[place]


@kernel
def _radix_pass(length, keys, values, goal_keys, goal_values, counts, bits_below):
    shift = np.uint64(bits_below)
    mask = np.uint64(len(counts) - 1)
    for figure in range(len(counts)):
        counts[figure] = 0
    for place in range(length):
        counts[(keys[place] >> shift) & mask] += 1
    total = 0
    for figure in range(len(counts)):
        total, counts[figure] = total + counts[figure], total
    for place in range(length):
        key = keys[place]
        figure = (key >> shift) & mask
        slot = counts[figure]
        counts[figure] = slot + 1
        goal_keys[slot] = key
        if values is not None:
            goal_values[slot] = values[place]


@kernel
def _merge_equal(keys, values, first_vertex, target_bits, keep, degrees):
    bits = np.uint64(target_bits)
    mask = (np.uint64(1) << bits) - np.uint64(1)
    kept = 0
    loops = 0
    for place in range(len(keys)):
        key = keys[place]
        if not keep and kept > 0 and keys[kept - 1] == key:
            if values is not None:
                values[kept - 1] = min(values[kept - 1], values[place])
            continue
        keys[kept] = key
        if values is not None:
            values[kept] = values[place]
        kept += 1
        vertex = first_vertex + np.int64(key >> bits)
        degrees[vertex] += 1
        if vertex == np.int64(key & mask):
            loops += 1
    return kept, loops


@kernel
def _unpack(first, last, bucket_starts, kept, keys, values, target_bits, targets, weights):
    mask = (np.uint64(1) << np.uint64(target_bits)) - np.uint64(1)
    for bucket in range(first, last):
        begin = bucket_starts[bucket]
        goal = kept[bucket]
        for place in range(kept[bucket + 1] - goal):
            targets[goal + place] = keys[begin + place] & mask
            if weights is not None:
                weights[goal + place] = values[begin + place]

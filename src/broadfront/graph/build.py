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
from broadfront.graph.bucket_sort import bucket_sort
from broadfront.kernel import kernel

Array = NDArray[Any]

BUCKET_ARCS = 1 << 15  # 256 KiB of keys: sorts inside a core's own cache
LEAST_BUCKET_ARCS = 1 << 9  # smaller ones only to make keys of 32 bits do are no gain
MOST_BUCKETS = 1 << 12  # beyond this many open buckets, dealing misses the TLB at every write
NARROW_KEY_BITS = 32
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
    plan = planned(num_vertices, len(columns), symmetric, drop_loops)
    arcs, loops_read = dealt(plan, columns)
    tally = sort_buckets(plan, arcs, (0, plan.buckets), Tally.of(plan, num_vertices), keep)
    np.cumsum(tally.kept, out=tally.kept)
    index = index_dtype(num_vertices, int(tally.kept[-1]))
    targets, weights = unpacked(plan, arcs, tally.kept, index)
    offsets = np.cumsum(tally.degrees, out=tally.degrees).astype(index, copy=False)
    return Rows(offsets, targets, weights, loops_read, int(tally.loops.sum()))


class Plan(NamedTuple):
    """How arcs are dealt into buckets."""

    buckets: int
    shift: int
    """A vertex belongs to bucket ``vertex >> shift``."""
    target_bits: int
    key_dtype: type[np.uint32] | type[np.uint64]
    symmetric: bool
    drop_loops: bool


def planned(num_vertices: int, edges: int, symmetric: bool, drop_loops: bool) -> Plan:
    """Return how so many edges are dealt."""
    arcs = edges * (2 if symmetric else 1)
    vertex_bits = max(1, (num_vertices - 1).bit_length())
    wanted = min(MOST_BUCKETS, max(1, arcs // BUCKET_ARCS))
    shift = min(max(0, vertex_bits - wanted.bit_length() + 1), 64 - vertex_bits)
    narrow = max(0, NARROW_KEY_BITS - vertex_bits)
    if num_vertices >> narrow < min(MOST_BUCKETS, arcs // LEAST_BUCKET_ARCS):
        shift = min(shift, narrow)
    key_dtype = np.uint32 if shift + vertex_bits <= NARROW_KEY_BITS else np.uint64
    buckets = max(1, -(-num_vertices // (1 << shift)))
    return Plan(buckets, shift, vertex_bits, key_dtype, symmetric, drop_loops)


class Dealt(NamedTuple):
    """Arcs by bucket, in the order of the edges within."""

    starts: Array
    """Where each bucket begins; one more than there are."""
    keys: Array
    values: Array | None


def counted(plan: Plan, source: Array, target: Array) -> tuple[Array, int]:
    """Return how many arcs of each piece of the edges go to each bucket, and the self-loops."""
    pieces = threads.ranges(len(source), EDGES_PER_PIECE)
    counts = np.zeros((len(pieces), plan.buckets), np.int64)

    def count(piece: int) -> int:
        begin, end = pieces[piece]
        rules = plan.shift, plan.symmetric, plan.drop_loops
        return int(_count(source, target, begin, end, *rules, counts[piece]))

    return counts, sum(threads.run(count, len(pieces), "counting edges"))


def dealt(plan: Plan, columns: Columns) -> tuple[Dealt, int]:
    """Return the arcs of edges, which are used up, in buckets, and how many are self-loops."""
    source, target, weight = columns.taken()
    counts, loops = counted(plan, source, target)
    starts = np.zeros(plan.buckets + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=starts[1:])
    slots = starts[:-1] + np.cumsum(counts, axis=0) - counts
    keys = np.empty(starts[-1], plan.key_dtype)
    values = None if weight is None else np.empty(len(keys), weight.dtype)
    pieces = threads.ranges(len(source), EDGES_PER_PIECE)

    def deal(piece: int) -> None:
        begin, end = pieces[piece]
        _deal(
            source, target, weight, begin, end, plan.shift, plan.target_bits, plan.symmetric,
            plan.drop_loops, slots[piece], keys, values,
        )  # fmt: skip

    threads.run(deal, len(pieces), "dealing edges")
    return Dealt(starts, keys, values), loops


class Tally(NamedTuple):
    """What sorting has found so far."""

    degrees: Array
    """Arcs of each vertex, one place further."""
    kept: Array
    """Arcs of each bucket, one place further."""
    loops: Array
    """Self-loops of each bucket."""

    @classmethod
    def of(cls, plan: Plan, num_vertices: int) -> Tally:
        """Return one that is still empty."""
        return cls(*(np.zeros(size, np.int64)
                     for size in (num_vertices + 1, plan.buckets + 1, plan.buckets)))  # fmt: skip


def sort_buckets(
    plan: Plan, arcs: Dealt, buckets: tuple[int, int], tally: Tally, keep: bool = False
) -> Tally:
    """Sort the arcs of some buckets, those that `arcs` holds, and merge equal ones, in place."""
    starts, keys, values = arcs
    groups = _groups(starts)
    begin, end = buckets
    degrees = tally.degrees[1:][begin << plan.shift :]
    kept, loops = tally.kept[1:][begin:end], tally.loops[begin:end]

    def sort(group: int) -> None:
        first, last = groups[group]
        largest = int(np.diff(starts[first : last + 1]).max(initial=0))
        spare_keys = np.empty(largest, keys.dtype)
        spare_values = None if values is None else np.empty(largest, values.dtype)
        bucket_sort(
            first, last, starts, keys, values, spare_keys, spare_values, plan.shift,
            plan.target_bits, begin << plan.shift, keep, degrees, kept, loops,
        )  # fmt: skip

    threads.run(sort, len(groups), "sorting neighbours")
    return tally


def unpacked(
    plan: Plan, arcs: Dealt, kept: Array, index: type[np.int32] | type[np.int64]
) -> tuple[Array, Array | None]:
    """Return the targets and weights of sorted arcs; those of bucket b begin at ``kept[b]``."""
    starts, keys, values = arcs
    targets = np.empty(int(kept[-1]), index)
    weights = None if values is None else np.empty(len(targets), values.dtype)
    groups = _groups(starts)

    def unpack(group: int) -> None:
        _unpack(*groups[group], starts, kept, keys, values, plan.target_bits, targets, weights)

    threads.run(unpack, len(groups), "unpacking")
    return targets, weights


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


def check_ids(
    source: Array, target: Array, num_vertices: int, first: int = 0, before: int = 0
) -> None:
    """Refuse the first edge that names a vertex outside ``first .. first + num_vertices - 1``.

    There are `before` edges before these.
    """
    end = first + num_vertices
    for name, ids in (("source", source), ("target", target)):
        if len(ids) and (ids.min() < first or ids.max() >= end):
            edge = int(np.flatnonzero((ids < first) | (ids >= end))[0])
            problem = f"{name} {ids[edge]} is not a vertex id in {first}..{end - 1}"
            raise GraphError(f"edge {before + edge:,}: {problem}")


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
def _unpack(first, last, bucket_starts, kept, keys, values, target_bits, targets, weights):
    mask = (np.uint64(1) << np.uint64(target_bits)) - np.uint64(1)
    for bucket in range(first, last):
        begin = bucket_starts[bucket]
        goal = kept[bucket]
        for place in range(kept[bucket + 1] - goal):
            targets[goal + place] = keys[begin + place] & mask
            if weights is not None:
                weights[goal + place] = values[begin + place]

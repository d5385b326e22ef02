"""Compressed sparse rows of edges on the disk: `broadfront.graph.build`, with its buckets in files.

The arcs are counted by bucket, so that every bucket has its place; they are dealt there block by
block; and runs of buckets that fit in memory come back to be sorted, merged and unpacked. What
comes of a run is no longer than the run, and is written over what has been read.

Invariant: a bucket holds the same arcs in the same order as in memory, so rows come out the same.

References
----------
Aggarwal, Vitter: The input/output complexity of sorting and related problems (CACM 1988), for
sorting by distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from broadfront import progress
from broadfront.clock import check_time
from broadfront.graph.build import (
    Columns,
    Dealt,
    Plan,
    Tally,
    counted,
    dealt,
    index_dtype,
    planned,
    sort_buckets,
    unpacked,
)
from broadfront.graph.external.room import Room
from broadfront.graph.external.scratch import Scratch
from broadfront.graph.external.spill import BYTES_PER_EDGE

Array = NDArray[Any]

BYTES_PER_DEALT_EDGE = BYTES_PER_EDGE + 64
BYTES_PER_ARC = 48
"""Of an arc that is sorted: key and weight, both twice, and what they are unpacked to."""
NUMBERS_AT_ONCE = 1 << 21


class Edges(Protocol):
    """Edges that come block by block, as often as they are asked for."""

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """The dtype that holds all weights; None where edges have none."""

    def __len__(self) -> int:
        """Return how many there are."""

    def blocks(self, stage: str, sure: int = 0, nbytes: int = BYTES_PER_EDGE) -> Iterator[Columns]:
        """Yield them in order; a block of so many bytes for each edge fits beside `sure` bytes."""


class Rows(NamedTuple):
    """Compressed sparse rows whose arcs are on the disk."""

    offsets: Array
    targets: OnDisk
    weights: OnDisk | None
    loops_read: int
    loops_kept: int


class OnDisk:
    """An array on the disk, which may be wider once it is read."""

    def __init__(self, scratch: Scratch, length: int, stored: Any, dtype: Any) -> None:
        self._scratch, self._length = scratch, length
        self._stored, self.dtype = np.dtype(stored), np.dtype(dtype)

    def __len__(self) -> int:
        return self._length

    def blocks(self) -> Iterator[Array]:
        """Yield all numbers in order."""
        for begin in range(0, self._length, NUMBERS_AT_ONCE):
            check_time()
            progress.report("writing", begin, self._length)
            length = min(NUMBERS_AT_ONCE, self._length - begin)
            block = self._scratch.read(begin * self._stored.itemsize, length, self._stored)
            yield block.astype(self.dtype, copy=False)

    def mapped(self) -> Array:
        """Return the array mapped; one that must be wider is written anew."""
        if self._stored == self.dtype:
            return self._scratch.mapped(self._length, self.dtype)
        with Scratch(self._scratch.folder) as wider:
            for block in self.blocks():
                wider.append(block)
            return wider.mapped(self._length, self.dtype)


class Buckets:
    """Dealt arcs on the disk: keys in one file, and weights, if there are any, in another."""

    def __init__(self, plan: Plan, starts: Array, keys: Scratch, values: Scratch | None,
                 weight: np.dtype[Any] | None, keep: bool) -> None:  # fmt: skip
        self.plan, self.keep, self.starts = plan, keep, starts
        """Where each bucket begins, counted in arcs."""
        self.files: list[tuple[Scratch, np.dtype[Any]]] = [(keys, np.dtype(plan.key_dtype))]
        if values is not None and weight is not None:
            self.files.append((values, weight))
        self._filled = starts[:-1].copy()

    def add(self, arcs: Dealt) -> None:
        """Append arcs to their buckets."""
        counts = np.diff(arcs.starts)
        for file, array in zip(self.files, (arcs.keys, arcs.values), strict=False):
            scratch, dtype = file
            assert array is not None
            for bucket in np.flatnonzero(counts).tolist():
                here = array[arcs.starts[bucket] : arcs.starts[bucket + 1]]
                scratch.write(here, int(self._filled[bucket]) * dtype.itemsize)
        self._filled += counts

    def read(self, begin: int, end: int) -> tuple[Array, Array | None]:
        """Return the keys and the weights of some arcs."""
        found = [scratch.read(begin * dtype.itemsize, end - begin, dtype)
                 for scratch, dtype in self.files]  # fmt: skip
        return found[0], found[1] if len(found) > 1 else None

    def runs(self, room: Room) -> Iterator[tuple[int, int]]:
        """Yield runs of buckets that fit in memory, or single ones that may not."""
        first = 0
        while first < self.plan.buckets:
            most = room.edges(BYTES_PER_ARC)
            last = int(np.searchsorted(self.starts, self.starts[first] + most, "right")) - 1
            last = min(max(last, first + 1), self.plan.buckets)
            yield first, last
            first = last


def rows_on_disk(
    edges: Edges, num_vertices: int, room: Room, scratches: tuple[Scratch, Scratch],
    *, symmetric: bool, drop_loops: bool, keep: bool = False,
) -> Rows:  # fmt: skip
    """Sort all edges into rows; they and their weights go into two scratch files.

    `keep` leaves parallel edges apart, in the order in which they come.
    """
    plan = planned(num_vertices, len(edges), symmetric, drop_loops)
    keys, values = scratches
    weight = edges.weight_dtype
    starts, loops_read = _starts(plan, edges)
    buckets = Buckets(plan, starts, keys, values, weight, keep)
    for columns in edges.blocks("dealing edges", nbytes=BYTES_PER_DEALT_EDGE):
        buckets.add(dealt(plan, columns)[0])
        del columns
    room.edges(BYTES_PER_ARC, 16 * num_vertices)
    tally = Tally.of(plan, num_vertices)
    stored = index_dtype(num_vertices, int(starts[-1]))
    if np.dtype(stored).itemsize > np.dtype(plan.key_dtype).itemsize:
        stored = index_dtype(num_vertices, 0)
    written = 0
    for first, last in buckets.runs(room):
        check_time()
        progress.report("sorting", int(starts[first]), int(starts[-1]))
        written += _sort_run(buckets, (first, last), tally, room, written, stored)
    index = index_dtype(num_vertices, written)
    offsets = np.cumsum(tally.degrees, out=tally.degrees).astype(index, copy=False)
    return Rows(
        offsets, OnDisk(keys, written, stored, index),
        None if weight is None else OnDisk(values, written, weight, weight),
        loops_read, int(tally.loops.sum()),
    )  # fmt: skip


def _starts(plan: Plan, edges: Edges) -> tuple[Array, int]:
    """Return where each bucket begins, and how many self-loops there are."""
    starts, loops = np.zeros(plan.buckets + 1, np.int64), 0
    for columns in edges.blocks("counting edges"):
        counts, more = counted(plan, columns.source, columns.target)
        starts[1:] += counts.sum(axis=0)
        loops += more
        del columns
    return np.cumsum(starts, out=starts), loops


def _sort_run(
    buckets: Buckets, run: tuple[int, int], tally: Tally, room: Room, written: int, stored: Any
) -> int:
    """Sort a run of buckets and write its arcs behind those before; return how many there are."""
    plan, (first, last) = buckets.plan, run
    starts = buckets.starts[first : last + 1] - buckets.starts[first]
    if last == first + 1 and starts[-1] > room.edges(BYTES_PER_ARC):
        arcs = _sorted_in_turns(buckets, first, tally, room)
    else:
        begin, end = buckets.starts[[first, last]].tolist()
        arcs = Dealt(starts, *buckets.read(begin, end))
        sort_buckets(plan, arcs, run, tally, buckets.keep)
    kept = np.zeros(last - first + 1, np.int64)
    np.cumsum(tally.kept[1:][first:last], out=kept[1:])
    arrays = unpacked(plan, arcs, kept, stored)
    for (scratch, _), array in zip(buckets.files, arrays, strict=False):
        assert array is not None
        scratch.write(array, written * array.itemsize)
    return int(kept[-1])


def _sorted_in_turns(buckets: Buckets, bucket: int, tally: Tally, room: Room) -> Dealt:
    """Return a bucket that does not fit, sorted and merged part by part as it is read.

    Its arcs, each once, must fit.
    """
    plan = buckets.plan
    begin, end = buckets.starts[[bucket, bucket + 1]].tolist()
    keys = np.empty(0, plan.key_dtype)
    values = None if len(buckets.files) == 1 else np.empty(0, buckets.files[1][1])
    degrees = tally.degrees[1:][bucket << plan.shift : (bucket + 1) << plan.shift]
    while begin < end:
        check_time()
        length = min(end - begin, room.edges(BYTES_PER_ARC, BYTES_PER_ARC * len(keys)))
        more_keys, more_values = buckets.read(begin, begin + length)
        keys = np.concatenate([keys, more_keys])
        if values is not None and more_values is not None:
            values = np.concatenate([values, more_values])
        degrees[:] = 0
        arcs = Dealt(np.array([0, len(keys)]), keys, values)
        sort_buckets(plan, arcs, (bucket, bucket + 1), tally, buckets.keep)
        kept = int(tally.kept[1 + bucket])
        keys, values = keys[:kept].copy(), None if values is None else values[:kept].copy()
        begin += length
    return Dealt(np.array([0, len(keys)]), keys, values)

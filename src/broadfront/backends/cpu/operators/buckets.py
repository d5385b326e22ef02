"""Buckets, in which vertices wait in the order of a priority.

Each thread has a ring of buckets, each a list of blocks of vertices from the thread's own pool.
Vertices beyond the ring are parked in one more list, `PARKED`; the thread notes the nearest bucket
among them, and spreads them again when it is that bucket's turn.

Invariant: of each list all blocks but the first are full. A vertex parked lies beyond the ring, so
that lists are spread at most once in `WINDOW` buckets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE, keep_pace, poll, stopped
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators.frontier import STATS_WORDS, TAIL
from broadfront.graph.csr import Graph
from broadfront.kernel import inlined, inner
from broadfront.pointers import shifted

Array = NDArray[Any]

WINDOW = 64
PARKED = WINDOW
"""The list of vertices beyond the ring, which comes after its buckets."""
BLOCK = 128
POOL_SHARE = 4
"""Entries in all pools for every vertex of the graph, beside `POOL_LEAST` blocks per thread."""
POOL_LEAST = 5 * WINDOW
NONE_LEFT = 1 << 60
WIDTH_FACTOR, OF_SPARSE, OF_SPARSE_PARTS, WITH_HUBS, ON_PATHS = 4.0, 8.0, 2.0, 1.0, 1024.0
SPARSE, HUB = 16.0, 32.0
"""The mean degree below which a graph is sparse, and how often the mean degree a hub has."""
WIDTH_SAMPLES = 1 << 14
FAR = 2.0**52
"""Buckets beyond this are one."""
FREE_TOP, LOST, NEAREST, AWAY, STALE = range(5)
"""Words of a thread: its free blocks, whether it lost a vertex, the nearest bucket of a parked
vertex, how many copies of other devices' vertices it has gathered, and whether of the last block
most had been walked already."""


OFFER = 2 * LINE
"""Where the stats of a thread tell which blocks it offers: the next one and the end, in `units`."""


class Buckets(NamedTuple):
    """The memory of the buckets of all threads."""

    pool: Array
    link: Array
    head: Array
    fill: Array
    free: Array
    tops: Array
    units: Array
    walked: Array
    blocks: int
    per_width: float


def new_buckets(
    workspace: Workspace, num_vertices: int, threads: int, dtype: Any, width: float, vertex: Any
) -> Buckets:
    """Return the memory for a run with priorities."""
    blocks = POOL_SHARE * num_vertices // BLOCK // threads + POOL_LEAST
    every = threads * blocks
    return Buckets(
        workspace.array("pool", every * BLOCK, vertex),
        workspace.array("link", every, np.int32),
        workspace.array("head", threads * WINDOW * LINE, np.int64),
        workspace.array("fill", threads * WINDOW * LINE, np.int64),
        workspace.array("free", threads * every, np.int32),
        workspace.array("tops", threads * LINE, np.int64),
        workspace.array("units", every * 2, np.int64),
        workspace.array(f"walked {np.dtype(dtype)}", num_vertices, dtype),
        blocks,
        1.0 / width,
    )


def sensible_width(graph: Graph, in_parts: bool = False) -> float:
    """Return a bucket width for priorities that are sums of weights.

    Wide buckets waste work, narrow ones meetings; what matters is the weight of a vertex' lightest
    way on, which is about the mean weight over the mean degree. Sparse graphs are deep, and have
    little in each bucket; `in_parts`, spans of buckets make up for that, and narrow buckets have
    less walked again for what a peer proposes late. Where there are hubs, narrow buckets still hold
    much, and to walk a hub before its time is all that costs. Where ways never branch there is only
    one way on, and wide buckets waste nothing.
    """
    mean = 1.0
    if graph.weights is not None and graph.num_arcs:
        every = max(1, graph.num_arcs // WIDTH_SAMPLES)
        with np.errstate(over="ignore"):
            mean = float(np.abs(graph.weights[::every]).mean(dtype=np.float64))
    degree = max(1.0, graph.num_arcs / max(1, graph.num_vertices))
    factor = WIDTH_FACTOR
    if degree < SPARSE:
        factor = OF_SPARSE_PARTS if in_parts else OF_SPARSE
    if graph.max_degree > HUB * degree:
        factor = WITH_HUBS
    if graph.never_branches:
        factor = ON_PATHS
    return max(factor * mean / degree, np.finfo(np.float64).tiny)


class Ring(NamedTuple):
    """The buckets of one thread, as compiled code sees them."""

    pool: Any
    link: Any
    head: Any
    fill: Any
    free: Any
    tops: Any


@inner
def ring_of(buckets, rank, threads):
    """Return the ring of a thread."""
    blocks = np.int64(buckets.blocks)
    return Ring(
        buckets.pool, buckets.link, shifted(buckets.head, rank * WINDOW * LINE),
        shifted(buckets.fill, rank * WINDOW * LINE),
        shifted(buckets.free, rank * blocks * threads), shifted(buckets.tops, rank * LINE),
    )  # fmt: skip


@inner
def empty_ring(rank, blocks, ring):
    """Make a thread's buckets empty, all of its blocks free."""
    for bucket in range(WINDOW + 1):
        ring.head[bucket] = -1
        ring.fill[bucket] = 0
    ring.tops[NEAREST] = NONE_LEFT
    ring.tops[AWAY] = 0
    ring.tops[STALE] = 0
    take_own_blocks(rank, blocks, ring)


@inner
def take_own_blocks(rank, blocks, ring):
    """Give a thread the blocks it began with; all buckets of all threads must be empty.

    Blocks go to whoever has walked them, so a thread can come to have none.
    """
    for block in range(blocks):
        ring.free[block] = (rank + 1) * blocks - 1 - block
    ring.tops[FREE_TOP] = blocks
    ring.tops[LOST] = 0


@inlined
def put(vertex, slot, ring):
    """Put a vertex into one of this thread's lists."""
    kept, block = ring.fill[slot], ring.head[slot]
    if kept == BLOCK or block < 0:
        top = ring.tops[FREE_TOP]
        if top == 0:
            ring.tops[LOST] = 1
            return
        ring.tops[FREE_TOP] = top - 1
        new = np.int64(ring.free[top - 1])
        ring.link[new] = block
        ring.head[slot] = new
        block, kept = new, np.int64(0)
    ring.pool[block * BLOCK + kept] = vertex
    ring.fill[slot] = kept + 1


@inlined
def put_into(vertex, bucket, lowest, ring):
    """Put a vertex into its bucket, or park it beyond the ring."""
    if bucket >= lowest + WINDOW:
        ring.tops[NEAREST] = min(ring.tops[NEAREST], bucket)
        put(vertex, PARKED, ring)
    else:
        put(vertex, max(bucket, lowest) & (WINDOW - 1), ring)


@inlined
def take_list(slot, ring):
    """Empty a list; return its first block, and how many vertices are in that one."""
    block, size = ring.head[slot], ring.fill[slot]
    ring.head[slot] = -1
    ring.fill[slot] = 0
    return block, size


@inner
def put_blocks(block, slot, ring):
    """Put full blocks, of which this is the first, behind those that are in a list already."""
    last = ring.head[slot]
    if last < 0:
        ring.head[slot], ring.fill[slot] = block, BLOCK
        return
    while ring.link[last] >= 0:
        last = np.int64(ring.link[last])
    ring.link[last] = block


@inlined
def give_back(block, ring):
    """Make a block free."""
    ring.free[ring.tops[FREE_TOP]] = block
    ring.tops[FREE_TOP] += 1


@inlined
def base_for(bucket, lowest):
    """Return where the ring begins while a bucket is served: what comes late has a place before."""
    return max(lowest, bucket - WINDOW // 2)


@inlined
def next_in(base, ring):
    """Return the lowest bucket that holds anything, in the ring from `base` on or parked."""
    for bucket in range(base, base + WINDOW):
        if ring.head[bucket & (WINDOW - 1)] >= 0:
            return min(bucket, ring.tops[NEAREST])
    return ring.tops[NEAREST]


@inner
def take_from(other, ring):
    """Move all that another thread has in its lists into one's own."""
    for slot in range(WINDOW + 1):
        block, size = take_list(slot, other)
        while block >= 0:
            following = np.int64(ring.link[block])
            for step in range(size):
                put(np.int64(ring.pool[block * BLOCK + step]), slot, ring)
            give_back(block, other)
            block, size = following, np.int64(BLOCK)
    ring.tops[NEAREST] = min(ring.tops[NEAREST], other.tops[NEAREST])
    other.tops[NEAREST] = NONE_LEFT


@inner
def offer_nothing(rank, work):
    """Have no blocks to offer; what is in the stats may be anything."""
    own = shifted(work.stats, rank * STATS_WORDS + OFFER)
    atomics.store(own, 0, 0)
    atomics.store(own, 1, 0)


@inner
def offer(slot, rank, control, work, ring, turn):
    """Offer this thread's blocks of a bucket to all, side by side in `units`."""
    block, size = take_list(slot, ring)
    count, following = np.int64(0), block
    while following >= 0:
        count += 1
        following = np.int64(ring.link[following])
    own = shifted(work.stats, rank * STATS_WORDS + OFFER)
    unit = np.int64(0)
    if count > 0:
        unit = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), count)
    atomics.store(own, 0, unit)
    atomics.store(own, 1, unit + count)
    while block >= 0:
        work.buckets.units[unit] = block << 8 | size
        unit += 1
        block, size = np.int64(ring.link[block]), np.int64(BLOCK)


@inner
def claim_block(rank, threads, control, work):
    """Return a block that is offered, and its size; the block is negative if none is left.

    A thread takes its own first: what it has found lies near what it has walked, and in its cache.
    It takes of the others' only when it has nothing left.
    """
    if rank == 0:
        poll(control)
    else:
        keep_pace(control)
    if not stopped(control):
        for step in range(threads):
            whose = rank + step - (threads if rank + step >= threads else 0)
            offered = shifted(work.stats, whose * STATS_WORDS + OFFER)
            if atomics.load(offered, 0) < atomics.load(offered, 1):
                unit = atomics.add(offered, 0, 1)
                if unit < atomics.load(offered, 1):
                    return work.buckets.units[unit] >> 8, work.buckets.units[unit] & 255
    return np.int64(-1), np.int64(0)

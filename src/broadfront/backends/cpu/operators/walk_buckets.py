"""Walking buckets: propose along the edges of a block's vertices, and put who improves in order.

A thread that shares a device with others merges proposals by atomics and walks what all have
published; one that is alone writes plainly, and goes from bucket to bucket by itself for as long as
there is little in each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from broadfront.backends.cpu.device.control import poll, stopped
from broadfront.backends.cpu.device.timeline import COARSE, FINE
from broadfront.backends.cpu.operators.buckets import (
    BLOCK,
    FAR,
    NEAREST,
    NONE_LEFT,
    PARKED,
    STALE,
    WINDOW,
    base_for,
    give_back,
    next_in,
    put_blocks,
    put_into,
    take_list,
)
from broadfront.backends.cpu.operators.buckets_across import gather
from broadfront.backends.cpu.operators.combine import Combine
from broadfront.backends.cpu.operators.frontier import (
    AGAIN,
    ATOMICS,
    BASE,
    BEFORE,
    CLOCK,
    ITERATION,
    OWN,
    VISITED,
    tell,
)
from broadfront.bounded import Bounded
from broadfront.kernel import inlined, inner
from broadfront.pointers import as_element, prefetch
from broadfront.report.ways import BUCKETS

FUSE = 1 << 15
"""Vertices and edges for which a thread goes on by itself in a bucket that it shares."""
LOOK_EVERY, MANY = 64, 1 << 14
"""Buckets between two looks at the clock; after one with many edges it is looked at anyway."""


class Walks(NamedTuple):
    """The compiled walks of one prioritised `Advance`."""

    bucket_of: Callable[..., Any]
    block: Callable[..., Any]
    """Walks a block that may be anybody's; returns edges traversed and proposals merged."""
    own: Callable[..., Any]
    """Walks what a thread has put into the bucket itself, while it is little; returns the same."""
    spread: Callable[..., Any]
    """Puts the vertices parked into the ring where they lie in it."""
    alone: Callable[..., Any]
    """Goes from bucket to bucket, by one thread; returns vertices served and edges traversed."""


def walks(
    propose: Callable[..., Any],
    priority: Callable[..., Any],
    combine: Combine,
    is_ghost: Callable[..., Any],
    field: int,
    several: bool,
) -> Walks:
    """Return the walks for a functor, a priority and a way to combine; `field` is a place."""
    better, settle, plainly = combine

    @inlined
    def bucket_of(vertex, state, per_width):
        return np.int64(np.floor(max(-FAR, min(FAR, priority(vertex, state) * per_width))))

    @inlined
    def merge(out, place, proposal):
        before = out[place]
        out[place] = plainly(proposal, before)
        return before

    given = propose, better, bucket_of, is_ghost, field, several
    walk_block = inner(_block_walker(settle, *given, shared=True))
    walk_own = inner(_list_walker(walk_block))
    walk_list_alone = inlined(_list_walker(inlined(_block_walker(merge, *given, shared=False))))

    @inner
    def spread(state, lowest, per_width, ring):
        block, size = take_list(PARKED, ring)
        ring.tops[NEAREST] = NONE_LEFT
        while block >= 0:
            following = np.int64(ring.link[block])
            for step in range(size):
                vertex = np.int64(ring.pool[block * BLOCK + step])
                put_into(vertex, bucket_of(vertex, state, per_width), lowest, ring)
            give_back(block, ring)
            block, size = following, np.int64(BLOCK)

    @inlined
    def alone(control, graph, state, out, work, front, since, until, most, times, wished, ring,
              away):  # fmt: skip
        """Serve all buckets below `until`, until one has more than `most` or the goal is met.

        It ends after so many `times`, too. No device has anything in a bucket before `since`.
        Return the vertices served and edges traversed, added up. With other devices all of it is
        one iteration, without them each bucket is.
        """
        lowest = front[OWN]
        per_width, walked = work.buckets.per_width, work.buckets.walked
        front[VISITED], front[BEFORE], front[ATOMICS] = 0, 0, 0
        began = front[CLOCK]
        buckets, done, last = np.int64(0), np.int64(0), np.int64(0)
        while lowest < until:
            if wished >= 0 and bucket_of(wished, state, per_width) < lowest:
                break
            front[BASE] = base_for(lowest, since) if several else lowest
            if ring.tops[NEAREST] <= lowest:
                spread(state, front[BASE], per_width, ring)
            size, seen, _ = walk_list_alone(
                lowest & (WINDOW - 1), most, graph, state, out, walked, front, front[BASE],
                per_width, ring, away,
            )  # fmt: skip
            front[BEFORE] += size
            front[VISITED] += seen
            if not several:
                iteration = front[ITERATION]
                if iteration < FINE or iteration % COARSE == COARSE - 1:
                    tell(work, front, 0, BUCKETS, front[CLOCK])
                    front[BEFORE], front[VISITED] = 0, 0
                front[ITERATION] += 1
            done += size + seen
            last = seen
            lowest = next_in(front[BASE], ring)
            buckets += 1
            if size + seen > most or buckets >= times:
                break
            if buckets & (LOOK_EVERY - 1) == 0 or seen > MANY:
                poll(control)
                if stopped(control):
                    break
        if several:
            tell(work, front, 0, BUCKETS, began)
            front[ITERATION] += 1
            return done
        if front[BEFORE] > 0:
            front[ITERATION] -= 1
            tell(work, front, 0, BUCKETS, front[CLOCK])
            front[ITERATION] += 1
        front[VISITED] = last
        return done

    return Walks(bucket_of, walk_block, walk_own, spread, alone)


def fetch_weight(state, edge):
    """Ask for the weight of an edge, where the program reads weights."""


@overload(fetch_weight)
def _fetch_weight(state, edge):
    weight = dict(zip(state.fields, state.types, strict=True)).get("weight")
    if isinstance(weight, (types.CPointer, Bounded)):
        return lambda state, edge: prefetch(state.weight, edge)
    return lambda state, edge: None


@inner
def keep_late(pool, base, size, out, walked):
    """Move to the front of a block who has improved since it was walked; return how many there are.

    That is worth a pass of its own where most are in their bucket for the second time: the walk
    asks for the edges of vertices to come, and theirs would be for nothing.
    """
    late = np.int64(0)
    for step in range(size):
        if step + 16 < size:
            prefetch(out, pool[base + step + 16])
            prefetch(walked, pool[base + step + 16])
        vertex = pool[base + step]
        pool[base + late] = vertex
        late += np.int64(out[vertex] != walked[vertex])
    return late


def _block_walker(
    settle: Callable[..., Any],
    propose: Callable[..., Any],
    better: Callable[..., Any],
    bucket_of: Callable[..., Any],
    is_ghost: Callable[..., Any],
    field: int,
    several: bool,
    shared: bool,
) -> Callable[..., Any]:
    def walk(block, size, graph, state, out, walked, front, lowest, per_width, ring, away):
        """Walk the edges of one block's vertices; return edges traversed and proposals merged."""
        pool, offsets, targets = ring.pool, graph.offsets, graph.targets
        final = np.int64(offsets[graph.num_vertices]) - 1
        visited = np.int64(0)
        settled = np.int64(0)
        base = block * BLOCK
        length, late = size, np.int64(0)
        if shared and ring.tops[STALE] != 0:
            size = keep_late(pool, base, size, out, walked)
        for step in range(size):
            source = np.int64(pool[base + step])
            if step + 12 < size:
                prefetch(offsets, pool[base + step + 12])
                prefetch(out, pool[base + step + 12])
                prefetch(walked, pool[base + step + 12])
            if step + 6 < size:
                prefetch(targets, offsets[pool[base + step + 6]])
                fetch_weight(state, offsets[pool[base + step + 6]])
            if step + 3 < size and final >= 0:
                prefetch(out, targets[min(final, np.int64(offsets[pool[base + step + 3]]))])
            value = out[source]
            if value == walked[source]:
                continue
            if shared:
                late += 1
            first, last = np.int64(offsets[source]), np.int64(offsets[source + 1])
            visited += last - first
            if several and walked[source] != graph.numbers.fills[field]:
                front[AGAIN] += last - first
            walked[source] = value
            for edge in range(first, last):
                neighbor = np.int64(targets[edge])
                if edge + 16 < last:
                    prefetch(out, targets[edge + 16])
                proposal = as_element(out, propose(source, neighbor, edge, state))
                if better(proposal, out[neighbor]):
                    settled += 1
                    if better(proposal, settle(out, neighbor, proposal)):
                        if is_ghost(neighbor, graph):
                            gather(neighbor, away)
                        else:
                            put_into(neighbor, bucket_of(neighbor, state, per_width), lowest, ring)
        if shared:
            ring.tops[STALE] = np.int64(2 * late < length)
        give_back(block, ring)
        return visited, settled

    return walk


def _list_walker(walk: Callable[..., Any]) -> Callable[..., Any]:
    def walk_list(slot, most, graph, state, out, walked, front, lowest, per_width, ring, away):
        """Walk what is in a bucket of one's own, and comes into it, until that was much.

        That is, until it was more than `most` vertices and edges; the rest stays in the bucket.
        Return the vertices, the edges traversed and the proposals merged.
        """
        done = np.int64(0)
        visited = np.int64(0)
        settled = np.int64(0)
        while ring.head[slot] >= 0 and done + visited <= most:
            block, size = take_list(slot, ring)
            while block >= 0:
                if done + visited > most:
                    put_blocks(block, slot, ring)
                    break
                following = np.int64(ring.link[block])
                done += size
                seen, kept = walk(
                    block, size, graph, state, out, walked, front, lowest, per_width, ring, away
                )
                visited += seen
                settled += kept
                block, size = following, np.int64(BLOCK)
        return done, visited, settled

    return walk_list

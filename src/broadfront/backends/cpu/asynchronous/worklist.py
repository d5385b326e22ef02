"""The worklist of one device: vertices that have improved, in buckets, the lowest first.

A bucket is that of the program's priority; without one, that of the value itself where it is a
whole number of which the least or the greatest stays; otherwise it is a round: what improves while
one round is served is for the next. Buckets are those of `backends.cpu.operators.buckets`.

Priorities are soft. Each device publishes the lowest bucket that it has, or has not sent all
proposals of, and serves a bucket only while it is at most a band beyond the lowest of the others,
as far as it knows; whoever has the lowest can always go on, so somebody does. Nobody waits for an
agreement. The band adapts: who serves vertices again because he was ahead when a message came has
it halved, down to 0, where two devices go from bucket to bucket together; who does not has it
doubled.

Invariant: an owned vertex that is `pending` is in some bucket, or the pool has run out and a rescan
will find it. An entry whose vertex is not pending any more was superseded by another.

References
----------
Ben-Nun, Sutton, Pai, Pingali: Groute, an asynchronous multi-GPU programming model for irregular
computations (PPoPP 2017), for soft priorities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.asynchronous.termination import LOWEST
from broadfront.backends.cpu.device.control import LINE
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators.buckets import (
    BLOCK,
    FAR,
    LOST,
    NEAREST,
    NONE_LEFT,
    PARKED,
    POOL_LEAST,
    POOL_SHARE,
    WINDOW,
    Ring,
    give_back,
    next_in,
    put,
    put_into,
    sensible_width,
    take_list,
    take_own_blocks,
)
from broadfront.functors import compile_functor
from broadfront.graph.csr import Graph
from broadfront.kernel import inlined, inner
from broadfront.operators.describe import Advance, Field

(
    PRODUCED, CONSUMED, USELESS, BASE, SERVED, THRESHOLD, BAND, FURTHEST, AGAIN, UNSENT, JUDGED,
    FORGIVEN,
) = range(12)  # fmt: skip
"""Words of a device: entries put in, taken out, and of these superseded; where the ring of buckets
begins, the bucket served last, the lowest of all devices when it last looked, how far it may be
ahead, the furthest bucket served, vertices served again since they were served too early, the
lowest bucket of which proposals are in the outbox; and what it had consumed and served again when
it last thought about its band."""
JUDGE_EVERY, FIRST_BAND = 512, 4
"""Entries after which a device thinks about its band, and how many buckets that is at first."""
BEHIND = WINDOW // 4
"""Buckets of the ring before the one that is served, for what comes late."""


class Order(NamedTuple):
    """In what order vertices are served."""

    bucket_of: Callable[..., Any]
    """``bucket_of(vertex, state, per_width, otherwise)``, the last for want of a better one."""
    by_value: bool
    """Whether it depends on what the vertex holds."""


def order_by(operator: Advance, field: Field, place: int, priority: bool) -> Order:
    """Return the order for an `Advance` into a field, its dtype settled; `place` is its own."""
    if not priority:
        return Order(_in_rounds, False)
    if operator.priority is not None:
        return Order(_scaled(compile_functor(operator.priority)), True)
    if has_implied_priority(operator, field):
        return Order(_scaled(_least_of(place) if field.combine == "min" else _most_of(place)), True)
    return Order(_in_rounds, False)


def has_implied_priority(operator: Advance, field: Field) -> bool:
    """Tell whether values themselves are the order: whole numbers, the least or greatest stays."""
    whole = not field.several and field.storage.kind in "iu"
    return operator.priority is None and field.combine in ("min", "max") and whole


def bucket_width(operator: Advance, graph: Graph, reads_weights: bool) -> float:
    """Return the width of a bucket: as declared, or by the weights, or one for whole numbers."""
    if operator.width is not None:
        return operator.width
    if operator.priority is not None or reads_weights:
        return sensible_width(graph)
    return 1.0


@inlined
def _in_rounds(vertex, state, per_width, otherwise):
    return otherwise


def _scaled(priority: Callable[..., Any]) -> Callable[..., Any]:
    @inlined
    def bucket_of(vertex, state, per_width, otherwise):
        return np.int64(np.floor(max(-FAR, min(FAR, priority(vertex, state) * per_width))))

    return bucket_of


def _least_of(place: int) -> Callable[..., Any]:
    @inlined
    def priority(vertex, state):
        return float(state[place][vertex])

    return priority


def _most_of(place: int) -> Callable[..., Any]:
    @inlined
    def priority(vertex, state):
        return -float(state[place][vertex])

    return priority


def new_ring(space: Workspace, owned: int, vertex: Any) -> tuple[Ring, int]:
    """Return the memory of a worklist, and how many blocks there are."""
    blocks = POOL_SHARE * owned // BLOCK + POOL_LEAST
    return Ring(
        space.array("pool", blocks * BLOCK, vertex), space.array("link", blocks, np.int32),
        space.array("head", WINDOW * LINE, np.int64), space.array("fill", WINDOW * LINE, np.int64),
        space.array("free", blocks, np.int32), space.array("tops", LINE, np.int64),
    ), blocks  # fmt: skip


@inlined
def pending_words(positions):
    """Return how many words hold a bit for each vertex."""
    return (positions + 63) >> 6


@inlined
def is_pending(pending, vertex):
    """Tell whether a vertex is to be served or, of a copy, to be sent."""
    return (pending[vertex >> 6] >> np.uint64(vertex & 63)) & np.uint64(1) != 0


@inlined
def set_pending(pending, vertex):
    """Say that a vertex is to be served or sent."""
    pending[vertex >> 6] |= np.uint64(1) << np.uint64(vertex & 63)


@inlined
def clear_pending(pending, vertex):
    """Say that a vertex has been served or sent."""
    pending[vertex >> 6] &= ~(np.uint64(1) << np.uint64(vertex & 63))


@inner
def lower_base(bucket, words, ring):
    """Let the ring begin before a bucket; park what then lies beyond its end."""
    base, new = words[BASE], bucket - BEHIND
    words[BASE] = new
    for other in range(max(base, new + WINDOW), base + WINDOW):
        block, size = take_list(other & (WINDOW - 1), ring)
        while block >= 0:
            following = np.int64(ring.link[block])
            ring.tops[NEAREST] = min(ring.tops[NEAREST], other)
            for step in range(size):
                put(np.int64(ring.pool[block * BLOCK + step]), PARKED, ring)
            give_back(block, ring)
            block, size = following, np.int64(BLOCK)


@inlined
def push(vertex, bucket, words, ring):
    """Put a vertex into its bucket."""
    if bucket < words[BASE]:
        lower_base(bucket, words, ring)
    elif words[PRODUCED] == words[CONSUMED]:
        words[BASE] = bucket - BEHIND
    words[PRODUCED] += 1
    put_into(vertex, bucket, words[BASE], ring)


@inlined
def next_round(words):
    """Return the round of what improves now: after that being served, here and elsewhere."""
    return max(words[SERVED], words[THRESHOLD]) + 1


@inlined
def take_block(slot, ring):
    """Take the first block from a list; return it, and how many vertices are in it."""
    block, size = np.int64(ring.head[slot]), ring.fill[slot]
    ring.head[slot] = ring.link[block]
    ring.fill[slot] = BLOCK if ring.head[slot] >= 0 else 0
    return block, size


@inner
def lowest_of_others(board, device, devices):
    """Return the lowest bucket of the others; before messages are taken, which it may stand for."""
    least = np.int64(NONE_LEFT)
    for peer in range(devices):
        if peer != device:
            least = min(least, atomics.load(board, peer * LINE + LOWEST))
    return least


@inlined
def publish(board, device, words, lowest):
    """Tell the others this device's lowest bucket, also of what it has not sent."""
    lowest = min(lowest, words[UNSENT])
    if board[device * LINE + LOWEST] != lowest:
        atomics.store(board, device * LINE + LOWEST, lowest)


@inlined
def know_threshold(words, least):
    """Note the lowest bucket of all devices, if there is any."""
    if least != NONE_LEFT:
        words[THRESHOLD] = least


@inlined
def adapt_band(words, least, most):
    """Be less far ahead if much of what was served had been served too early; further if little.

    A band that was asked for stays: one without end would overflow, and nobody would be within it.
    """
    consumed = words[CONSUMED] - words[JUDGED]
    if consumed >= JUDGE_EVERY and least < most:
        again = words[AGAIN] - words[FORGIVEN]
        if 8 * again > consumed:
            words[BAND] = max(least, words[BAND] >> 1)
        elif 32 * again < consumed:
            words[BAND] = min(most, 2 * words[BAND] + 1)
        words[JUDGED], words[FORGIVEN] = words[CONSUMED], words[AGAIN]


def rearranged(bucket_of: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the compiled functions `spread` and `recover` for an order."""

    @inner
    def spread(state, pending, per_width, words, ring):
        """Put the vertices that are parked into the ring, where they lie in it."""
        nearest = ring.tops[NEAREST]
        block, size = take_list(PARKED, ring)
        ring.tops[NEAREST] = NONE_LEFT
        while block >= 0:
            following = np.int64(ring.link[block])
            for step in range(size):
                vertex = np.int64(ring.pool[block * BLOCK + step])
                if not is_pending(pending, vertex):
                    words[CONSUMED] += 1
                    words[USELESS] += 1
                else:
                    bucket = bucket_of(vertex, state, per_width, nearest)
                    put_into(vertex, bucket, words[BASE], ring)
            give_back(block, ring)
            block, size = following, np.int64(BLOCK)

    @inner
    def recover(graph, state, pending, is_ghost, blocks, per_width, words, ring):
        """Put back all vertices that a full pool has lost; nothing is left in any bucket."""
        take_own_blocks(0, blocks, ring)
        words[PRODUCED] = words[CONSUMED]
        for vertex in range(graph.num_vertices):
            if is_pending(pending, vertex) and not is_ghost(vertex, graph):
                bucket = bucket_of(vertex, state, per_width, next_round(words))
                push(vertex, bucket, words, ring)

    return spread, recover


@inner
def lowest_bucket(words, ring):
    """Return the lowest bucket that holds anything; `NONE_LEFT` if none does."""
    return next_in(words[BASE], ring)


@inlined
def move_base(words, lowest):
    """Let the ring begin a little before the bucket that is served: some come late."""
    words[BASE] = max(words[BASE], lowest - BEHIND)


@inner
def has_lost(ring):
    """Tell whether the pool ran out."""
    return ring.tops[LOST] != 0

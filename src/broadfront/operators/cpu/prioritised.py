"""Advance in the order of a priority: buckets, as in delta-stepping.

Each thread keeps a ring of buckets, each a list of blocks of vertices from the thread's own pool.
The blocks of the lowest bucket are published and claimed by all threads, nothing is copied; a
thread that runs dry goes on with what it has itself put into the same bucket, as long as that is
little, which saves a meeting for every short wave (bucket fusion). Vertices beyond the ring are
parked in its last bucket; when there are no others, the ring moves to where they belong.

Invariant: a vertex whose value is better than the one it was last walked with is in some bucket; if
a pool runs out, the vertex stays findable by that comparison, and a rescan finds it.

References
----------
Meyer, Sanders: Delta-stepping, a parallelizable shortest path algorithm (J. Algorithms 2003).
Zhang et al.: Optimizing ordered graph algorithms with GraphIt (CGO 2020), for bucket fusion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.devices.control import CURSORS, LINE, claim, nanoseconds
from broadfront.kernel import inner
from broadfront.operators.cpu.buckets import (
    AWAY,
    BLOCK,
    FAR,
    FREE_TOP,
    FUSE,
    LOST,
    NEAREST,
    NONE_LEFT,
    WINDOW,
)
from broadfront.operators.cpu.buckets_across import (
    ALONE,
    BucketCrossing,
    crossed,
    gather,
    marks_first,
)
from broadfront.operators.cpu.combine import combining
from broadfront.operators.cpu.frontier import (
    ALL_SIZE,
    ATOMICS,
    BEFORE,
    BUCKETS,
    ITERATION,
    LOCAL_WORDS,
    PARITY,
    SIZE,
    STATS_WORDS,
    TAIL,
    VISITED,
    WORK,
    finish,
    prepare,
    share,
    tell,
)
from broadfront.operators.cpu.queues import queue_at
from broadfront.operators.describe import Advance, Field
from broadfront.pointers import as_element, prefetch, shifted

NOT_HERE = -(1 << 62)
"""The bucket of a goal that another device owns."""


@inner
def _nowhere(state):
    return 0


def prioritised(
    operator: Advance,
    fields: dict[str, Field],
    place: int,
    crossing: BucketCrossing | None = None,
) -> Callable[..., Any]:
    """Return the section that runs a prioritised `Advance` to its goal, or until all is done."""
    field = fields[operator.into]
    fill_value = np.dtype(field.dtype).type(field.fill)
    combine = combining(field.combine or "min", fill_value)
    better, settle = combine.better, combine.settle
    propose = inner(operator.functor)
    assert operator.priority is not None
    priority = inner(operator.priority)
    goal = _nowhere if operator.goal is None else inner(operator.goal)
    has_goal = operator.goal is not None
    is_ghost, collect_for, agree, position_of = crossing or ALONE
    several = crossing is not None
    collect = collect_for(combine, marks_first)

    @inner
    def bucket_of(vertex, state, per_width):
        return np.int64(np.floor(max(-FAR, min(FAR, priority(vertex, state) * per_width))))

    @inner
    def put(vertex, bucket, own):
        """Put a vertex into one of this thread's buckets."""
        pool, link, head, fill, free, tops = own
        kept = fill[bucket]
        if kept == BLOCK or head[bucket] < 0:
            top = tops[FREE_TOP]
            if top == 0:
                tops[LOST] = 1
                return
            tops[FREE_TOP] = top - 1
            new = np.int64(free[top - 1])
            link[new] = head[bucket]
            head[bucket] = new
            kept = 0
        pool[head[bucket] * BLOCK + kept] = vertex
        fill[bucket] = kept + 1

    @inner
    def put_into(vertex, goal, lowest, own):
        """Put a vertex into its bucket or, beyond the ring, park it in the last one."""
        if goal >= lowest + WINDOW:
            own[5][NEAREST] = min(own[5][NEAREST], goal)
            goal = lowest + WINDOW - 1
        put(vertex, max(goal, lowest) & (WINDOW - 1), own)

    @inner
    def walk(block, size, graph, state, out, walked, lowest, per_width, own, away):
        """Walk the edges of one block's vertices; return arcs seen and proposals settled."""
        pool, link, head, fill, free, tops = own
        offsets, targets = graph.offsets, graph.targets
        final = np.int64(offsets[graph.num_vertices]) - 1
        visited = np.int64(0)
        settled = np.int64(0)
        base = block * BLOCK
        for step in range(size):
            source = np.int64(pool[base + step])
            if step + 12 < size:
                prefetch(offsets, pool[base + step + 12])
                prefetch(out, pool[base + step + 12])
            if step + 6 < size:
                prefetch(targets, offsets[pool[base + step + 6]])
            value = out[source]
            if value == walked[source]:
                continue
            at = bucket_of(source, state, per_width)
            if at > lowest:  # it was parked in the last bucket of the ring
                put_into(source, at, lowest, own)
                continue
            walked[source] = value
            first, last = np.int64(offsets[source]), np.int64(offsets[source + 1])
            visited += last - first
            for edge in range(first, last):
                neighbor = np.int64(targets[edge])
                prefetch(out, targets[min(edge + 16, final)])
                proposal = as_element(out, propose(source, neighbor, edge, state))
                if better(proposal, out[neighbor]):
                    settled += 1
                    if better(proposal, settle(out, neighbor, proposal)):
                        if is_ghost(neighbor, graph):
                            gather(neighbor, away)
                        else:
                            put_into(neighbor, bucket_of(neighbor, state, per_width), lowest, own)
        free[tops[FREE_TOP]] = block
        tops[FREE_TOP] += 1
        return visited, settled

    @inner
    def walk_own(bucket, threads, graph, state, out, walked, lowest, per_width, own, away):
        """Go on alone with what this thread has put into the bucket, while it is little."""
        head, fill, link = own[2], own[3], own[1]
        visited = np.int64(0)
        settled = np.int64(0)
        done = np.int64(0)
        while head[bucket] >= 0 and (done < FUSE or threads == 1):
            block, size = head[bucket], fill[bucket]
            head[bucket] = -1
            fill[bucket] = 0
            while block >= 0:
                following = np.int64(link[block])
                done += size
                seen, kept = walk(
                    block, size, graph, state, out, walked, lowest, per_width, own, away
                )
                visited += seen
                settled += kept
                block, size = following, np.int64(BLOCK)
        return visited, settled

    @inner
    def publish(bucket, control, units, own, turn):
        """Offer this thread's blocks of the bucket to all."""
        head, fill, link = own[2], own[3], own[1]
        block, size = head[bucket], fill[bucket]
        while block >= 0:
            end = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), 1)
            units[end] = block << 8 | size
            block, size = np.int64(link[block]), np.int64(BLOCK)
        head[bucket] = -1
        fill[bucket] = 0

    @inner
    def lowest_own(lowest, head):
        for step in range(WINDOW):
            if head[(lowest + step) & (WINDOW - 1)] >= 0:
                return lowest + step
        return np.int64(NONE_LEFT)

    @inner
    def take_own_blocks(rank, blocks, own):
        """Give a thread the blocks it began with; all buckets of all threads must be empty.

        Blocks go to whoever has walked them, so a thread can come to have none.
        """
        free, tops = own[4], own[5]
        for block in range(blocks):
            free[block] = (rank + 1) * blocks - 1 - block
        tops[FREE_TOP] = blocks
        tops[LOST] = 0

    @inner
    def begin(rank, threads, graph, state, out, work, front, own, blocks, buckets):
        """Empty the buckets, and put this thread's share of the frontier into them."""
        pool, link, head, fill, free, tops = own
        for bucket in range(WINDOW):
            head[bucket] = -1
            fill[bucket] = 0
        take_own_blocks(rank, blocks, own)
        tops[NEAREST] = NONE_LEFT
        tops[AWAY] = 0
        first, last = share(graph.num_vertices, rank, threads)
        for vertex in range(first, last):
            buckets.walked[vertex] = fill_value
        queue = queue_at(work, front[PARITY] == 1)
        lowest = np.int64(NONE_LEFT)
        for position in range(front[SIZE]):
            lowest = min(lowest, bucket_of(np.int64(queue[position]), state, buckets.per_width))
        first, last = share(front[SIZE], rank, threads)
        for position in range(first, last):
            vertex = np.int64(queue[position])
            put_into(vertex, bucket_of(vertex, state, buckets.per_width), lowest, own)
        return lowest

    room_for_copies, cross = crossed(collect, bucket_of, put_into)

    @inner
    def rescan(rank, threads, graph, state, out, walked, lowest, per_width, own):
        """Put back every vertex that a full pool has lost."""
        first, last = share(graph.num_vertices, rank, threads)
        for vertex in range(first, last):
            if out[vertex] != walked[vertex] and out[vertex] != fill_value:
                put_into(vertex, bucket_of(vertex, state, per_width), lowest, own)

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        buckets = work.buckets
        out, walked, units = state[place], buckets.walked, buckets.units
        per_width = buckets.per_width
        blocks = np.int64(buckets.blocks)
        own = (
            buckets.pool, buckets.link, shifted(buckets.head, rank * WINDOW * LINE),
            shifted(buckets.fill, rank * WINDOW * LINE),
            shifted(buckets.free, rank * blocks * threads), shifted(buckets.tops, rank * LINE),
        )  # fmt: skip
        prepare(control, rank, turn)
        if not room_for_copies(rank, threads, control, work, front):
            return finish(control, rank, threads, turn)
        lowest = begin(rank, threads, graph, state, out, work, front, own, blocks, buckets)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        turn, lowest, _, _ = agree(rank, threads, control, work, front, turn, lowest, 0, 0)
        wished = np.int64(position_of(np.int64(goal(state)), graph, state)) if has_goal else -1
        while turn >= 0 and lowest != NONE_LEFT:
            began = nanoseconds()
            prepare(control, rank, turn)
            bucket = lowest & (WINDOW - 1)
            publish(bucket, control, units, own, turn)
            tail = CURSORS + LINE * (TAIL + turn % 3)
            turn = finish(control, rank, threads, turn)
            if turn < 0:
                return turn
            size = atomics.load(control, tail)
            prepare(control, rank, turn)
            visited = np.int64(0)
            settled = np.int64(0)
            queue = queue_at(work, front[PARITY] == 1)
            local = shifted(work.local, rank * LOCAL_WORDS if several else 0)
            away = (local, queue, work.marks, own[5], control, turn)
            while True:
                unit = claim(control, WORK + turn % 3, rank, 1)
                if unit >= size:
                    break
                seen, kept = walk(
                    units[unit] >> 8, units[unit] & 255, graph, state, out, walked, lowest,
                    per_width, own, away,
                )  # fmt: skip
                visited += seen
                settled += kept
            seen, kept = walk_own(
                bucket, threads, graph, state, out, walked, lowest, per_width, own, away
            )
            turn = cross(rank, threads, control, graph, state, in_state, work, front, turn, lowest,
                         per_width, own, away)  # fmt: skip
            if turn < 0:
                return turn
            following = lowest_own(lowest, own[2])
            stats = shifted(work.stats, (turn & 1) * LINE)
            atomics.store(stats, rank * STATS_WORDS, following)
            atomics.store(stats, rank * STATS_WORDS + 1, visited + seen)
            atomics.store(stats, rank * STATS_WORDS + 2, settled + kept)
            atomics.store(stats, rank * STATS_WORDS + 3, own[5][LOST])
            atomics.store(stats, rank * STATS_WORDS + 4, own[5][NEAREST])
            turn = finish(control, rank, threads, turn)
            if turn < 0:
                return turn
            lost = np.int64(0)
            front[VISITED] = 0
            front[ATOMICS] = 0
            following = np.int64(NONE_LEFT)
            nearest = np.int64(NONE_LEFT)
            for thread in range(threads):
                following = min(following, atomics.load(stats, thread * STATS_WORDS))
                front[VISITED] += atomics.load(stats, thread * STATS_WORDS + 1)
                front[ATOMICS] += atomics.load(stats, thread * STATS_WORDS + 2)
                lost += atomics.load(stats, thread * STATS_WORDS + 3)
                nearest = min(nearest, atomics.load(stats, thread * STATS_WORDS + 4))
            front[BEFORE] = size
            tell(work, front, rank, BUCKETS, began)
            front[ITERATION] += 1
            if following == NONE_LEFT and lost > 0:
                take_own_blocks(rank, blocks, own)
                rescan(rank, threads, graph, state, out, walked, lowest, per_width, own)
                following = lowest
            at_goal = np.int64(NOT_HERE)
            if wished >= 0:
                at_goal = np.int64(FAR) if lost > 0 else bucket_of(wished, state, per_width)
            turn, following, nearest, at_goal = agree(
                rank, threads, control, work, front, turn, following, nearest, at_goal
            )
            if turn < 0:
                return turn
            if following == lowest + WINDOW - 1:
                own[5][NEAREST] = NONE_LEFT
                if nearest != NONE_LEFT:  # nothing but parked vertices: go where the nearest is
                    following = max(following, nearest - ((nearest - following) & (WINDOW - 1)))
            lowest = following
            if has_goal and at_goal < lowest:
                break
        front[SIZE] = 0
        front[ALL_SIZE] = 0
        front[ITERATION] -= 1
        return turn

    return section

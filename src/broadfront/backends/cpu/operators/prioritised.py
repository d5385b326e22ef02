"""Advance in the order of a priority: buckets, as in delta-stepping.

While buckets hold much, all threads share one: each publishes its blocks of the lowest bucket, all
claim them, nothing is copied, and a thread that runs dry goes on with what it has itself put into
the same bucket (bucket fusion). While buckets hold little, the first thread takes over what the
others have, and goes from bucket to bucket alone.

On several devices an iteration serves a span of buckets: each device serves its own in their order,
then copies that have improved go to their owners. A span is one bucket while there is enough in it,
and doubles while there is not, so that devices meet seldom; what comes late is served again.

Invariant: a vertex whose value is better than the one it was last walked with is in some bucket; if
a pool runs out, the vertex stays findable by that comparison, and a rescan finds it.

References
----------
Meyer, Sanders: Delta-stepping, a parallelizable shortest path algorithm (J. Algorithms 2003).
Zhang et al.: Optimizing ordered graph algorithms with GraphIt (CGO 2020), for bucket fusion.
Dong et al.: Efficient stepping algorithms and implementations for parallel shortest paths (SPAA
2021), for spans that follow the amount of work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE, nanoseconds
from broadfront.backends.cpu.operators.buckets import (
    FAR,
    LOST,
    NEAREST,
    NONE_LEFT,
    WINDOW,
    base_for,
    claim_block,
    empty_ring,
    next_in,
    offer,
    offer_nothing,
    put_into,
    ring_of,
    take_from,
    take_own_blocks,
)
from broadfront.backends.cpu.operators.buckets_across import (
    ALONE,
    BucketCrossing,
    crossed,
    marks_first,
)
from broadfront.backends.cpu.operators.combine import combining
from broadfront.backends.cpu.operators.frontier import (
    AGAIN,
    ALL_SIZE,
    ATOMICS,
    BASE,
    BEFORE,
    CLOCK,
    ITERATION,
    LOCAL_WORDS,
    OWN,
    PARITY,
    SIZE,
    SMALL,
    SPAN,
    SPAN_AGAIN,
    SPAN_EDGES,
    STATS_WORDS,
    TRIED,
    VISITED,
    finish,
    prepare,
    share,
    tell,
)
from broadfront.backends.cpu.operators.queues import queue_at
from broadfront.backends.cpu.operators.solo import (
    AS_QUICK,
    begin_solos,
    count_own,
    go_alone,
    hand_over,
    look_around,
    solo_times,
    stays_small,
    take_over,
)
from broadfront.backends.cpu.operators.walk_buckets import FUSE, walks
from broadfront.errors import VertexError
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Advance, Field
from broadfront.pointers import shifted
from broadfront.report.ways import BUCKETS

NOT_HERE = -(1 << 62)
"""The bucket of a goal that another device owns."""
NO_SUCH_GOAL = "the goal of an Advance is not a vertex of the graph"
WIDEST_SPAN = 1 << 40
LITTLE, ENOUGH = 1 << 11, 1 << 13
"""Edges that each device should traverse in an iteration, on average: spans widen below the first
and narrow above the second. They are wider than half the ring only where hardly any are edges of
vertices served before."""
OFTEN, LEAST = 4, 1 << 9
"""Where more than one in so many edges is that of a vertex served before, so few edges are to be
enough: a meeting costs less than that."""
TRIAL = 4
"""Iterations after which a span is chosen anew."""


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
    combine = combining(field)
    assert operator.priority is not None
    goal = _nowhere if operator.goal is None else compile_functor(operator.goal)
    has_goal = operator.goal is not None
    is_ghost, collect_for, agree, position_of = crossing or ALONE
    several = crossing is not None
    walk = walks(
        compile_functor(operator.functor), compile_functor(operator.priority), combine, is_ghost,
        place, several,
    )  # fmt: skip
    bucket_of, walk_block, walk_own = walk.bucket_of, walk.block, walk.own
    spread, walk_alone = walk.spread, walk.alone
    room_for_copies, cross = crossed(collect_for(combine, marks_first), bucket_of)

    @inner
    def begin(rank, threads, graph, state, work, front, ring):
        """Empty the buckets, and put this thread's share of the frontier into them."""
        buckets = work.buckets
        empty_ring(rank, np.int64(buckets.blocks), ring)
        first, last = share(graph.num_vertices, rank, threads)
        fill = graph.numbers.fills[place]
        for vertex in range(first, last):
            buckets.walked[vertex] = fill
        queue = queue_at(work, front[PARITY] == 1)
        lowest = np.int64(NONE_LEFT)
        for position in range(front[SIZE]):
            lowest = min(lowest, bucket_of(np.int64(queue[position]), state, buckets.per_width))
        first, last = share(front[SIZE], rank, threads)
        for position in range(first, last):
            vertex = np.int64(queue[position])
            put_into(vertex, bucket_of(vertex, state, buckets.per_width), lowest, ring)
        return lowest

    @inner
    def recover(threads, graph, state, out, buckets, lowest):
        """Put back, by one thread, every vertex that a full pool has lost; all lists are empty."""
        for thread in range(threads):
            take_own_blocks(thread, np.int64(buckets.blocks), ring_of(buckets, thread, threads))
        ring, fill = ring_of(buckets, 0, threads), graph.numbers.fills[place]
        for vertex in range(graph.num_vertices):
            if out[vertex] != buckets.walked[vertex] and out[vertex] != fill:
                if not is_ghost(vertex, graph):
                    put_into(vertex, bucket_of(vertex, state, buckets.per_width), lowest, ring)

    @inner
    def away_for(rank, control, work, front, ring, turn):
        local = shifted(work.local, rank * LOCAL_WORDS if several else 0)
        return local, queue_at(work, front[PARITY] == 1), work.marks, ring.tops, control, turn

    @inner
    def by_one(threads, control, graph, state, in_state, work, front, turn, lowest, wished):
        """Serve buckets by the first thread; return turn, and whether vertices were lost."""
        buckets, out = work.buckets, state[place]
        ring = ring_of(buckets, 0, threads)
        lost = ring.tops[LOST]
        for thread in range(1, threads):
            other = ring_of(buckets, thread, threads)
            take_from(other, ring)
            lost += other.tops[LOST]
        if front[OWN] == NONE_LEFT and lost > 0:
            recover(threads, graph, state, out, buckets, front[BASE])
            front[OWN] = next_in(front[BASE], ring)
        away = away_for(0, control, work, front, ring, turn)
        until = lowest + front[SPAN] if several else np.int64(NONE_LEFT)
        most, times = np.int64(NONE_LEFT), np.int64(NONE_LEFT)
        if threads > 1:
            most, times = 2 * front[SMALL], solo_times(control, front)
        began = front[CLOCK]
        done = walk_alone(
            control, graph, state, out, work, front, lowest, until, most, times, wished, ring, away
        )
        count_own(control, front, done, began)
        turn = cross(0, 1, control, graph, state, in_state, work, front, turn, ring, away)
        front[OWN] = next_in(front[BASE], ring)
        lost = np.int64(0)
        for thread in range(threads):
            lost += ring_of(buckets, thread, threads).tops[LOST]
        return turn, lost

    @inner
    def by_all(rank, threads, control, graph, state, in_state, work, front, turn, lowest):
        """Serve the device's next bucket by all threads, if it is in the span; return the same."""
        began = nanoseconds()
        buckets, out = work.buckets, state[place]
        ring = ring_of(buckets, rank, threads)
        walked, per_width = buckets.walked, buckets.per_width
        if front[OWN] < lowest + front[SPAN]:
            front[BASE] = base_for(front[OWN], lowest)
            if ring.tops[NEAREST] <= front[OWN]:
                spread(state, front[BASE], per_width, ring)
            offer(front[OWN] & (WINDOW - 1), rank, control, work, ring, turn)
        else:
            offer_nothing(rank, work)
        base, bucket = front[BASE], front[OWN]
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn, np.int64(0)
        prepare(control, rank, turn)
        served, visited, settled = np.int64(0), np.int64(0), np.int64(0)
        away = away_for(rank, control, work, front, ring, turn)
        while True:
            block, length = claim_block(rank, threads, control, work)
            if block < 0:
                break
            seen, kept = walk_block(
                block, length, graph, state, out, walked, front, base, per_width, ring, away
            )
            served += length
            visited += seen
            settled += kept
        more, seen, kept = walk_own(
            bucket & (WINDOW - 1), FUSE, graph, state, out, walked, front, base, per_width, ring,
            away,
        )  # fmt: skip
        turn = cross(rank, threads, control, graph, state, in_state, work, front, turn, ring, away)
        if turn < 0:
            return turn, np.int64(0)
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, next_in(base, ring))
        atomics.store(stats, rank * STATS_WORDS + 1, visited + seen)
        atomics.store(stats, rank * STATS_WORDS + 2, settled + kept)
        atomics.store(stats, rank * STATS_WORDS + 3, ring.tops[LOST])
        atomics.store(stats, rank * STATS_WORDS + 4, served + more)
        turn = finish(control, rank, threads, turn)
        front[VISITED], front[ATOMICS], front[BEFORE] = 0, 0, 0
        lost, front[OWN] = np.int64(0), NONE_LEFT
        for thread in range(threads):
            front[OWN] = min(front[OWN], atomics.load(stats, thread * STATS_WORDS))
            front[VISITED] += atomics.load(stats, thread * STATS_WORDS + 1)
            front[ATOMICS] += atomics.load(stats, thread * STATS_WORDS + 2)
            lost += atomics.load(stats, thread * STATS_WORDS + 3)
            front[BEFORE] += atomics.load(stats, thread * STATS_WORDS + 4)
        tell(work, front, rank, BUCKETS, began)
        front[ITERATION] += 1
        return turn, lost

    @inner
    def choose_span(front, edges, again):
        """Widen or narrow the span after a few iterations, by what each device did in them."""
        front[TRIED] += 1
        front[SPAN_EDGES] += edges
        front[SPAN_AGAIN] += again
        front[AGAIN] = 0
        if front[TRIED] < TRIAL:
            return
        span, edges, again = front[SPAN], front[SPAN_EDGES], front[SPAN_AGAIN]
        wasteful = again > edges // OFTEN
        if edges > (LEAST if wasteful else ENOUGH) * TRIAL:
            span -= 1 + span // 4
        elif edges < (LEAST if wasteful else LITTLE) * TRIAL:
            span += 1 + span // 2
        if again > edges >> 6:
            span = min(span, np.int64(WINDOW // 2))
        front[SPAN] = max(np.int64(1), min(span, np.int64(WIDEST_SPAN)))
        front[TRIED], front[SPAN_EDGES], front[SPAN_AGAIN] = 0, 0, 0

    @inner
    def goal_here(graph, state):
        """Return the place of the goal on this device; negative if it is elsewhere."""
        if not has_goal:
            return np.int64(-1)
        vertex = np.int64(goal(state) | 0)  # what is not whole does not compile
        if vertex < 0 or vertex >= state.num_vertices:
            raise VertexError(NO_SUCH_GOAL)
        return np.int64(position_of(vertex, graph, state))

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        prepare(control, rank, turn)
        if not room_for_copies(rank, threads, control, work, front):
            return finish(control, rank, threads, turn)
        lowest = begin(
            rank, threads, graph, state, work, front, ring_of(work.buckets, rank, threads)
        )
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        front[OWN] = lowest
        turn, lowest, _, _, _ = agree(rank, threads, control, work, front, turn, lowest, 0, 0, 0)
        wished = goal_here(graph, state)
        front[SPAN], front[VISITED], front[AGAIN] = 1, 0, 0
        front[TRIED], front[SPAN_EDGES], front[SPAN_AGAIN] = 0, 0, 0
        begin_solos(control, rank, front)
        front[BASE] = lowest
        while turn >= 0 and lowest != NONE_LEFT:
            solo = threads == 1 or front[VISITED] < front[SMALL]
            if solo and rank > 0:
                turn, lowest = take_over(control, rank, threads, work, front, turn)
                continue
            team, before = np.int64(1) if solo else threads, front[ITERATION]
            began = front[CLOCK]
            prepare(control, rank, turn)
            if solo:
                go_alone(control, threads)
                turn, lost = by_one(
                    threads, control, graph, state, in_state, work, front, turn, lowest, wished
                )
            else:
                turn, lost = by_all(
                    rank, threads, control, graph, state, in_state, work, front, turn, lowest
                )
            if turn >= 0:
                following = front[OWN]
                if following == NONE_LEFT and lost > 0:
                    following, front[VISITED] = front[BASE], 0  # the first thread recovers them
                at_goal = np.int64(NOT_HERE)
                if wished >= 0:
                    at_goal = np.int64(FAR)
                    if lost == 0:
                        at_goal = bucket_of(wished, state, work.buckets.per_width)
                turn, lowest, at_goal, edges, again = agree(
                    rank, team, control, work, front, turn, following, at_goal, front[VISITED],
                    front[AGAIN],
                )  # fmt: skip
                choose_span(front, edges, again)
                if has_goal and at_goal < lowest:
                    lowest = np.int64(NONE_LEFT)
            if not solo and turn > 0:
                done = front[VISITED] + front[BEFORE]  # vertices that are late take time, too
                look_around(control, rank, front, turn, done, began, AS_QUICK)
            elif solo and threads > 1:
                stays_small(control, front, front[VISITED], front[ITERATION] - before)
                hand_over(control, threads, work, front, turn, lowest)
        front[SIZE] = 0
        front[ALL_SIZE] = 0
        front[ITERATION] -= 1
        return turn

    return section

"""Level by level: each vertex sums what its neighbours offer, then all of a level apply the sums.

The vertices that have a level are put in the order of their levels. A level is then worked through
twice: threads sum over the neighbours of runs of it, which they claim, or of an even share where it
is short; after a meeting each applies the sums of its share. So nothing that a level applies is
seen by another vertex of the same level. Small levels in a row are done by the first thread alone,
which is cheaper than the meetings.

Invariant: a sum is taken in four chains along the neighbour list, whoever takes it: same bits for
any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import (
    LINE,
    claim,
    keep_pace_in,
    nanoseconds,
    poll_at,
    stopped,
)
from broadfront.backends.cpu.operators.frontier import (
    ATOMICS,
    BEFORE,
    CLOCK,
    ITERATION,
    SMALL,
    STATS_WORDS,
    VISITED,
    WORK,
    finish,
    prepare,
    share,
    tell,
)
from broadfront.backends.cpu.operators.level_order import (
    ONE_DEVICE,
    LevelCrossing,
    arranged,
    as_it_is,
)
from broadfront.backends.cpu.operators.solo import (
    begin_solos,
    count_own,
    go_alone,
    hand_over,
    look_around,
    stays_small,
    take_over,
)
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Levels
from broadfront.pointers import prefetch, shifted
from broadfront.report.ways import LEVELS

EDGES_EACH = 3
"""About how many edges a vertex has, to tell before whether a level is small."""
SHORT, TURN = 4096, 512
"""A shorter level is shared evenly; of a longer one a thread claims so many vertices at a time."""


def levels(
    operator: Levels, place: int | None, crossing: LevelCrossing | None = None
) -> Callable[..., Any]:
    """Return the section of a `Levels`; `place` is that of the field it goes by."""
    together = crossing is not None
    crossing = crossing or ONE_DEVICE
    arrange = as_it_is if place is None else arranged(place, crossing)
    tell_copies = crossing.tell
    sum_up, apply_all = _summing(operator), _applying(operator)
    rarely = _never if operator.when is None else compile_functor(operator.when)
    descending = operator.descending

    @inner
    def bounds(step, count, starts):
        level = count - 1 - step if descending else step
        return np.int64(starts[level]), np.int64(starts[level + 1])

    @inner
    def by_one(control, begin, end, rare, graph, state, in_state, work, front, turn):
        """Do a level by one thread, which meets nobody."""
        memory, began = work.levels, front[CLOCK]
        visited = sum_up(control, begin, end, end, rare, memory, graph, state, in_state)
        apply_all(begin, end, memory, state)
        _write(work, front, end - begin, visited, began)
        poll_at(control, front[CLOCK])
        return -turn - 1 if stopped(control) else turn

    @inner
    def by_all(rank, threads, control, begin, end, rare, graph, state, in_state, work, front, turn):
        """Do a level by all threads: sums, a meeting, what follows from them, a meeting."""
        memory, began = work.levels, nanoseconds()
        prepare(control, rank, turn)
        visited = np.int64(0)
        first, last = share(end - begin, rank, threads)
        if end - begin < SHORT:
            visited = sum_up(
                control, begin + first, begin + last, end, rare, memory, graph, state, in_state
            )
        else:
            while True:
                place = begin + claim(control, WORK + turn % 3, rank, TURN)
                if place >= end:
                    break
                until = min(end, place + TURN)
                visited += sum_up(control, place, until, end, rare, memory, graph, state, in_state)
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, visited)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        apply_all(begin + first, begin + last, memory, state)
        visited = np.int64(0)
        for thread in range(threads):
            visited += atomics.load(stats, thread * STATS_WORDS)
        turn = finish(control, rank, threads, turn)
        front[VISITED] = visited
        if rank == 0:
            _write(work, front, end - begin, visited, began)
        return turn

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        turn = arrange(rank, threads, control, graph, state, work, front, turn)
        memory, count = work.levels, work.levels.extent[0]
        step, served, team = np.int64(0), np.int64(0), threads
        begin_solos(control, rank, front)
        while True:
            more = turn >= 0 and step < count
            begin, end = bounds(step, count, memory.starts) if more else (0, 0)
            edges = EDGES_EACH * (end - begin)
            if team < threads:
                if not more or not stays_small(control, front, edges, served):
                    hand_over(control, threads, work, front, turn, step)
                    team = threads
                    front[CLOCK] = nanoseconds()
            elif more and threads > 1 and edges < front[SMALL]:
                if rank > 0:
                    turn, step = take_over(control, rank, threads, work, front, turn)
                    continue
                go_alone(control, threads)
                team, served = np.int64(1), np.int64(0)
            if not more:
                break
            rare, began = rarely(state), front[CLOCK]
            if team == 1:
                turn = by_one(control, begin, end, rare, graph, state, in_state, work, front, turn)
                served += 1
                count_own(control, front, front[VISITED], began)
            else:
                turn = by_all(rank, threads, control, begin, end, rare, graph, state, in_state,
                              work, front, turn)  # fmt: skip
                if turn > 0:
                    look_around(control, rank, front, turn, front[VISITED], began)
            step += 1
            front[ITERATION] += 1
            if together and turn >= 0:
                level = count - step if descending else step - 1
                turn = tell_copies(
                    rank, team, control, level, graph, state, in_state, work, front, turn
                )
        if count > 0:
            front[ITERATION] -= 1  # the phase counts the last one
        elif rank == 0:
            _write(work, front, 0, np.int64(0), nanoseconds())
        return turn

    return section


@inner
def _write(work, front, size, visited, began):
    front[BEFORE] = size
    front[VISITED] = visited
    front[ATOMICS] = 0
    tell(work, front, 0, LEVELS, began)


# ---------------------------------------------------------------------- one level


def _summing(operator: Levels) -> Callable[..., Any]:
    """Return the function that sums over the neighbours of a run of vertices."""
    offer = compile_functor(operator.gather)
    own_sum = _no_sum if operator.instead is None else compile_functor(operator.instead)
    outgoing = operator.descending

    @inner
    def total_of(vertex, edge, end, targets, state):
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        while edge + 4 <= end:
            one += offer(np.int64(targets[edge]), vertex, edge, state)
            two += offer(np.int64(targets[edge + 1]), vertex, edge + 1, state)
            three += offer(np.int64(targets[edge + 2]), vertex, edge + 2, state)
            four += offer(np.int64(targets[edge + 3]), vertex, edge + 3, state)
            edge += 4
        while edge < end:
            one += offer(np.int64(targets[edge]), vertex, edge, state)
            edge += 1
        return (one + two) + (three + four)

    @inner
    def sum_up(control, begin, end, limit, rare, memory, graph, state, in_state):
        """Sum for `order[begin:end]` of a level that ends at `limit`; return arcs looked at."""
        order = memory.order
        offsets = graph.offsets if outgoing else graph.in_offsets
        targets = graph.targets if outgoing else graph.in_targets
        seen = state if outgoing else in_state
        visited, page = np.int64(0), np.int64(0)
        for place in range(begin, end):
            vertex = np.int64(order[place])
            if place + 8 < limit:
                prefetch(offsets, order[place + 8])
            if place + 4 < limit:
                prefetch(targets, offsets[order[place + 4]])
            first, last = np.int64(offsets[vertex]), np.int64(offsets[vertex + 1])
            if rare:
                memory.totals[place] = own_sum(vertex, seen)
            else:
                memory.totals[place] = total_of(vertex, first, last, targets, seen)
            visited += last - first
            page = keep_pace_in(control, page, last)
        return visited

    return sum_up


@inner
def _never(state):
    return False


@inner
def _no_sum(vertex, state):
    return 0.0


def _applying(operator: Levels) -> Callable[..., Any]:
    """Return the function that applies the sums of a run of vertices."""
    apply = compile_functor(operator.apply)

    @inner
    def apply_all(begin, end, memory, state):
        for place in range(begin, end):
            apply(np.int64(memory.order[place]), memory.totals[place], state)

    return apply_all

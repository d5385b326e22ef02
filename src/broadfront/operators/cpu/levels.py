"""Level by level: each vertex sums what its neighbours offer, then all of a level apply the sums.

The vertices that have a level are put in the order of their levels, and of their ids within a
level, by a counting sort on all threads. A level is then worked through twice: threads claim runs
of it and sum over neighbours; after a meeting each applies the sums of an even share. So nothing
that a level applies is seen by another vertex of the same level. Small levels in a row are done by
the first thread alone, which is cheaper than the meetings.

Invariant: a sum is taken in four chains along the neighbour list, whoever takes it: same bits for
any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.devices.control import LINE, claim, nanoseconds, poll, stopped
from broadfront.devices.workspace import Workspace
from broadfront.kernel import inner
from broadfront.operators.cpu.frontier import (
    ATOMICS,
    BEFORE,
    ITERATION,
    LEVELS,
    STATS_WORDS,
    VISITED,
    WORK,
    finish,
    prepare,
    share,
    tell,
)
from broadfront.operators.describe import Levels
from broadfront.pointers import prefetch, shifted

Array = NDArray[Any]

SMALL = 24
"""A level of fewer vertices is not worth a meeting."""
LEAST_TURN, MOST_TURN = 16, 512
"""Vertices that a thread claims at a time."""


class LevelOrder(NamedTuple):
    """The vertices in the order of their levels, and what it takes to work through them."""

    order: Array
    starts: Array
    """Where each level begins in `order`; one more than there are levels."""
    counts: Array
    totals: Array
    extent: Array
    """How many levels there are."""
    shared_order: Array
    """By device, the vertices that others have copies of, in the order of their levels."""
    sent_until: Array


class LevelCrossing(NamedTuple):
    """What a `Levels` needs beyond one device."""

    agree: Callable[..., Any]
    """Has all devices agree on how many levels there are; a meeting, which returns both."""
    sort: Callable[..., Any]
    """Puts what others have copies of in the order of levels."""
    tell: Callable[..., Any]
    """Tells the copies of a level's vertices what it has applied; a few meetings."""


def new_level_order(
    workspace: Workspace,
    owned: int,
    vertex: Any,
    *,
    all_vertices: int | None = None,
    shared: int = 0,
    devices: int = 1,
) -> LevelOrder:
    """Return the memory for a run with levels, of which there may be as many as vertices in all."""
    most = owned if all_vertices is None else all_vertices
    return LevelOrder(
        workspace.array("level order", owned, vertex),
        workspace.array("level starts", most + 1, vertex),
        workspace.array("level counts", most + 1, vertex),
        workspace.array("level totals", owned, np.float64),
        workspace.array("level extent", 1, np.int64),
        workspace.array("shared order", shared, vertex),
        workspace.array("sent until", 2 * devices, np.int64),
    )


def levels(
    operator: Levels, place: int | None, crossing: LevelCrossing | None = None
) -> Callable[..., Any]:
    """Return the section of a `Levels`; `place` is that of the field it goes by."""
    crossing = crossing or LevelCrossing(_alone, _nothing_shared, _tell_nobody)
    arrange = _as_it_is if place is None else _arranged(place, crossing)
    tell_copies, together = crossing.tell, crossing.tell is not _tell_nobody
    sum_up, apply_all = _summing(operator), _applying(operator)
    rarely = _never if operator.when is None else inner(operator.when)
    descending = operator.descending

    @inner
    def bounds(step, count, starts):
        level = count - 1 - step if descending else step
        return np.int64(starts[level]), np.int64(starts[level + 1])

    @inner
    def after_small_ones(step, count, starts):
        """Return the first step from `step` on whose level is not small."""
        while step < count:
            begin, end = bounds(step, count, starts)
            if end - begin >= SMALL:
                break
            step += 1
        return step

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        turn = arrange(rank, threads, control, graph, state, work, front, turn)
        memory = work.levels
        count, step = memory.extent[0], np.int64(0)
        while turn >= 0 and step < count:
            following = step if together else after_small_ones(step, count, memory.starts)
            alone = following > step
            if not alone:
                following = step + 1
            prepare(control, rank, turn)
            if alone and rank > 0:
                front[ITERATION] += following - step
                step = following
            while step < following:
                began = nanoseconds()
                begin, end = bounds(step, count, memory.starts)
                chunk = max(LEAST_TURN, min(MOST_TURN, (end - begin) // (4 * threads)))
                rare = rarely(state)
                first, visited = begin, np.int64(0)
                while True:
                    if not alone:
                        first = begin + claim(control, WORK + turn % 3, rank, chunk)
                    if first >= end:
                        break
                    last = min(end, first + chunk)
                    visited += sum_up(first, last, end, rare, memory, graph, state, in_state)
                    first = last
                stats = shifted(work.stats, (turn & 1) * LINE)
                first, last = np.int64(0), end - begin
                if not alone:
                    atomics.store(stats, rank * STATS_WORDS, visited)
                    turn = finish(control, rank, threads, turn)
                    if turn < 0:
                        return turn
                    prepare(control, rank, turn)
                    first, last = share(end - begin, rank, threads)
                apply_all(begin + first, begin + last, memory, state)
                if rank == 0:
                    for thread in range(1, 1 if alone else threads):
                        visited += atomics.load(stats, thread * STATS_WORDS)
                    _write(work, front, end - begin, visited, began)
                    if alone and _stopped(control):
                        break
                front[ITERATION] += 1
                step += 1
            turn = finish(control, rank, threads, turn)
            if together and turn >= 0:
                level = count - step if descending else step - 1
                turn = tell_copies(
                    rank, threads, control, level, graph, state, in_state, work, front, turn
                )
        if count > 0:
            front[ITERATION] -= 1  # the phase counts the last one
        elif rank == 0:
            _write(work, front, 0, np.int64(0), nanoseconds())
        return turn

    return section


@inner
def _stopped(control):
    poll(control)
    return stopped(control)


@inner
def _write(work, front, size, visited, began):
    front[BEFORE] = size
    front[VISITED] = visited
    front[ATOMICS] = 0
    tell(work, front, 0, LEVELS, began)


# ---------------------------------------------------------------------- one level


def _summing(operator: Levels) -> Callable[..., Any]:
    """Return the function that sums over the neighbours of a run of vertices."""
    offer = inner(operator.gather)
    own_sum = _no_sum if operator.instead is None else inner(operator.instead)
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
    def sum_up(begin, end, limit, rare, memory, graph, state, in_state):
        """Sum for `order[begin:end]` of a level that ends at `limit`; return arcs looked at."""
        order = memory.order
        offsets = graph.offsets if outgoing else graph.in_offsets
        targets = graph.targets if outgoing else graph.in_targets
        seen = state if outgoing else in_state
        visited = np.int64(0)
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
    apply = inner(operator.apply)

    @inner
    def apply_all(begin, end, memory, state):
        for place in range(begin, end):
            apply(np.int64(memory.order[place]), memory.totals[place], state)

    return apply_all


# ---------------------------------------------------------------------- the order


@inner
def _as_it_is(rank, threads, control, graph, state, work, front, turn):
    return turn


@inner
def _alone(rank, threads, control, work, front, turn, count):
    return turn, count


@inner
def _nothing_shared(level_of, count, work):
    pass


@inner
def _tell_nobody(rank, threads, control, level, graph, state, in_state, work, front, turn):
    return turn


def _arranged(field: int, crossing: LevelCrossing) -> Callable[..., Any]:
    """Return the function that puts vertices in the order of the levels in a field."""
    agree, sort_shared = crossing.agree, crossing.sort

    @inner
    def arrange(rank, threads, control, graph, state, work, front, turn):
        level_of, memory, members = state[field], work.levels, graph.members
        size, limit = graph.owned, graph.all_vertices
        prepare(control, rank, turn)
        first, last = share(size, rank, threads)
        stats = shifted(work.stats, (turn & 1) * LINE)
        found = _number_of_levels(level_of, members, first, last, limit)
        atomics.store(stats, rank * STATS_WORDS, found)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        count = np.int64(0)
        for thread in range(threads):
            count = max(count, atomics.load(stats, thread * STATS_WORDS))
        turn, count = agree(rank, threads, control, work, front, turn, count)
        if turn < 0:
            return turn
        # As many threads sort as there is memory for: with very many levels it is one.
        sorters = threads if threads * count <= size else np.int64(1)
        mine = shifted(memory.counts, rank * count)
        first, last = share(size, rank, sorters)
        prepare(control, rank, turn)
        if rank < sorters:
            _count(level_of, members, first, last, limit, mine, count)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            _begin(memory, count, sorters)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank < sorters:
            _place(level_of, members, first, last, limit, mine, memory.order)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            sort_shared(level_of, count, work)
        return finish(control, rank, threads, turn)

    return arrange


@inner
def _number_of_levels(level_of, members, first, last, limit):
    deepest = np.int64(-1)
    for place in range(first, last):
        level = np.int64(level_of[members[place]])
        if level < limit:
            deepest = max(deepest, level)
    return deepest + 1


@inner
def _count(level_of, members, first, last, limit, mine, count):
    for level in range(count):
        mine[level] = 0
    for place in range(first, last):
        level = np.int64(level_of[members[place]])
        if 0 <= level < limit:
            mine[level] += 1


@inner
def _begin(memory, count, sorters):
    """Turn the counts of all threads into places in the order."""
    place = np.int64(0)
    for level in range(count):
        memory.starts[level] = place
        for sorter in range(sorters):
            found = np.int64(memory.counts[sorter * count + level])
            memory.counts[sorter * count + level] = place
            place += found
    memory.starts[count] = place
    memory.extent[0] = count


@inner
def _place(level_of, members, first, last, limit, mine, order):
    for place in range(first, last):
        vertex = np.int64(members[place])
        level = np.int64(level_of[vertex])
        if 0 <= level < limit:
            order[mine[level]] = vertex
            mine[level] += 1

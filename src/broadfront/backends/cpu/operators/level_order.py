"""The vertices in the order of their levels, and of their ids within a level.

A counting sort on all threads: each counts the levels of its share of the vertices, the counts
become places, and each puts its share there. With very many levels one thread sorts, since the
counts of each would take more memory than the order itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators.frontier import STATS_WORDS, finish, prepare, share
from broadfront.kernel import inner
from broadfront.pointers import shifted

Array = NDArray[Any]


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
    shared_levels: Array
    """The levels of these, as they were when they were put in order."""
    runs: Array
    """By device, where what it is being sent begins in that order, and how many have a level."""
    due: Array
    """By device, a bit for each level after which it sends something; by the own, if anybody."""


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
    most: int,
    shared: int,
    devices: int,
) -> LevelOrder:
    """Return the memory for a run with levels, of which there are `most` at the most."""
    return LevelOrder(
        workspace.array("level order", owned, vertex),
        workspace.array("level starts", most + 1, vertex),
        workspace.array("level counts", most + 1, vertex),
        workspace.array("level totals", owned, np.float64),
        workspace.array("level extent", 1, np.int64),
        workspace.array("shared order", shared, vertex),
        workspace.array("shared levels", shared, vertex),
        workspace.array("level runs", 2 * devices, np.int64),
        workspace.array("levels due", devices * (most // 64 + 1), np.uint64),
    )


@inner
def as_it_is(rank, threads, control, graph, state, work, front, turn):
    """Leave the order of the `Levels` before."""
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


ONE_DEVICE = LevelCrossing(_alone, _nothing_shared, _tell_nobody)


def arranged(field: int, crossing: LevelCrossing) -> Callable[..., Any]:
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

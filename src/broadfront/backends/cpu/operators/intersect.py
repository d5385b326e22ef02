"""Intersect on a CPU: common neighbours of the ends of edges, and so triangles.

For triangles every edge is kept once, at one of its ends (see `orient`); a vertex marks its kept
neighbours in a map, and adds up the marks along the lists of those: a flat loop without a branch.
Where a functor wants counts per vertex, the marks are counters that go up when they are met. Short
lists are walked side by side instead. All common neighbours of each edge are another matter, see
`common_neighbours`.

Invariant: all marks are zero between rows, also when a run is stopped; sums are of integers, so
the order in which threads add to them does not matter.

References
----------
Chiba, Nishizeki: Arboricity and subgraph listing algorithms (SIAM J. Computing 14, 1985).
Latapy: Main-memory triangle computations for very large (sparse (power-law)) graphs (TCS 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import (
    LINE,
    NO_MORE,
    claim,
    in_large_pages,
    keep_pace,
    keep_pace_in,
    nanoseconds,
)
from broadfront.backends.cpu.operators.common_neighbours import LOOK_EVERY, common_neighbours
from broadfront.backends.cpu.operators.frontier import (
    ATOMICS,
    BEFORE,
    EDGES,
    STATS_WORDS,
    VISITED,
    WORK,
    finish,
    prepare,
    share,
    tell,
)
from broadfront.backends.cpu.operators.orient import BY_DEGREE, MERGE, oriented
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Intersect
from broadfront.pointers import prefetch, shifted
from broadfront.report.ways import INTERSECT

LISTS_AT_A_TIME = 32
"""Lists that a row meets before it looks whether the run is to stop, and whether too much of mapped
arrays has come in; where large pages come in, it looks when a list is in another."""


def intersect(operator: Intersect, total: int | None) -> Callable[..., Any]:
    """Return the section of an `Intersect`; `total` is the place of the field of its total."""
    publish = publish_nothing if total is None else publishing(total)
    if operator.functor is None:
        adding = Found(add_marks, unmark, pass_third, pass_pair)
        return _summed(oriented, _triangles(adding), publish, 1)
    functor = compile_functor(operator.functor)
    if operator.each == "edge":
        return _summed(_as_it_is, common_neighbours(functor), publish, 3)
    if operator.each == "triangle":
        return _summed(oriented, _triangles(_telling(functor)), publish, 1)
    counting = Found(count_marks, take_counts, count_third, count_pair)
    return _per_vertex(_summed(oriented, _triangles(counting), publish, 1), functor)


# ---------------------------------------------------------------------- what is done with finds


class Found(NamedTuple):
    """What is done with what is found, as compiled functions."""

    scan: Callable[..., Any]
    """``scan(first, second, begin, end, kept, marks, lists, state)`` returns the marks it met."""
    leave: Callable[..., Any]
    """``leave(first, begin, end, kept, marks, met, lists)`` sets all marks back to zero."""
    third: Callable[..., Any]
    """``third(first, second, third, lists, state)`` hears of a triangle where lists are merged."""
    pair: Callable[..., Any]
    """``pair(first, second, met, lists)`` hears how many there were with these two."""


@inner
def add_marks(first, second, begin, end, kept, marks, lists, state):
    """Add up the marks along a list."""
    met = np.int64(0)
    for slot in range(begin, end):
        met += np.int64(marks[kept[slot]])
    return met


@inner
def unmark(first, begin, end, kept, marks, met, lists):
    """Set the marks of a row back."""
    for slot in range(begin, end):
        marks[kept[slot]] = 0


@inner
def pass_third(first, second, third, lists, state):
    """Do nothing with a triangle."""


@inner
def pass_pair(first, second, met, lists):
    """Do nothing with what a pair has met."""


@inner
def count_marks(first, second, begin, end, kept, marks, lists, state):
    """Count up every mark along a list that is set."""
    met = np.int64(0)
    for slot in range(begin, end):
        third = kept[slot]
        mark = marks[third]
        marked = np.uint32(mark != 0)
        marks[third] = mark + marked
        met += np.int64(marked)
    if met != 0:
        atomics.add(lists.counts, second, met)
    return met


@inner
def take_counts(first, begin, end, kept, marks, met, lists):
    """Add the marks of a row, as counters, to the counts of its vertices."""
    for slot in range(begin, end):
        third = kept[slot]
        times = np.int64(marks[third]) - 1
        marks[third] = 0
        if times != 0:
            atomics.add(lists.counts, third, times)
    if met != 0:
        atomics.add(lists.counts, first, met)


@inner
def count_third(first, second, third, lists, state):
    """Count a triangle at its third corner."""
    atomics.add(lists.counts, third, 1)


@inner
def count_pair(first, second, met, lists):
    """Count what a pair has met at both ends."""
    if met != 0:
        atomics.add(lists.counts, first, met)
        atomics.add(lists.counts, second, met)


def _telling(functor: Callable[..., Any]) -> Found:
    """Return what calls `functor` with every triangle."""

    @inner
    def scan(first, second, begin, end, kept, marks, lists, state):
        met = np.int64(0)
        for slot in range(begin, end):
            third = np.int64(kept[slot])
            if marks[third] != 0:
                met += 1
                if lists.method == BY_DEGREE:
                    vertex = lists.vertex
                    functor(
                        np.int64(vertex[first]), np.int64(vertex[second]), np.int64(vertex[third]),
                        state,
                    )  # fmt: skip
                else:
                    functor(first, second, third, state)
        return met

    @inner
    def third(first, second, third, lists, state):
        functor(first, second, third, state)

    return Found(scan, unmark, third, pass_pair)


# ---------------------------------------------------------------------- triangles


def _triangles(found: Found) -> Callable[..., Any]:
    """Return what finds the triangles of some rows: ``visit(...) -> triangles, entries``."""
    mark_rows, merge_rows = marking(found), _merging(found)

    @inner
    def visit(begin, end, rank, control, graph, lists, state, turn):
        if lists.method == MERGE:
            return merge_rows(begin, end, graph, lists, state)
        copied = lists.method == BY_DEGREE
        start = lists.start if copied else graph.offsets
        kept = lists.kept if copied else graph.targets
        marks = shifted(lists.marks, rank * graph.num_vertices)
        return mark_rows(begin, end, start, kept, marks, rank, control, lists, state, turn)

    return visit


def marking(found: Found) -> Callable[..., Any]:
    """Return what finds the triangles of some rows by marks."""
    scan, leave = found.scan, found.leave

    @inner
    def rows(begin, end, start, kept, marks, rank, control, lists, state, turn):
        """For each row mark the neighbours kept there, and meet the marks along their lists."""
        step = np.int64(1) if in_large_pages(control) else np.int64(LISTS_AT_A_TIME)
        page = np.int64(0)
        ends, all_met, looked, rest = lists.end, np.int64(0), np.int64(0), np.int64(LOOK_EVERY)
        for own in range(begin, end):
            low, high = np.int64(start[own]), np.int64(ends[own])
            if high - low < 2:
                continue
            for slot in range(low, high):
                marks[kept[slot]] = 1
            met = np.int64(0)
            for some in range(low, high, step):
                for slot in range(some, min(high, some + step)):
                    other = np.int64(kept[slot])
                    if slot + 4 < high:
                        prefetch(kept, start[kept[slot + 4]])
                    first, last = np.int64(start[other]), np.int64(ends[other])
                    met += scan(own, other, first, last, kept, marks, lists, state)
                    looked += last - first
                if step == 1:
                    page = keep_pace_in(control, page, last)
                else:
                    keep_pace(control)
                if looked > rest:
                    rest = looked + LOOK_EVERY
                    if claim(control, WORK + turn % 3, rank, 0) == NO_MORE:
                        break
            leave(own, low, high, kept, marks, met, lists)
            all_met += met
        return all_met, looked

    return rows


def _merging(found: Found) -> Callable[..., Any]:
    third, pair = found.third, found.pair

    @inner
    def both(first, second, begin, here, there, targets, lists, state):
        """Walk the rows of two neighbours side by side, as far as the smaller of the two."""
        met = np.int64(0)
        one, other = targets[begin], targets[there]
        while True:  # the row of `second` has `first`, which is larger, so both walks end inside
            met += np.int64(one == other)
            if one == other:
                third(first, second, np.int64(one), lists, state)
            step = np.int64(one <= other)
            there += np.int64(other <= one)
            begin += step
            if begin == here:
                break
            one, other = targets[begin], targets[there]
            if other >= second:
                break
        pair(first, second, met, lists)
        return met

    @inner
    def rows(begin, end, graph, lists, state):
        targets = graph.targets
        met = np.int64(0)
        looked = np.int64(0)
        for first in range(begin, end):
            low, high = np.int64(graph.offsets[first]), np.int64(graph.offsets[first + 1])
            for slot in range(low + 1, high):
                second = np.int64(targets[slot])
                if second >= first:
                    break
                there = np.int64(graph.offsets[second])
                met += both(first, second, low, slot, there, targets, lists, state)
                looked += slot - low
        return met, looked

    return rows


# ---------------------------------------------------------------------- sections


@inner
def _as_it_is(rank, threads, control, graph, lists, turn):
    return turn


@inner
def publish_nothing(state, total):
    """Keep no total."""


def publishing(place: int) -> Callable[..., Any]:
    """Return what stores the total in the field at `place`."""

    @inner
    def publish(state, total):
        state[place][0] = total

    return publish


def _summed(
    ready: Callable[..., Any], visit: Callable[..., Any], publish: Callable[..., Any], times: int
) -> Callable[..., Any]:
    """Return a section that adds up what threads find; every triangle is found `times` times."""

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        began, lists = nanoseconds(), work.lists
        turn = ready(rank, threads, control, graph, lists, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        count, rows = graph.num_vertices, lists.rows
        met = np.int64(0)
        looked = np.int64(0)
        begin = claim(control, WORK + turn % 3, rank, rows)
        while begin < count:
            end = min(count, begin + rows)
            more, entries = visit(begin, end, rank, control, graph, lists, state, turn)
            met += more
            looked += entries
            begin = claim(control, WORK + turn % 3, rank, rows)
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, met)
        atomics.store(stats, rank * STATS_WORDS + 1, looked)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            _add_up(stats, threads, front)
            publish(state, front[EDGES] // times)
            front[BEFORE] = count
            tell(work, front, rank, INTERSECT, began)
        return finish(control, rank, threads, turn)

    return section


@inner
def _add_up(stats, threads, front):
    front[EDGES] = 0
    front[VISITED] = 0
    front[ATOMICS] = 0
    for thread in range(threads):
        front[EDGES] += atomics.load(stats, thread * STATS_WORDS)
        front[VISITED] += atomics.load(stats, thread * STATS_WORDS + 1)


def _per_vertex(counted: Callable[..., Any], functor: Callable[..., Any]) -> Callable[..., Any]:
    """Return a section that hands `functor` every vertex with what `counted` counts there."""

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        lists = work.lists
        prepare(control, rank, turn)
        first, last = share(graph.num_vertices, rank, threads)
        for place in range(first, last):
            lists.counts[place] = 0
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        turn = counted(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        moved = lists.method == BY_DEGREE
        for vertex in range(first, last):
            place = np.int64(lists.place[vertex]) if moved else vertex
            functor(vertex, lists.counts[place], state)
        return finish(control, rank, threads, turn)

    return section

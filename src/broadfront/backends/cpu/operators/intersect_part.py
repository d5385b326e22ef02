"""Intersect on one of many devices, which looks beyond its own vertices.

Every device writes the lists of its own vertices, and gets those of its copies from their owners
(see `part_lists`). A triangle is found at its corner of smallest degree, by the device that owns
that corner; all three are known there. The common neighbours of an edge are counted by the device
that owns its end of smaller id: the longer list of the two is marked, once for all its edges, and
the shorter one is read.

Invariant: as on one device, all marks are zero between rows, also when a run is stopped, and sums
are of integers. Every triangle and every edge is found by one device only.

References
----------
Arifuzzaman, Khan, Marathe: PATRIC: a parallel algorithm for counting triangles in massive networks
(CIKM 2013).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE, NO_MORE, claim, nanoseconds
from broadfront.backends.cpu.device.growing import EXCHANGED
from broadfront.backends.cpu.operators.common_neighbours import LOOK_EVERY
from broadfront.backends.cpu.operators.frontier import (
    ATOMICS,
    BEFORE,
    ITERATION,
    STATS_WORDS,
    VISITED,
    WORK,
    finish,
    is_noted,
    log_mail,
    note,
    prepare,
    share,
)
from broadfront.backends.cpu.operators.intersect import (
    Found,
    add_marks,
    count_marks,
    count_pair,
    count_third,
    marking,
    pass_pair,
    pass_third,
    publish_nothing,
    publishing,
    take_counts,
    unmark,
)
from broadfront.backends.cpu.operators.orient import HUB_ROWS, first_from
from broadfront.backends.cpu.operators.part_lists import kept_in, own_lists
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Intersect
from broadfront.pointers import shifted
from broadfront.report.ways import INTERSECT

Section = Callable[..., Any]


class IntersectCrossing(NamedTuple):
    """What an `Intersect` needs that meets other devices while it runs, as compiled functions."""

    is_ghost: Callable[..., Any]
    """``is_ghost(vertex, graph)`` tells whether a local vertex is a copy."""
    item: int
    """The size of a position in bytes."""
    degrees: Section
    """Brings the degrees of vertices to their copies."""
    lists: Section
    """Brings the lists of vertices to their copies."""
    counts: Section
    """Adds what was counted at copies to the counts at owners."""
    agree: Callable[..., Any]
    """``agree(rank, threads, control, work, front, turn, met)`` returns turn, and all met."""


def intersect_part(operator: Intersect, total: int | None, crossing: IntersectCrossing) -> Section:
    """Return the section of an `Intersect`; `total` is the place of the field of its total."""
    publish = publish_nothing if total is None else publishing(total)
    if operator.functor is None:
        return _triangles(Found(add_marks, unmark, pass_third, pass_pair), crossing, publish)
    functor = compile_functor(operator.functor)
    if operator.each == "edge":
        return _summed(_edges(functor, crossing), _positions, True, crossing, publish, 3)
    if operator.each == "triangle":
        return _triangles(_telling(functor), crossing, publish)
    counting = Found(count_marks, take_counts, count_third, count_pair)
    return _per_vertex(_triangles(counting, crossing, publish), functor, crossing)


# ---------------------------------------------------------------------- what is found


def _telling(functor: Callable[..., Any]) -> Found:
    """Return what calls `functor` with every triangle."""

    @inner
    def scan(first, second, begin, end, kept, marks, lists, state):
        met = np.int64(0)
        for slot in range(begin, end):
            third = np.int64(kept[slot])
            if marks[third] != 0:
                met += 1
                functor(first, second, third, state)
        return met

    return Found(scan, unmark, pass_third, pass_pair)


def _triangles(found: Found, crossing: IntersectCrossing, publish: Callable[..., Any]) -> Section:
    """Return a section that finds all triangles whose lowest corner is an own vertex."""
    row = marking(found)

    @inner
    def visit(begin, end, rank, control, graph, lists, kept, state, turn):
        met = np.int64(0)
        looked = np.int64(0)
        marks = shifted(lists.marks, rank * graph.num_vertices)
        for place in range(begin, end):
            own = np.int64(graph.members[place])
            more, entries = row(
                own, own + 1, lists.start, kept, marks, rank, control, lists, state, turn
            )
            met += more
            looked += entries
        return met, looked

    return _summed(visit, _owned, False, crossing, publish, 1)


def _edges(functor: Callable[..., Any], crossing: IntersectCrossing) -> Callable[..., Any]:
    """Return what hands `functor` the edges between some vertices and those of shorter lists."""
    is_ghost = crossing.is_ghost

    @inner
    def tell_edge(first, second, common, graph, state):
        low, high = np.int64(graph.offsets[first]), np.int64(graph.offsets[first + 1])
        functor(first, second, first_from(graph.targets, low, high, second), common, state)

    @inner
    def row(own, low, high, rank, control, graph, lists, kept, marks, state, turn):
        met = np.int64(0)
        looked = np.int64(0)
        rest = np.int64(LOOK_EVERY)
        for slot in range(low, high):
            marks[kept[slot]] = 1
        for slot in range(low, high):
            other = np.int64(kept[slot])
            begin, end = lists.start[other], lists.end[other]
            if end - begin > high - low or (end - begin == high - low and other > own):
                continue
            own_first = state.ids[own] < state.ids[other]
            if is_ghost(own if own_first else other, graph):
                continue
            common = np.int64(0)
            for entry in range(begin, end):
                common += np.int64(marks[kept[entry]])
            if own_first:
                tell_edge(own, other, common, graph, state)
            else:
                tell_edge(other, own, common, graph, state)
            met += common
            looked += end - begin
            if looked > rest:
                rest = looked + LOOK_EVERY
                if claim(control, WORK + turn % 3, rank, 0) == NO_MORE:
                    break
        for slot in range(low, high):
            marks[kept[slot]] = 0
        return met, looked

    @inner
    def visit(begin, end, rank, control, graph, lists, kept, state, turn):
        met = np.int64(0)
        looked = np.int64(0)
        marks = shifted(lists.marks, rank * graph.num_vertices)
        for own in range(begin, end):
            low, high = lists.start[own], lists.end[own]
            more, entries = row(
                own, low, high, rank, control, graph, lists, kept, marks, state, turn
            )
            met += more
            looked += entries
        return met, looked

    return visit


# ---------------------------------------------------------------------- sections


@inner
def _owned(graph):
    return np.int64(graph.owned)


@inner
def _positions(graph):
    return np.int64(graph.num_vertices)


@inner
def _log_before(work, front):
    """Note what had been sent before, if no operator of this iteration has."""
    if not is_noted(work, front):
        log_mail(work.mail, front[ITERATION])


def _summed(
    visit: Callable[..., Any],
    count_of: Callable[..., Any],
    whole_rows: bool,
    crossing: IntersectCrossing,
    publish: Callable[..., Any],
    times: int,
) -> Section:
    """Return a section that adds up what is found; every triangle is found `times` times.

    ``visit(begin, end, ...)`` looks at some of the ``count_of(graph)`` rows. The total over all
    devices is published by the first one, and zero by the others.
    """
    write = own_lists(crossing.item, whole_rows, crossing.degrees)
    bring, agree = crossing.lists, crossing.agree

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        began, account = nanoseconds(), work.mail.account
        exchanged = account[EXCHANGED]
        if rank == 0:
            _log_before(work, front)
        turn = write(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        turn = bring(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        began += account[EXCHANGED] - exchanged  # which is counted already
        lists, kept = work.lists, kept_in(work.mail, graph)
        count = count_of(graph)
        met = np.int64(0)
        looked = np.int64(0)
        begin = claim(control, WORK + turn % 3, rank, HUB_ROWS)
        while begin < count:
            end = min(count, begin + HUB_ROWS)
            more, entries = visit(begin, end, rank, control, graph, lists, kept, state, turn)
            met += more
            looked += entries
            begin = claim(control, WORK + turn % 3, rank, HUB_ROWS)
        stats = shifted(work.stats, (turn & 1) * LINE)
        atomics.store(stats, rank * STATS_WORDS, met)
        atomics.store(stats, rank * STATS_WORDS + 1, looked)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        met = np.int64(0)
        if rank == 0:
            met = _add_up(stats, threads, front)
            front[BEFORE] = graph.owned
            note(work, front, rank, INTERSECT, began)
        turn, all_met = agree(rank, threads, control, work, front, turn, met)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        if rank == 0:
            publish(state, all_met // times if graph.device == 0 else np.int64(0))
        return finish(control, rank, threads, turn)

    return section


@inner
def _add_up(stats, threads, front):
    met = np.int64(0)
    front[VISITED] = 0
    front[ATOMICS] = 0
    for thread in range(threads):
        met += atomics.load(stats, thread * STATS_WORDS)
        front[VISITED] += atomics.load(stats, thread * STATS_WORDS + 1)
    return met


def _per_vertex(
    counted: Section, functor: Callable[..., Any], crossing: IntersectCrossing
) -> Section:
    """Return a section that hands `functor` every own vertex with what all devices count there."""
    bring = crossing.counts

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        lists = work.lists
        prepare(control, rank, turn)
        first, last = share(graph.num_vertices, rank, threads)
        for position in range(first, last):
            lists.counts[position] = 0
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        turn = counted(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        turn = bring(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        prepare(control, rank, turn)
        first, last = share(graph.owned, rank, threads)
        for place in range(first, last):
            vertex = np.int64(graph.members[place])
            functor(vertex, lists.counts[vertex], state)
        return finish(control, rank, threads, turn)

    return section

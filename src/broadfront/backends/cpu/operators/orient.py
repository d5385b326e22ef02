"""Every edge kept once, at one of its ends, so that every triangle is found once.

Either at its end of larger id, where the sorted rows of the graph serve as they are; or at its end
of smaller degree, where vertices get places in the order of falling degrees and rows are written
anew, by place, each holding the smaller places among its neighbours. The second keeps the lists of
hubs short; where degrees are even anyway the first has nothing to prepare.

Invariant: a place depends on the degrees and ids alone, not on the number of threads. Degrees count
up to one part in 32, which is enough for a list to have at most ``sqrt(33 / 32 * arcs)`` entries.

References
----------
Chiba, Nishizeki: Arboricity and subgraph listing algorithms (SIAM J. Computing 14, 1985).
"""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.cpu.device.control import CURSORS, LINE, claim, keep_pace_in
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators.frontier import TAIL, WORK, finish, prepare, share
from broadfront.bits import leading_zeros
from broadfront.graph.csr import Graph
from broadfront.kernel import inner, kernel
from broadfront.operators.intersect import METHODS, Intersect, refuse_intersecting

Array = NDArray[Any]

MERGE, BY_ID, BY_DEGREE = map(METHODS.index, ("merge", "by_id", "by_degree"))
SHORT = 8
"""Merge where the end of an edge has at most so many neighbours in the mean."""
UNEVEN = 2
"""Orient by degree where the mean square of degrees is more than this many squares of the mean."""

KEYS = 2048
"""Classes of degree: exact below 64, and then 32 for each doubling."""
COPIED_ROWS, HUB_ROWS, EVEN_ROWS, MERGED_ROWS = 256, 32, 512, 4096
"""Rows that a thread takes at a time, by what is done with them."""
SEARCHED = 128
"""Rows longer than this are searched by halving."""


class Lists(NamedTuple):
    """Memory for neighbour lists that hold every edge once, and for marks on vertices."""

    place: Array
    vertex: Array
    start: Array
    end: Array
    kept: Array
    tallies: Array
    marks: Array
    """For each thread an element per vertex; all zero between any two rows."""
    counts: Array
    method: int
    rows: int
    """Rows that a thread takes at a time."""
    chunk: int
    """Entries of `kept` that a thread takes at a time."""


def new_lists(workspace: Workspace, graph: Graph, threads: int, operator: Intersect) -> Lists:
    """Return the memory to intersect neighbour lists with."""
    refuse_intersecting(graph.directed, graph.has_parallel_edges)
    size, index = graph.num_vertices, graph.targets.dtype
    each = operator.each if operator.functor is not None else "total"
    method = operator.method
    way = _sensible_method(graph) if method is None else METHODS.index(method)
    copied = way == BY_DEGREE and each != "edge"
    places = size if copied else 1
    longest = isqrt(graph.num_arcs * 33 // 32) + 2
    chunk = max(4096, 16 * longest)  # a thread leaves less than `longest` of it unused
    room = graph.num_arcs // 2 * 16 // 15 + (threads + 1) * chunk if copied else 1
    marked = size * threads if way != MERGE or each == "edge" else 1
    mark = np.dtype(np.uint32 if each == "vertex" else np.uint8)
    return Lists(
        workspace.array("list place", places, index),
        workspace.array("list vertex", places, index),
        workspace.array("list start", places, index),
        workspace.array("list end", size if way != MERGE and each != "edge" else 1, index),
        workspace.arc_array("list kept", room, index),
        workspace.array("list tallies", 2 * threads * KEYS, np.int64),
        workspace.array(f"list marks {mark}", marked, mark),
        workspace.array("list counts", size if each == "vertex" else 1, np.int64),
        way,
        HUB_ROWS if each == "edge" else (MERGED_ROWS, EVEN_ROWS, HUB_ROWS)[way],
        chunk,
    )


def _sensible_method(graph: Graph) -> int:
    (method,) = graph.kept("intersect method", lambda: (_method_for(graph),))
    return int(method)


def _method_for(graph: Graph) -> int:
    arcs, squares = graph.num_arcs, float(_sum_of_squares(graph.offsets))
    if squares <= SHORT * arcs:
        return MERGE
    return BY_ID if squares * graph.num_vertices <= UNEVEN * float(arcs) ** 2 else BY_DEGREE


@kernel
def _sum_of_squares(offsets):
    squares = 0
    for vertex in range(len(offsets) - 1):
        degree = min(np.int64(offsets[vertex + 1] - offsets[vertex]), 0xFFFF)  # no overflow
        squares += degree * degree
    return squares


# ---------------------------------------------------------------------- by id


@inner
def end_at_own_id(rank, threads, graph, lists):
    """Find where, in each sorted row, the neighbours of smaller id end."""
    first, last = share(graph.num_vertices, rank, threads)
    targets = graph.targets
    for vertex in range(first, last):
        low, high = np.int64(graph.offsets[vertex]), np.int64(graph.offsets[vertex + 1])
        end = low
        if high - low > SEARCHED:
            end = first_from(targets, low, high, vertex)
        else:
            for edge in range(low, high):  # comparing all of them costs less than wrong guesses
                end += np.int64(targets[edge] < vertex)
        lists.end[vertex] = end


@inner
def first_from(targets, low, high, vertex):
    """Return where in a sorted row the first neighbour is that is not below `vertex`."""
    while low < high:
        middle = (low + high) >> 1
        if targets[middle] < vertex:
            low = middle + 1
        else:
            high = middle
    return low


# ---------------------------------------------------------------------- by degree


@inner
def _class(degree):
    shift = max(np.int64(0), 58 - np.int64(leading_zeros(np.uint64(degree))))
    return (shift << 5) + (degree >> shift)


@inner
def _tally(rank, threads, graph, tallies):
    """Count this thread's vertices of each class of degree."""
    mine = rank * KEYS
    for key in range(KEYS):
        tallies[mine + key] = 0
    first, last = share(graph.num_vertices, rank, threads)
    for vertex in range(first, last):
        degree = np.int64(graph.offsets[vertex + 1]) - np.int64(graph.offsets[vertex])
        tallies[mine + _class(degree)] += 1


@inner
def _give_places(rank, threads, graph, lists):
    """Give this thread's vertices their places: larger degrees first, then smaller ids."""
    tallies = lists.tallies
    slots = (threads + rank) * KEYS
    place = np.int64(0)
    for step in range(KEYS):
        key = KEYS - 1 - step
        for thread in range(threads):
            if thread == rank:
                tallies[slots + key] = place
            place += tallies[thread * KEYS + key]
    first, last = share(graph.num_vertices, rank, threads)
    for vertex in range(first, last):
        degree = np.int64(graph.offsets[vertex + 1]) - np.int64(graph.offsets[vertex])
        slot = slots + _class(degree)
        lists.place[vertex] = tallies[slot]
        lists.vertex[tallies[slot]] = vertex
        tallies[slot] += 1


@inner
def _write_rows(rank, control, graph, lists, turn):
    """Write the rows by place, each into what is left of this thread's chunk, or into a new one."""
    count, chunk = graph.num_vertices, lists.chunk
    place, kept, targets = lists.place, lists.kept, graph.targets
    slot, limit, page = np.int64(0), np.int64(0), np.int64(0)
    while True:
        begin = claim(control, WORK + turn % 3, rank, COPIED_ROWS)
        if begin >= count:
            return
        for own in range(begin, min(count, begin + COPIED_ROWS)):
            vertex = np.int64(lists.vertex[own])
            first = np.int64(graph.offsets[vertex])
            last = np.int64(graph.offsets[vertex + 1])
            if slot + min(last - first, own) >= limit:
                slot = atomics.add(control, CURSORS + LINE * (TAIL + turn % 3), chunk)
                limit = slot + chunk
            lists.start[own] = slot
            for edge in range(first, last):
                other = place[targets[edge]]
                kept[slot] = other
                slot += np.int64(other < own)
            lists.end[own] = slot
            page = keep_pace_in(control, page, last)


@inner
def oriented(rank, threads, control, graph, lists, turn):
    """Prepare the lists that the method asks for; return the turn after."""
    if lists.method == MERGE:
        return turn
    prepare(control, rank, turn)
    if lists.method == BY_ID:
        end_at_own_id(rank, threads, graph, lists)
        return finish(control, rank, threads, turn)
    _tally(rank, threads, graph, lists.tallies)
    turn = finish(control, rank, threads, turn)
    if turn < 0:
        return turn
    prepare(control, rank, turn)
    _give_places(rank, threads, graph, lists)
    turn = finish(control, rank, threads, turn)
    if turn < 0:
        return turn
    prepare(control, rank, turn)
    _write_rows(rank, control, graph, lists, turn)
    return finish(control, rank, threads, turn)

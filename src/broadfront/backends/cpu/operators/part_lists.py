"""The neighbour lists of a device's part: of its own vertices, and of its copies of others.

A common neighbour of an own vertex and a copy is a neighbour of the own one, so known here; hence
of the list of a copy only what the device knows is of use, and that is what its owner's message
leaves behind. All lists are local positions, one after the other in a box that the device keeps for
itself: boxes grow by what messages bring, and count towards the memory limit.

For triangles every edge is kept once, at its end of smaller degree in the whole graph, and of
smaller id where degrees are equal. For the common neighbours of edges lists are whole rows. Neither
holds the vertex itself, so self-loops do not count.

Invariant: all devices keep an edge at the same end, whoever owns its ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.device.control import claim
from broadfront.backends.cpu.device.mail import outgoing, reserve
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.operators.frontier import WORK, finish, prepare, share
from broadfront.backends.cpu.operators.orient import COPIED_ROWS
from broadfront.graph.csr import Graph
from broadfront.kernel import inlined, inner
from broadfront.operators.describe import Intersect, refuse_intersecting
from broadfront.pointers import at

Array = NDArray[Any]


class PartLists(NamedTuple):
    """Memory for the lists of a part, all but the lists themselves; an element per position."""

    start: Array
    end: Array
    degree: Array
    """The degree in the whole graph."""
    marks: Array
    """For each thread an element per position; all zero between any two rows."""
    counts: Array
    """Triangles at each position."""
    table: Array
    """Positions by id, see `broadfront.backends.cpu.exchange.known`."""
    table_bits: int


def new_part_lists(
    workspace: Workspace,
    size: int,
    graph: Graph,
    threads: int,
    operator: Intersect,
    relabelled: bool,
) -> PartLists:
    """Return the memory to intersect the neighbour lists of a part with so many positions."""
    refuse_intersecting(graph.directed, graph.has_parallel_edges)
    counts = operator.functor is not None and operator.each == "vertex"
    whole_rows = operator.functor is not None and operator.each == "edge"
    mark = np.dtype(np.uint32 if counts else np.uint8)
    bits = (2 * size).bit_length() if relabelled else 0
    return PartLists(
        workspace.array("list starts", size, np.int64),
        workspace.array("list ends", size, np.int64),
        workspace.array("list degrees", 1 if whole_rows else size, np.int64),
        workspace.array(f"list marks {mark}", size * threads, mark),
        workspace.array("list counts", size if counts else 1, np.int64),
        workspace.array("list table", 1 << bits, graph.targets.dtype),
        bits,
    )


@inner
def kept_in(mail, graph):
    """Return where the lists are; anew after each time that the box has grown."""
    return at(outgoing(mail, mail.device), graph.targets)


@inlined
def _by_degree(vertex, other, lists, state):
    here, there = lists.degree[vertex], lists.degree[other]
    return there > here or (there == here and state.ids[other] > state.ids[vertex])


@inlined
def _all_others(vertex, other, lists, state):
    return other != vertex


@inner
def _measure(rank, threads, graph, lists):
    first, last = share(graph.owned, rank, threads)
    for place in range(first, last):
        vertex = np.int64(graph.members[place])
        lists.degree[vertex] = np.int64(graph.offsets[vertex + 1] - graph.offsets[vertex])


@inner
def _measure_nothing(rank, threads, graph, lists):
    pass


def own_lists(item: int, whole_rows: bool, refresh: Callable[..., Any]) -> Callable[..., Any]:
    """Return the section that writes the lists of own vertices, and leaves others without.

    `item` is the size of a position, `refresh` the section that brings degrees to copies.
    """
    keeps = _all_others if whole_rows else _by_degree
    measure = _measure_nothing if whole_rows else _measure

    @inner
    def write(rank, control, graph, lists, state, kept, turn):
        """Write rows, some at a time, each after the one before from where the first row is."""
        offsets, targets = graph.offsets, graph.targets
        while True:
            begin = claim(control, WORK + turn % 3, rank, COPIED_ROWS)
            if begin >= graph.owned:
                return
            slot = np.int64(offsets[graph.members[begin]])
            for place in range(begin, min(graph.owned, begin + COPIED_ROWS)):
                vertex = np.int64(graph.members[place])
                lists.start[vertex] = slot
                for edge in range(np.int64(offsets[vertex]), np.int64(offsets[vertex + 1])):
                    other = np.int64(targets[edge])
                    kept[slot] = other
                    slot += np.int64(keeps(vertex, other, lists, state))
                lists.end[vertex] = slot

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        lists, mail = work.lists, work.mail
        prepare(control, rank, turn)
        first, last = share(graph.num_vertices, rank, threads)
        for position in range(first, last):
            lists.start[position] = 0
            lists.end[position] = 0
        measure(rank, threads, graph, lists)
        if rank == 0:
            reserve(control, mail, mail.device, np.int64(graph.offsets[graph.num_vertices]) * item)
        turn = finish(control, rank, threads, turn)
        if turn < 0:
            return turn
        if not whole_rows:
            turn = refresh(rank, threads, control, graph, state, in_state, work, front, turn)
            if turn < 0:
                return turn
        prepare(control, rank, turn)
        write(rank, control, graph, lists, state, kept_in(mail, graph), turn)
        return finish(control, rank, threads, turn)

    return section

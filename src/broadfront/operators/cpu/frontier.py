"""The frontier of a run, and what every section of a loop is handed.

A frontier is a queue of vertices without duplicates, or a bitmap; `PULLING` tells which. Each
thread keeps its own copy of the few numbers that describe it, and all copies are equal after every
meeting.

A section is a compiled function

    section(rank, threads, control, graph, state, in_state, work, front, turn) -> turn

that does its part of some work, meets the others once or more, counts `turn` up by the meetings,
and returns it; negative when the run is to stop. In meeting `turn` the cursors ``turn % 3`` are in
use, and those of the next meeting are being rewound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.devices.control import LINE, meet, nanoseconds, rewind
from broadfront.devices.workspace import Workspace
from broadfront.kernel import inner

Array = NDArray[Any]

SIZE, EDGES, PULLING, PARITY, UNEXPLORED, BEFORE, ITERATION, VISITED, ATOMICS, TIMES = range(10)
"""Places in a thread's description of the frontier."""
FRONT_WORDS = 2 * LINE
STATS_WORDS = 4 * LINE

LOCAL = 1024
"""Vertices that a thread gathers before it appends them to the shared queue."""
LOCAL_WORDS = LOCAL + 64

BLOCK = 1024
"""Vertices whose sums are added up first, so that no total depends on the number of threads."""
MOST_SUMS = 4

WORK, TAIL, SPARE, HUB_WORK = 0, 3, 6, 9
"""Cursors: what is claimed, where the next queue ends, where what is set aside or converted ends,
and what of that is claimed; three of each."""

HUB = 4096
"""A vertex with more edges than this is walked by all threads together."""

RECORD_ROWS = 1 << 16
RECORD_COLUMNS = 5
R_FRONTIER, R_EDGES, R_PULLING, R_BEGIN, R_END = range(RECORD_COLUMNS)


class Rows(NamedTuple):
    """The graph as kernels see it: rows of outgoing and of incoming arcs."""

    offsets: Array
    targets: Array
    in_offsets: Array
    in_targets: Array
    num_vertices: int
    most_degree: int


class Work(NamedTuple):
    """The memory of a run that is not part of its answer."""

    queue: Array
    other_queue: Array
    bits: Array
    other_bits: Array
    wanting: Array
    marks: Array
    local: Array
    stats: Array
    fronts: Array
    record: Array
    partials: Array
    hubs: Array
    sums: Array
    buckets: Any
    """The memory of a priority queue, or an empty tuple."""
    levels: Any
    """The order of vertices by level, or an empty tuple."""
    lists: Any
    """Neighbour lists to intersect, or an empty tuple."""
    offers: Any
    """What every vertex offers, and the tiles of the graph, or empty tuples."""


def new_work(
    workspace: Workspace,
    num_vertices: int,
    num_arcs: int,
    threads: int,
    vertex: Any,
    buckets: Any = (),
    levels: Any = (),
    lists: Any = (),
    offers: Any = (),
) -> Work:
    """Return the memory for a run; what must be zero is."""
    words = num_vertices // 64 + 2
    marks = workspace.array("marks", 2 * words, np.uint64)
    marks[:] = 0
    fronts = workspace.array("fronts", threads * FRONT_WORDS, np.int64)
    fronts[:] = 0
    return Work(
        workspace.array("queue", 2 * num_vertices + 64, vertex),
        workspace.array("other queue", 2 * num_vertices + 64, vertex),
        workspace.array("bits", words, np.uint64),
        workspace.array("other bits", words, np.uint64),
        workspace.array("wanting", words, np.uint64),
        marks,
        workspace.array("local", threads * LOCAL_WORDS, vertex),
        workspace.array("stats", threads * STATS_WORDS, np.int64),
        fronts,
        workspace.array("record", RECORD_ROWS * RECORD_COLUMNS, np.int64),
        workspace.array("partials", MOST_SUMS * (num_vertices // BLOCK + 1), np.float64),
        workspace.array("hubs", num_arcs // HUB + 1, vertex),
        workspace.array("sums", num_vertices + 1, np.int64),
        buckets,
        levels,
        lists,
        offers,
    )


@inner
def share(length, rank, threads):
    """Return this thread's part of ``0 .. length``, cut evenly."""
    return length * rank // threads, length * (rank + 1) // threads


@inner
def prepare(control, rank, turn):
    """Rewind what the next meeting will use; the first thing a section does."""
    if rank == 0:
        following = (turn + 1) % 3
        rewind(control, WORK + following)
        rewind(control, TAIL + following)
        rewind(control, SPARE + following)
        rewind(control, HUB_WORK + following)


@inner
def finish(control, rank, threads, turn):
    """Meet the others; return the next turn, negative when the run is to stop."""
    if meet(control, rank, threads, turn):
        return turn + 1
    return -turn - 1


@inner
def tell(work, front, rank, pulling, began):
    """Write the record of an iteration."""
    row = front[ITERATION]
    if rank == 0 and row < RECORD_ROWS:
        place = row * RECORD_COLUMNS
        work.record[place + R_FRONTIER] = front[BEFORE]
        work.record[place + R_EDGES] = front[VISITED]
        work.record[place + R_PULLING] = pulling
        work.record[place + R_BEGIN] = began
        work.record[place + R_END] = nanoseconds()

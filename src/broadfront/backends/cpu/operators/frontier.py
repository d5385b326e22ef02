"""The frontier of a run, and what every section of a loop is handed.

A frontier is a queue of vertices, or a bitmap; `PULLING` tells which. Each thread keeps its own
copy of the few numbers that describe it, and all copies are equal after every meeting. A vertex may
be in a queue twice where two threads improved it at once; what does not fit goes into the bitmap
`spill`, and the queue is then made anew without duplicates.

A section is a compiled function

    section(rank, threads, control, graph, state, in_state, work, front, turn) -> turn

that does its part of some work, meets the others once or more, counts `turn` up by the meetings,
and returns it; negative when the run is to stop. In meeting `turn` the cursors ``turn % 3`` are in
use, and those of the next meeting are being rewound.
"""

from __future__ import annotations

from operator import mul
from typing import Any, NamedTuple

from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from broadfront.backends.cpu.device.control import LINE, meet, nanoseconds, rewind
from broadfront.backends.cpu.device.growing import viewed
from broadfront.backends.cpu.device.mail import write_log
from broadfront.backends.cpu.device.timeline import FINE, row_of
from broadfront.kernel import inner
from broadfront.pointers import shifted
from broadfront.report.ways import DENSE

Array = NDArray[Any]

(
    SIZE, EDGES, PULLING, PARITY, UNEXPLORED, BEFORE, ITERATION, VISITED, ATOMICS, TIMES, MARKS,
    ALL_SIZE, ALL_EDGES, ALL_BEFORE, MESSAGE, AGREEMENT, PHASE, TURN, SMALL, CLOCK, SPAN, BASE,
    OWN, AGAIN, TRIED, SPAN_EDGES, SPAN_AGAIN,
) = range(27)  # fmt: skip
ROOM, NEED = 27, 30
ARCS, SIDE, LEVEL, KEPT, KEPT_EDGES, WANTED = range(33, 39)
"""Places in a thread's description of the frontier; those of `ALL` count all devices, the next two
number what has been sent and agreed upon. `ROOM` and `NEED` have a place for each growing array:
elements that it has, and that it had to have. `PHASE` and `TIMES` tell where in the program the run
is, so that a loop that was left can be entered again. `TURN` to `CLOCK` serve `solo`, those until
`ROOM` `prioritised`: a span of buckets, the one served last, the device's next, and edges of
vertices served before. `ARCS` is what is `UNEXPLORED` for a frontier made anew, `SIDE` tells
along which arcs its `EDGES` are (`sides`), `LEVEL` is the one whose values are sent; the last three
are vertices that a thread has taken from runs, their edges, and places that the queue must have."""
FRONT_WORDS = 5 * LINE
STATS_WORDS = 4 * LINE

LOCAL = 1024
"""Vertices that a thread gathers before it appends them to the shared queue."""
LOCAL_WORDS = LOCAL + 64
MINE = LOCAL + 8
"""After these, where in the queue it has last put some."""

BLOCK = 1024
"""Vertices whose sums are added up first, so that no total depends on the number of threads."""
MOST_SUMS = 4

WORK, TAIL, SPARE, HUB_WORK = 0, 3, 6, 9
"""Cursors: what is claimed, where the next queue ends, where what is set aside or converted ends,
and what of that is claimed; three of each."""

HUB = 4096
"""A vertex with more edges than this is walked by all threads together."""

SLACK = 64
"""Places of a queue beyond one for each vertex."""

QUEUE, OTHER_QUEUE, SUMS = range(3)
"""The arrays that grow: two queues in turns, and the edges before each vertex of a queue."""
GROWING = 3
MOST, GRANTED, ITEM = 0, 1, 2
"""What threads tell each other of these: places that a queue can come to need, places that an array
has been given, and from there on the bytes of an element of each."""

COLUMNS = 8
R_FRONTIER, R_EDGES, R_WAYS, R_ATOMICS, R_BEGIN, R_END, R_COUNT, R_LATEST = range(COLUMNS)
"""Columns of the record, with the rows of `broadfront.backends.cpu.device.timeline`; the last two
are the number of iterations until the one that was written last, and the frontier of that one
alone."""


class Numbers(NamedTuple):
    """Numbers of a program that its loop reads, so that others do not compile another."""

    limits: tuple[int, ...]
    """How often phases and rounds run at most, in order."""
    fills: tuple[Any, ...]
    """For each field what it is filled with."""
    identities: tuple[Any, ...]
    """For each `Reduce` where combining starts."""


class Rows(NamedTuple):
    """The graph as kernels see it: rows of outgoing and of incoming arcs.

    Of a part of a graph, `num_vertices` counts the copies of other devices' vertices too, `owned`
    does not, and `all_vertices` counts those of the whole graph. `members` are the vertices owned;
    None stands for the first ones. `owner` tells the device of each vertex where that is not plain
    from the order. `numbers` are those of the program that runs.
    """

    offsets: Array
    targets: Array
    in_offsets: Array
    in_targets: Array
    num_vertices: int
    most_degree: int
    owned: int
    all_vertices: int
    members: Array | None = None
    owner: Array | None = None
    device: int = 0
    numbers: Any = ()


class Work(NamedTuple):
    """The memory of a run that is not part of its answer.

    `spill` and `record` are all zero between runs. Of the arrays that grow there are addresses;
    `queues` says how compiled code finds them.
    """

    growing: Array
    rooms: Array
    account: Array
    checks: int
    """0 where nothing has to grow, and nobody looks whether it has."""
    spill: Array
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
    mail: Any = ()
    """What connects the device to others, or an empty tuple."""
    buckets: Any = ()
    """The memory of a priority queue, or an empty tuple."""
    levels: Any = ()
    """The order of vertices by level, or an empty tuple."""
    lists: Any = ()
    """Neighbour lists to intersect, or an empty tuple."""
    offers: Any = ()
    """What every vertex offers, and the tiles of the graph, or empty tuples."""
    trees: Any = ()
    """What vertices are united in, or an empty tuple."""

    @property
    def queue(self) -> Array:
        """The first queue, as Python sees it; valid until it grows."""
        return viewed(self.growing, QUEUE, int(self.fronts[ROOM + QUEUE]), self.local.dtype)

    @property
    def other_queue(self) -> Array:
        """The second queue."""
        length = int(self.fronts[ROOM + OTHER_QUEUE])
        return viewed(self.growing, OTHER_QUEUE, length, self.local.dtype)

    @property
    def growing_bytes(self) -> int:
        """Bytes of the arrays that grow, as far as this run has asked for them."""
        places = self.fronts[ROOM : ROOM + GROWING].tolist()
        items = self.rooms[ITEM : ITEM + GROWING].tolist()
        return sum(map(mul, places, items))


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


def log_mail(mail, iteration):
    """Note what has been sent until an iteration; nothing where there is only one device."""


@overload(log_mail)
def _log_mail(mail, iteration):
    if isinstance(mail, types.BaseNamedTuple):
        return lambda mail, iteration: write_log(mail, iteration)
    return lambda mail, iteration: None


@inner
def tell(work, front, rank, way, began):
    """Write what an operator did into the record of its iteration, which may have several."""
    if rank == 0:
        log_mail(work.mail, front[ITERATION])
    note(work, front, rank, way, began)


@inner
def note(work, front, rank, way, began):
    """Do as `tell`, but for what has been sent; leave the time in `CLOCK`.

    A row adds up its iterations; of several operators in one, the last that is not dense tells the
    frontier. Where rows cover many iterations, the clock is read only now and then.
    """
    if rank != 0:
        return
    iteration, record = front[ITERATION], shifted(work.record, row_of(front[ITERATION]) * COLUMNS)
    if record[R_END] == 0:
        record[R_BEGIN] = began
    first = record[R_COUNT] != iteration + 1
    if first:
        record[R_COUNT] = iteration + 1
        record[R_LATEST] = 0
    if first or way != DENSE:
        record[R_FRONTIER] += front[BEFORE] - record[R_LATEST]
        record[R_LATEST] = front[BEFORE]
    record[R_EDGES] += front[VISITED]
    record[R_WAYS] |= way
    record[R_ATOMICS] += front[ATOMICS]
    if iteration < FINE or iteration & 7 == 7:
        front[CLOCK] = nanoseconds()
    record[R_END] = front[CLOCK]


@inner
def is_noted(work, front):
    """Tell whether an operator of this iteration is in the record."""
    place = row_of(front[ITERATION]) * COLUMNS
    return work.record[place + R_COUNT] == front[ITERATION] + 1

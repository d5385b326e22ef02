"""The memory that the operators of one device work in, whether it has all of a graph or a part.

Each operator's lowering says which of the arrays that operators share it needs in full, and makes
what it works in alone. Of the rest there is an element.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.growing import ACCOUNT_WORDS, HELD
from broadfront.backends.cpu.device.timeline import ROWS
from broadfront.backends.cpu.lowering.lowered import Portion, Uses
from broadfront.backends.cpu.lowering.table import lowerings, used_by
from broadfront.backends.cpu.operators.frontier import (
    ARCS,
    BLOCK,
    COLUMNS,
    FRONT_WORDS,
    GROWING,
    HUB,
    ITEM,
    LOCAL_WORDS,
    MOST_SUMS,
    ROOM,
    SLACK,
    STATS_WORDS,
    Work,
)
from broadfront.devices.profile import MINIMAL, MemoryProfile
from broadfront.execution.program import Program


def work_for(
    program: Program,
    portion: Portion,
    starting: int,
    mail: Any = (),
    memory: MemoryProfile = MINIMAL,
    anew: bool = False,
) -> Work:
    """Return the memory for a run that starts from so many vertices; what must be zero is.

    The program's dtypes are settled. Queues begin as `memory` says; `anew` asks for fresh ones.
    """
    own: dict[str, Any] = {}
    for lowering in lowerings(program):
        own.update(lowering.memory(program, portion))
    uses = used_by(program, portion.several)
    vertex, threads, size = portion.graph.targets.dtype, portion.threads, portion.positions
    words = size // 64 + 2
    most, begin = _queues(uses, portion, starting, memory)
    items = (vertex.itemsize, vertex.itemsize, 8)
    space = portion.space

    def array(name: str, wanted: bool, length: int, dtype: Any = np.int64) -> Any:
        return space.array(name, length if wanted else 1, dtype)

    fronts = space.array("fronts", (threads + 1) * FRONT_WORDS, np.int64)
    fronts[:] = 0
    rooms = space.array("rooms", ITEM + GROWING, np.int64)
    rooms[: ITEM + GROWING] = [most, 0, *items]
    for slot, places in enumerate(begin):
        fronts[ROOM + slot :: FRONT_WORDS] = places
    fronts[ARCS::FRONT_WORDS] = portion.arcs
    account = mail.account if mail else np.zeros(ACCOUNT_WORDS, np.int64)
    sizes = [places * item for places, item in zip(begin, items, strict=True)]
    account[HELD] += sum(sizes)
    marks = array("marks", uses.marks, 2 * words, np.uint64)
    marks[: 2 * words] = 0
    return Work(
        space.growing(sizes, anew),
        rooms,
        account,
        0 if memory.fixed else 1,
        array("spill", uses.marks, words, np.uint64),
        array("bits", uses.bitmaps, words, np.uint64),
        array("other bits", uses.bitmaps, words, np.uint64),
        array("wanting", uses.bitmaps, words, np.uint64),
        marks,
        array("local", uses.gathers, threads * LOCAL_WORDS, vertex),
        array("stats", True, threads * STATS_WORDS),
        fronts,
        space.sparse_array("record", ROWS * COLUMNS, np.int64),
        array("partials", uses.partials, MOST_SUMS * (size // BLOCK + 1), np.float64),
        array("hubs", uses.hubs, portion.arcs // HUB + 1, vertex),
        mail,
        **own,
    )


def _queues(
    uses: Uses, portion: Portion, starting: int, memory: MemoryProfile
) -> tuple[int, tuple[int, int, int]]:
    """Return the places that a queue can come to need, and those that each array begins with."""
    size = portion.positions
    most = SLACK + (size if uses.gathers else starting)
    if portion.several and uses.enters_again:
        most += portion.shared  # each peer may make a vertex enter once more
    return most, (
        _room(memory, most, starting + SLACK, size),
        _room(memory, most, SLACK, size) if uses.next_queue else 1,
        _room(memory, most + 1, SLACK, size) if uses.sums else 1,
    )


def _room(memory: MemoryProfile, most: int, least: int, size: int) -> int:
    """Return the places that a queue begins with."""
    if memory.fixed:
        return most
    return min(most, max(least, ceil(memory.queue * size) + SLACK))

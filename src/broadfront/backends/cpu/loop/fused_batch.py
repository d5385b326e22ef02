"""All phases of a program as one compiled loop over many sources, each in rows of its own.

There is no Python between the sources; each thread takes one at a time and runs it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.backends.contract import AT_SOURCE, GIVEN
from broadfront.backends.cpu.device.control import assemble
from broadfront.backends.cpu.loop.fused import whole_of
from broadfront.backends.cpu.lowering.lowered import Loop
from broadfront.backends.cpu.operators.frontier import (
    ALL_BEFORE,
    ALL_EDGES,
    ALL_SIZE,
    BEFORE,
    EDGES,
    ITERATION,
    PARITY,
    PHASE,
    PULLING,
    SIDE,
    SIZE,
    TIMES,
    UNEXPLORED,
)
from broadfront.backends.cpu.operators.queues import queue_at
from broadfront.execution.program import Program
from broadfront.kernel import inner, kernel
from broadfront.pointers import at_row, makers

Section = Callable[..., Any]


class Batch(NamedTuple):
    """What the threads of a batch share; `worker` tells them apart."""

    sources: NDArray[np.int64]
    turn: NDArray[np.int64]
    """How many sources have been taken."""
    spans: NDArray[np.int64]
    """For each source who ran it, and its first and last iteration in that one's record."""
    lengths: tuple[int, ...]
    """For each field the length of a row."""
    begins: tuple[int, ...]
    first: tuple[NDArray[Any], ...]
    """For each field the values at the sources."""
    worker: int


def fused_batch(program: Program, names: tuple[str, ...]) -> Section:
    """Return the loop that runs a program from many sources, each in rows of its own."""
    of_each = Loop(program, names)
    whole, marked = whole_of(of_each), of_each.has_marks
    pointer, pointers = makers()
    begin = _each([_beginning(place) for place in range(len(program.fields))])

    def broadfront_batch(control, graph, state, in_state, work, batch):
        lines, rows, words = pointers(work), pointers(graph), pointer(control)
        front = lines.fronts
        turn = np.int64(0)
        assemble(words, 0)
        while turn >= 0:
            row = atomics.add(pointer(batch.turn), 0, 1)
            if row >= len(batch.sources):
                break
            source = np.int64(batch.sources[row])
            here = at_row(pointers(state), row, batch.lengths)
            there = at_row(pointers(in_state), row, batch.lengths)
            begin(here, source, row, batch, rows.numbers.fills)
            _start(lines, rows, front, source, marked)
            batch.spans[row, 0] = batch.worker
            batch.spans[row, 1] = front[ITERATION]
            turn = whole(np.int64(0), np.int64(1), words, rows, here, there, lines, front, turn)
            batch.spans[row, 2] = front[ITERATION]
        return front[ITERATION]

    return kernel(broadfront_batch)


@inner
def _start(work, graph, front, source, marked):
    """Put a single source into the frontier, and forget all of the run before."""
    for word in range(2 * (graph.num_vertices // 64 + 2) if marked else 0):
        work.marks[word] = np.uint64(0)
    queue_at(work, False)[0] = source
    front[SIZE] = 1
    front[ALL_SIZE] = 1
    front[EDGES] = np.int64(graph.offsets[source + 1]) - np.int64(graph.offsets[source])
    front[ALL_EDGES] = front[EDGES]
    front[PULLING] = 0
    front[SIDE] = 0
    front[PARITY] = 0
    front[UNEXPLORED] = np.int64(graph.offsets[graph.num_vertices])
    front[BEFORE] = 0
    front[ALL_BEFORE] = 0
    front[PHASE] = 0
    front[TIMES] = 0


def _beginning(place: int) -> Section:
    """Return the function that sets a row of a field to what it is at the start."""
    pointer, _ = makers()

    @inner
    def begin(state, source, row, batch, fills):
        if batch.begins[place] == GIVEN:
            return
        out, value = state[place], fills[place]
        for position in range(batch.lengths[place]):
            out[position] = value
        if batch.begins[place] == AT_SOURCE:
            out[source] = pointer(batch.first[place])[row]

    return begin


def _each(functions: Sequence[Section]) -> Section:
    first, *rest = functions
    if not rest:
        return first
    others = _each(rest)

    @inner
    def all_of_them(state, source, row, batch, fills):
        first(state, source, row, batch, fills)
        others(state, source, row, batch, fills)

    return all_of_them

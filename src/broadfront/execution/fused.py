"""All phases of a program as one compiled loop, which every thread of a device runs.

Sections are chained by closures: a chain of two sections is a section, a repeated section is a
section, and the loop calls the last of them. There is no Python between iterations, and none
between the sources of a batch, of which each thread takes one at a time and runs it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.devices.control import FIRST, LINE, assemble, nanoseconds
from broadfront.execution.across import Across
from broadfront.execution.luggage import taken_home, unpacked
from broadfront.execution.program import Phase, Program
from broadfront.execution.refusals import refuse_writes
from broadfront.functors import compile_functor
from broadfront.kernel import inner, kernel
from broadfront.operators.cpu.advance import advance
from broadfront.operators.cpu.compute import compute, once
from broadfront.operators.cpu.frontier import (
    ALL_BEFORE,
    ALL_EDGES,
    ALL_SIZE,
    BEFORE,
    CLOCK,
    EDGES,
    FRONT_WORDS,
    ITERATION,
    PARITY,
    PHASE,
    PULLING,
    SIZE,
    SMALL,
    TIMES,
    UNEXPLORED,
    VISITED,
    finish,
    log_mail,
    prepare,
)
from broadfront.operators.cpu.intersect import intersect
from broadfront.operators.cpu.intersect_part import intersect_part
from broadfront.operators.cpu.levels import levels
from broadfront.operators.cpu.new_frontier import chosen
from broadfront.operators.cpu.over_frontier import filtered, over_frontier
from broadfront.operators.cpu.prioritised import prioritised
from broadfront.operators.cpu.queues import as_queue, queue_at
from broadfront.operators.cpu.reduce import reduce
from broadfront.operators.cpu.solo import (
    begin_solos,
    count_own,
    go_alone,
    hand_over,
    look_around,
    stays_small,
    take_over,
)
from broadfront.operators.cpu.unite import unite
from broadfront.operators.describe import (
    Advance,
    Compute,
    Field,
    Filter,
    Intersect,
    Levels,
    Once,
    Operator,
    Reduce,
    Unite,
)
from broadfront.pointers import at_row, makers, reaching_back, shifted

Section = Callable[..., Any]

GIVEN, FILLED, AT_SOURCE = range(3)
"""What the rows of a field are at the start: as given, filled, or filled but for the source."""


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


def fused(
    program: Program, names: tuple[str, ...], large: bool = False, across: Across | None = None
) -> Section:
    """Return the loop of a program, its dtypes settled, whose state has the attributes `names`.

    `large` tells whether it is for graphs that are worth a layout of their own; with `across` it is
    the loop of each of several devices.
    """
    whole = _whole(program, names, large, across)
    pointer, pointers = makers()

    def broadfront_loop(rank, threads, control, graph, state, in_state, work):
        if not assemble(reaching_back(pointer(control), FIRST), rank):
            return np.int64(0)
        lines = pointers(work)
        front = shifted(lines.fronts, rank * FRONT_WORDS)
        whole(
            rank, threads, reaching_back(pointer(control), FIRST), pointers(graph),
            pointers(state), pointers(in_state), lines, front, np.int64(0),
        )  # fmt: skip
        return front[ITERATION]

    return kernel(broadfront_loop)


def fused_batch(program: Program, names: tuple[str, ...]) -> Section:
    """Return the loop that runs a program from many sources, each in rows of its own."""
    whole = _whole(program, names, False)
    marked = has_plain_advance(program)
    pointer, pointers = makers()
    begin = _each([_beginning(*field) for field in enumerate(program.fields.values())])

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
            begin(here, source, row, batch)
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
    front[PARITY] = 0
    front[UNEXPLORED] = np.int64(graph.offsets[graph.num_vertices])
    front[BEFORE] = 0
    front[ALL_BEFORE] = 0
    front[PHASE] = 0
    front[TIMES] = 0


def _beginning(place: int, field: Field) -> Section:
    """Return the function that sets a row of a field to what it is at the start."""
    value = np.dtype(field.dtype).type(field.fill)

    @inner
    def begin(state, source, row, batch):
        if batch.begins[place] == GIVEN:
            return
        out = state[place]
        for position in range(batch.lengths[place]):
            out[position] = value
        if batch.begins[place] == AT_SOURCE:
            out[source] = batch.first[place][row]

    return begin


def _each(functions: Sequence[Section]) -> Section:
    first, *rest = functions
    if not rest:
        return first
    others = _each(rest)

    @inner
    def all_of_them(state, source, row, batch):
        first(state, source, row, batch)
        others(state, source, row, batch)

    return all_of_them


def _whole(
    program: Program, names: tuple[str, ...], large: bool, across: Across | None = None
) -> Section:
    refuse_writes(program)
    operators = {operator for phase in program.all_phases for operator in phase.step}
    made = {operator: _section(operator, program, names, large, across) for operator in operators}
    phases = [_phase(phase, made) for phase in program.all_phases]
    if len(phases) > 1:
        phases = [_numbered(phase, number) for number, phase in enumerate(phases)]
    return _chained(phases if across is None else [unpacked, *phases, taken_home])


def has_plain_advance(program: Program) -> bool:
    """Tell whether some `Advance` has no priority: then there are marks on vertices."""
    return any(isinstance(step, Advance) and step.priority is None
               for phase in program.all_phases for step in phase.step)  # fmt: skip


def may_pull(program: Program) -> bool:
    """Tell whether some `Advance` may leave the frontier as a bitmap."""
    return any(isinstance(step, Advance) and step.may_pull
               for phase in program.all_phases for step in phase.step)  # fmt: skip


def _phase(phase: Phase, made: Mapping[Operator, Section]) -> Section:
    sections = [made[operator] for operator in phase.step]
    if phase.alternate:
        even, odd = sections
        return _repeated(phase, even, odd)
    return _repeated(phase, _chained(sections))


def _numbered(phase: Section, number: int) -> Section:
    """Return one of several phases; it is passed over if it was over before the loop was left."""

    @inner
    def numbered(rank, threads, control, graph, state, in_state, work, front, turn):
        if front[PHASE] > number:
            return turn
        if front[PHASE] < number:
            front[PHASE] = number
            front[TIMES] = 0
        return phase(rank, threads, control, graph, state, in_state, work, front, turn)

    return numbered


def _section(
    operator: Operator,
    program: Program,
    names: tuple[str, ...],
    large: bool,
    across: Across | None,
) -> Section:
    first = [as_queue] if _needs_queue(operator) and may_pull(program) else []
    if across is None:
        return _chained([*first, _alone(operator, program, names, large, None)])
    section = _alone(operator, program, names, large, across.crossing(operator))
    return _chained([*first, *across.before(operator), section, *across.after(operator)])


def _needs_queue(operator: Operator) -> bool:
    return isinstance(operator, Advance) and not operator.may_pull


def _alone(
    operator: Operator, program: Program, names: tuple[str, ...], large: bool, crossing: Any
) -> Section:
    match operator:
        case Advance(priority=None):
            return advance(operator, dict(program.fields), names, crossing)
        case Advance():
            return prioritised(operator, dict(program.fields), names.index(operator.into), crossing)
        case Compute(over="frontier"):
            return over_frontier(operator)
        case Compute():
            return compute(operator, tuple(map(names.index, operator.sums)))
        case Reduce():
            return reduce(operator, tuple(map(names.index, operator.sums)), large, crossing)
        case Levels():
            return levels(operator, names.index(operator.by) if operator.by else None, crossing)
        case Intersect():
            total = names.index(operator.total) if operator.total else None
            if crossing is not None:
                return intersect_part(operator, total, crossing)
            return intersect(operator, total)
        case Unite():
            return unite(operator, names.index(operator.into), crossing)
        case Filter(over="vertices"):
            return chosen(operator, has_plain_advance(program))
        case Filter():
            return filtered(operator, has_plain_advance(program))
        case Once():
            return once(operator)


def _chained(sections: Sequence[Section]) -> Section:
    first, *rest = sections
    if not rest:
        return first
    others = _chained(rest)

    @inner
    def both(rank, threads, control, graph, state, in_state, work, front, turn):
        turn = first(rank, threads, control, graph, state, in_state, work, front, turn)
        if turn < 0:
            return turn
        return others(rank, threads, control, graph, state, in_state, work, front, turn)

    return both


def _in_turns(even: Section, odd: Section) -> Section:
    """Return a section that is another of two in each iteration of its phase."""

    @inner
    def either(rank, threads, control, graph, state, in_state, work, front, turn):
        if front[TIMES] % 2 == 0:
            return even(rank, threads, control, graph, state, in_state, work, front, turn)
        return odd(rank, threads, control, graph, state, in_state, work, front, turn)

    return either


@inner
def _never(state):
    return False


def _by_frontier(phase: Phase) -> bool:
    """Tell whether the work of an iteration goes by the frontier alone."""
    return phase.advances and all(
        (isinstance(step, Advance) and step.priority is None)
        or (isinstance(step, (Compute, Filter)) and step.over == "frontier")
        for step in phase.step
    )


def _repeated(phase: Phase, even: Section, odd: Section | None = None) -> Section:
    """Return a section that runs a phase's step, or two in turns, as often as the phase says."""
    step = even if odd is None else _in_turns(even, odd)
    limit = phase.limit if phase.limit is not None else 1 << 62
    if not phase.advances and phase.until is None and phase.limit is None:
        limit = 1
    until = _never if phase.until is None else compile_functor(phase.until)
    advances, asks, may_be_small = phase.advances, phase.until is not None, _by_frontier(phase)
    counts = 1 if phase.counts else 0

    @inner
    def over(rank, team, control, state, work, turn):
        """Ask whether the phase is over; a meeting, unless a thread is alone."""
        prepare(control, rank, turn)
        answer = shifted(work.stats, 3 * LINE + (turn & 1))
        if rank == 0:
            atomics.store(answer, 0, np.int64(until(state)))
        turn = finish(control, rank, team, turn)
        return turn, turn >= 0 and atomics.load(answer, 0) != 0

    @inner
    def repeated(rank, threads, control, graph, state, in_state, work, front, turn):
        times, served, team = front[TIMES], np.int64(0), threads
        begin_solos(control, rank, front)
        while True:
            more = turn >= 0 and times < limit and (not advances or front[ALL_SIZE] > 0)
            if team < threads:
                if not more or not stays_small(control, front, front[ALL_EDGES], served):
                    hand_over(control, threads, work, front, turn, times)
                    team = threads
                    front[CLOCK] = nanoseconds()
            elif may_be_small and more and threads > 1:
                if front[ALL_EDGES] < front[SMALL] and front[PULLING] == 0:
                    if rank > 0:
                        turn, times = take_over(control, rank, threads, work, front, turn)
                        continue
                    go_alone(control, threads)
                    team, served = np.int64(1), np.int64(0)
            if not more:
                return turn
            front[TIMES], began = times, front[CLOCK]
            turn = step(rank, team, control, graph, state, in_state, work, front, turn)
            if turn < 0:
                continue
            times += 1
            if rank == 0:
                log_mail(work.mail, front[ITERATION])
            front[ITERATION] += counts
            if asks:
                turn, enough = over(rank, team, control, state, work, turn)
                if enough:
                    times = np.int64(limit)
            if may_be_small and threads > 1:
                if team == 1:
                    served += 1
                    count_own(control, front, front[VISITED], began)
                elif turn > 0:
                    look_around(control, rank, front, turn, front[VISITED], began)

    return repeated

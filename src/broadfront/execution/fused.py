"""All phases of a program as one compiled loop, which every thread of a device runs.

Sections are chained by closures: a chain of two sections is a section, a repeated section is a
section, and the loop calls the last of them. There is no Python between iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

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
    ALL_EDGES,
    ALL_SIZE,
    CLOCK,
    FRONT_WORDS,
    ITERATION,
    PHASE,
    PULLING,
    SMALL,
    TIMES,
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
from broadfront.operators.cpu.queues import as_queue
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
    Filter,
    Intersect,
    Levels,
    Once,
    Operator,
    Reduce,
    Unite,
)
from broadfront.pointers import makers, reaching_back, shifted

Section = Callable[..., Any]


def fused(
    program: Program, names: tuple[str, ...], large: bool = False, across: Across | None = None
) -> Section:
    """Return the loop of a program, its dtypes settled, whose state has the attributes `names`.

    `large` tells whether it is for graphs that are worth a layout of their own; with `across` it is
    the loop of each of several devices.
    """
    whole = whole_of(program, names, large, across)
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


def whole_of(
    program: Program, names: tuple[str, ...], large: bool, across: Across | None = None
) -> Section:
    """Return the section that runs all phases of a program."""
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

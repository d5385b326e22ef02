"""All phases of a program as one compiled loop, which every thread of a device runs.

Sections are chained by closures: a chain of two sections is a section, a repeated section is a
section, and the loop calls the last of them. There is no Python between iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.devices.control import LINE, assemble
from broadfront.execution.program import Phase, Program
from broadfront.kernel import inner, loop
from broadfront.operators.cpu.advance import advance
from broadfront.operators.cpu.buckets import prioritised
from broadfront.operators.cpu.compute import compute, filtered, once
from broadfront.operators.cpu.frontier import FRONT_WORDS, ITERATION, SIZE, TIMES, finish, prepare
from broadfront.operators.cpu.intersect import intersect
from broadfront.operators.cpu.levels import levels
from broadfront.operators.cpu.reduce import reduce
from broadfront.operators.describe import (
    Advance,
    Compute,
    Filter,
    Intersect,
    Levels,
    Once,
    Operator,
    Reduce,
)
from broadfront.pointers import pointer, pointers, shifted

Section = Callable[..., Any]


def fused(program: Program, names: tuple[str, ...], large: bool) -> Section:
    """Return the loop of a program, its dtypes settled, whose state has the attributes `names`.

    `large` tells whether it is for graphs that are worth a layout of their own.
    """
    operators = {operator for phase in program.all_phases for operator in phase.step}
    made = {operator: _section(operator, program, names, large) for operator in operators}
    whole = _chained([_phase(phase, made) for phase in program.all_phases])

    def broadfront_loop(rank, threads, control, graph, state, in_state, work):
        if not assemble(pointer(control), rank):
            return np.int64(0)
        lines = pointers(work)
        front = shifted(lines.fronts, rank * FRONT_WORDS)
        whole(
            rank, threads, pointer(control), pointers(graph), pointers(state), pointers(in_state),
            lines, front, np.int64(0),
        )  # fmt: skip
        return front[ITERATION]

    return loop(broadfront_loop)


def _phase(phase: Phase, made: Mapping[Operator, Section]) -> Section:
    sections = [made[operator] for operator in phase.step]
    if phase.alternate:
        even, odd = sections
        return _repeated(phase, even, odd)
    return _repeated(phase, _chained(sections))


def _section(operator: Operator, program: Program, names: tuple[str, ...], large: bool) -> Section:
    match operator:
        case Advance(priority=None):
            return advance(operator, dict(program.fields), names)
        case Advance():
            return prioritised(operator, dict(program.fields), names.index(operator.into))
        case Compute():
            return compute(operator, tuple(map(names.index, operator.sums)))
        case Reduce():
            return reduce(operator, tuple(map(names.index, operator.sums)), large)
        case Levels():
            return levels(operator, names.index(operator.by) if operator.by else None)
        case Intersect():
            return intersect(operator, names.index(operator.total) if operator.total else None)
        case Filter():
            return filtered(operator)
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


def _repeated(phase: Phase, even: Section, odd: Section | None = None) -> Section:
    """Return a section that runs a phase's step, or two in turns, as often as the phase says."""
    step = even if odd is None else _in_turns(even, odd)
    limit = phase.limit if phase.limit is not None else 1 << 62
    if not phase.advances and phase.until is None and phase.limit is None:
        limit = 1
    until = _never if phase.until is None else inner(phase.until)
    advances, asks = phase.advances, phase.until is not None

    @inner
    def repeated(rank, threads, control, graph, state, in_state, work, front, turn):
        times = np.int64(0)
        while times < limit and (not advances or front[SIZE] > 0):
            front[TIMES] = times
            turn = step(rank, threads, control, graph, state, in_state, work, front, turn)
            if turn < 0:
                return turn
            times += 1
            front[ITERATION] += 1
            if asks:
                prepare(control, rank, turn)
                answer = shifted(work.stats, 3 * LINE + (turn & 1))
                if rank == 0:
                    atomics.store(answer, 0, np.int64(until(state)))
                turn = finish(control, rank, threads, turn)
                if turn < 0 or atomics.load(answer, 0) != 0:
                    return turn
        return turn

    return repeated

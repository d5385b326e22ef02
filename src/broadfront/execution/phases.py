"""How often the sections of a phase run, and who runs them: all threads, or one while it is small.

Sections are chained by closures: a chain of two sections is a section, and so is one that repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.devices.control import LINE, nanoseconds
from broadfront.execution.program import Phase
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.cpu.frontier import (
    ALL_EDGES,
    ALL_SIZE,
    CLOCK,
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
from broadfront.operators.cpu.solo import (
    begin_solos,
    count_own,
    go_alone,
    hand_over,
    look_around,
    stays_small,
    take_over,
)
from broadfront.operators.describe import Advance, Compute, Filter, Operator
from broadfront.pointers import shifted, with_counters

Section = Callable[..., Any]


def phased(phase: Phase, made: Mapping[Operator, Section], counting: bool) -> Section:
    """Return a phase as a section, of the sections of its operators.

    `counting` tells whether the state has counters.
    """
    sections = [made[operator] for operator in phase.step]
    step = _in_turns(*sections) if phase.alternate else chained(sections)
    until = _never if phase.until is None else compile_functor(phase.until)
    if counting:
        return _repeated(phase, _counting(step), _asking_with_counters(until))
    return _repeated(phase, step, _asking(until))


def numbered(phase: Section, number: int) -> Section:
    """Return one of several phases; it is passed over if it was over before the loop was left."""

    @inner
    def in_its_turn(rank, threads, control, graph, state, in_state, work, front, turn):
        if front[PHASE] > number:
            return turn
        if front[PHASE] < number:
            front[PHASE] = number
            front[TIMES] = 0
        return phase(rank, threads, control, graph, state, in_state, work, front, turn)

    return in_its_turn


def chained(sections: Sequence[Section]) -> Section:
    """Return a section that is several, one after the other."""
    first, *rest = sections
    if not rest:
        return first
    others = chained(rest)

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


def _counting(step: Section) -> Section:
    """Return a step whose functors see the counters of its iteration."""

    @inner
    def counted(rank, threads, control, graph, state, in_state, work, front, turn):
        times, size = front[TIMES], front[ALL_SIZE]
        here, there = with_counters(state, times, size), with_counters(in_state, times, size)
        return step(rank, threads, control, graph, here, there, work, front, turn)

    return counted


@inner
def _never(state):
    return False


def _asking(until: Section) -> Section:
    @inner
    def ask(state, front):
        return until(state)

    return ask


def _asking_with_counters(until: Section) -> Section:
    """Return the question with the number of the iteration before, and the frontier it left."""

    @inner
    def ask(state, front):
        return until(with_counters(state, front[TIMES], front[ALL_SIZE]))

    return ask


def _by_frontier(phase: Phase) -> bool:
    """Tell whether the work of an iteration goes by the frontier alone."""
    return phase.advances and all(
        (isinstance(step, Advance) and step.priority is None)
        or (isinstance(step, (Compute, Filter)) and step.over == "frontier")
        for step in phase.step
    )


def _repeated(phase: Phase, step: Section, ask: Section) -> Section:
    """Return a section that runs a phase's step as often as the phase and its answers say."""
    limit = phase.limit if phase.limit is not None else 1 << 62
    if not phase.advances and phase.until is None and phase.limit is None:
        limit = 1
    advances, asks, may_be_small = phase.advances, phase.until is not None, _by_frontier(phase)
    counts = 1 if phase.counts else 0

    @inner
    def over(rank, team, control, state, work, front, turn):
        """Ask whether the phase is over; a meeting, unless a thread is alone."""
        prepare(control, rank, turn)
        answer = shifted(work.stats, 3 * LINE + (turn & 1))
        if rank == 0:
            atomics.store(answer, 0, np.int64(ask(state, front)))
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
                turn, enough = over(rank, team, control, state, work, front, turn)
                if enough:
                    times = np.int64(limit)
            if may_be_small and threads > 1:
                if team == 1:
                    served += 1
                    count_own(control, front, front[VISITED], began)
                elif turn > 0:
                    look_around(control, rank, front, turn, front[VISITED], began)

    return repeated

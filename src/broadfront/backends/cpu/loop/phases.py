"""How often the sections of a phase run, and who runs them: all threads, or one while it is small.

Sections are chained by closures: a chain of two sections is a section, and so is one that repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.device.control import LINE, nanoseconds
from broadfront.backends.cpu.operators.frontier import (
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
from broadfront.backends.cpu.operators.solo import (
    begin_solos,
    count_own,
    go_alone,
    hand_over,
    look_around,
    stays_small,
    take_over,
)
from broadfront.execution.program import Phase
from broadfront.execution.repeat import Repeat
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Functor, Operator
from broadfront.pointers import shifted, with_counters

Section = Callable[..., Any]


def phased(phase: Phase, made: Mapping[Operator, Section], counting: bool, place: int) -> Section:
    """Return a phase as a section, of the sections of its operators.

    `counting` tells whether the state has counters, `place` where among the limits its own is.
    """
    sections = [made[operator] for operator in phase.step]
    step = chained(sections)
    ask = _asking(phase.until, counting)
    return _repeated(phase, _counting(step) if counting else step, ask, place)


def going_round(
    members: Sequence[Phase | Repeat],
    made: Mapping[Operator, Section],
    counting: bool,
    places: Iterator[int],
) -> Section:
    """Return the phases of a program that has a `Repeat`; its loop is never left and entered again.

    So a phase that begins has not run yet, however often it did in earlier rounds. `places` tells
    of each member in order where its limit is.
    """
    sections = []
    for member in members:
        place = next(places)
        if isinstance(member, Repeat):
            body = going_round(member.phases, made, counting, places)
            sections.append(_rounds(member, body, _asking(member.until, counting), place))
        else:
            sections.append(_anew(phased(member, made, counting, place)))
    return chained(sections)


def _anew(phase: Section) -> Section:
    @inner
    def begun(rank, threads, control, graph, state, in_state, work, front, turn):
        front[TIMES] = 0
        return phase(rank, threads, control, graph, state, in_state, work, front, turn)

    return begun


def _rounds(repeat: Repeat, body: Section, ask: Section, place: int) -> Section:
    """Return a section that runs the phases of a `Repeat` as often as it says."""
    asks, by_frontier = repeat.until is not None, repeat.by_frontier
    over = _deciding(ask)

    @inner
    def section(rank, threads, control, graph, state, in_state, work, front, turn):
        rounds, enough, limit = np.int64(0), False, graph.numbers.limits[place]
        while turn >= 0 and rounds < limit and not enough:
            turn = body(rank, threads, control, graph, state, in_state, work, front, turn)
            if asks and turn >= 0:
                front[TIMES] = rounds
                turn, enough = over(rank, threads, control, state, work, front, turn)
            rounds += 1
            enough = enough or (by_frontier and front[ALL_SIZE] == 0)
        return turn

    return section


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


def _asking(functor: Functor | None, counting: bool) -> Section:
    """Return the question whether it is over, of the state and the frontier.

    Where the state has counters, it has the number of the iteration or round before.
    """
    until = _never if functor is None else compile_functor(functor)

    @inner
    def ask(state, front):
        return until(state)

    @inner
    def ask_with_counters(state, front):
        return until(with_counters(state, front[TIMES], front[ALL_SIZE]))

    return ask_with_counters if counting else ask


def _deciding(ask: Section) -> Section:
    """Return the function that asks whether a phase is over, or a round was the last."""

    @inner
    def over(rank, team, control, state, work, front, turn):
        """Ask whether it is over; a meeting, unless a thread is alone."""
        prepare(control, rank, turn)
        answer = shifted(work.stats, 3 * LINE + (turn & 1))
        if rank == 0:
            atomics.store(answer, 0, np.int64(ask(state, front)))
        turn = finish(control, rank, team, turn)
        return turn, turn >= 0 and atomics.load(answer, 0) != 0

    return over


def _by_frontier(phase: Phase) -> bool:
    """Tell whether the work of an iteration goes by the frontier alone."""
    return phase.advances and all(
        step.takes_frontier and not step.by_priority for step in phase.step
    )


def _repeated(phase: Phase, step: Section, ask: Section, place: int) -> Section:
    """Return a section that runs a phase's step as often as the phase and its answers say."""
    over = _deciding(ask)
    advances, asks, may_be_small = phase.advances, phase.until is not None, _by_frontier(phase)
    counts = 1 if phase.counts else 0

    @inner
    def repeated(rank, threads, control, graph, state, in_state, work, front, turn):
        times, served, team = front[TIMES], np.int64(0), threads
        limit = graph.numbers.limits[place]
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

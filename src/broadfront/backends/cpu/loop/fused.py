"""All phases of a program as one compiled loop, which every thread of a device runs.

Sections are chained by closures: a chain of two sections is a section, a repeated section is a
section, and the loop calls the last of them. There is no Python between iterations.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import FIRST, assemble
from broadfront.backends.cpu.field_io import gather_results, scatter_initial
from broadfront.backends.cpu.loop.across import Across
from broadfront.backends.cpu.loop.numbers import place_of_identity
from broadfront.backends.cpu.loop.phases import Section, chained, going_round, numbered, phased
from broadfront.backends.cpu.operators.advance import advance
from broadfront.backends.cpu.operators.compute import compute, once
from broadfront.backends.cpu.operators.each_once import each_once
from broadfront.backends.cpu.operators.frontier import (
    FRONT_WORDS,
    ITERATION,
)
from broadfront.backends.cpu.operators.intersect import intersect
from broadfront.backends.cpu.operators.intersect_part import intersect_part
from broadfront.backends.cpu.operators.levels import levels
from broadfront.backends.cpu.operators.new_frontier import chosen
from broadfront.backends.cpu.operators.over_frontier import filtered, over_frontier
from broadfront.backends.cpu.operators.prioritised import prioritised
from broadfront.backends.cpu.operators.queues import as_queue
from broadfront.backends.cpu.operators.reduce import reduce
from broadfront.backends.cpu.operators.sides import SIDES, outgoing, recounted, turned
from broadfront.backends.cpu.operators.unite import unite
from broadfront.execution.frontiers import notices_twice, wanting_changes
from broadfront.execution.program import Program
from broadfront.execution.refusals import refuse_elements, refuse_everywhere
from broadfront.kernel import kernel
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
    refuse_everywhere(program)
    refuse_elements(program)
    operators = {operator for phase in program.all_phases for operator in phase.step}
    made = {operator: _section(operator, program, names, large, across) for operator in operators}
    counting = bool(program.counters)
    if program.goes_round:
        phases = [going_round(program.members, made, counting, count())]
    else:
        phases = [phased(phase, made, counting, place)
                  for place, phase in enumerate(program.all_phases)]  # fmt: skip
    if len(phases) > 1:
        phases = [numbered(phase, number) for number, phase in enumerate(phases)]
    return chained(phases if across is None else [scatter_initial, *phases, gather_results])


def has_plain_advance(program: Program) -> bool:
    """Tell whether some `Advance` has no priority: then there are marks on vertices."""
    return any(isinstance(step, Advance) and step.priority is None
               for phase in program.all_phases for step in phase.step)  # fmt: skip


def may_pull(program: Program) -> bool:
    """Tell whether some `Advance` may leave the frontier as a bitmap."""
    return any(isinstance(step, Advance) and step.may_pull
               for phase in program.all_phases for step in phase.step)  # fmt: skip


def _section(
    operator: Operator,
    program: Program,
    names: tuple[str, ...],
    large: bool,
    across: Across | None,
) -> Section:
    sections: list[Section] = []
    if program.advances_back and isinstance(operator, Advance):
        agreement = None if across is None else across.agreement()
        sections.append(recounted(SIDES[operator.along], agreement))
    if _needs_queue(operator) and may_pull(program):
        sections.append(as_queue)
    crossing = None if across is None else across.crossing(operator)
    itself = [_alone(operator, program, names, large, crossing)]
    if "frontier_size" in program.names_read and _leaves_a_queue(operator):
        itself.append(each_once)
    if across is not None:
        itself = [*across.before(operator), *itself, *across.after(operator)]
    whole = chained([*sections, *itself])
    return turned(whole) if _goes_other_way(operator) else whole


def _goes_other_way(operator: Operator) -> bool:
    return isinstance(operator, Advance) and operator.along == "in"


def _leaves_a_queue(operator: Operator) -> bool:
    return isinstance(operator, Advance) and operator.priority is None


def _needs_queue(operator: Operator) -> bool:
    return isinstance(operator, Advance) and not operator.may_pull


def _alone(
    operator: Operator, program: Program, names: tuple[str, ...], large: bool, crossing: Any
) -> Section:
    match operator:
        case Advance(priority=None):
            return advance(
                operator, dict(program.fields), names, crossing, notices_twice(program),
                wanting_changes(operator, program),
            )  # fmt: skip
        case Advance():
            return prioritised(operator, dict(program.fields), names.index(operator.into), crossing)
        case Compute(over="frontier"):
            return over_frontier(operator, tuple(map(names.index, operator.sums)))
        case Compute():
            return compute(operator, tuple(map(names.index, operator.sums)))
        case Reduce():
            sums = tuple(map(names.index, operator.sums))
            identity = place_of_identity(operator, program)
            section = reduce(operator, sums, identity, large, crossing)
            return section if operator.along == "in" else outgoing(section)
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

"""All phases of a program as one compiled loop, which every thread of a device runs.

An operator's lowering has its section. Sections are chained by closures: a chain of two sections is
a section, a repeated section is a section, and the loop calls the last of them. There is no Python
between iterations.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from broadfront.backends.cpu.device.control import FIRST, assemble
from broadfront.backends.cpu.field_io import gather_results, scatter_initial
from broadfront.backends.cpu.loop.across import Across
from broadfront.backends.cpu.loop.phases import Section, chained, going_round, numbered, phased
from broadfront.backends.cpu.lowering.lowered import Loop
from broadfront.backends.cpu.lowering.table import lowering_of
from broadfront.backends.cpu.operators.frontier import FRONT_WORDS, ITERATION
from broadfront.execution.program import Program
from broadfront.execution.refusals import refuse_elements, refuse_everywhere
from broadfront.kernel import kernel
from broadfront.pointers import makers, reaching_back, shifted


def fused(
    program: Program, names: tuple[str, ...], large: bool = False, across: Across | None = None
) -> Section:
    """Return the loop of a program, its dtypes settled, whose state has the attributes `names`.

    `large` tells whether it is for graphs that are worth a layout of their own; with `across` it is
    the loop of each of several devices.
    """
    whole = whole_of(Loop(program, names, large, across))
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


def whole_of(loop: Loop) -> Section:
    """Return the section that runs all phases of a program."""
    program = loop.program
    refuse_everywhere(program)
    refuse_elements(program)
    operators = {operator for phase in program.all_phases for operator in phase.step}
    made = {operator: lowering_of(operator).whole(loop) for operator in operators}
    counting = bool(program.counters)
    if program.goes_round:
        phases = [going_round(program.members, made, counting, count())]
    else:
        phases = [phased(phase, made, counting, place)
                  for place, phase in enumerate(program.all_phases)]  # fmt: skip
    if len(phases) > 1:
        phases = [numbered(phase, number) for number, phase in enumerate(phases)]
    if loop.across is None:
        return chained(phases)
    return chained([scatter_initial, *phases, gather_results])

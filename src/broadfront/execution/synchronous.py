"""Synchronous where it matters: an `Advance` whose functors do not see what it proposes itself.

On devices an `Advance` takes proposals as they come, and later edges of the same iteration may see
them. It is left so where the program has promised that its answer does not depend on it, and where
that can be proven (`order`); everywhere else it is rewritten (`lowering`). One kind of proof holds
for some frontiers only, so that what a program is run as depends on how it begins.

Invariant: the answer is that of ``devices="python"``, unless a promise was wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import OptionError
from broadfront.execution.faults import place_of
from broadfront.execution.fields import Places, checked_start, pairs_of
from broadfront.execution.loops import made_once
from broadfront.execution.lowering import Meaning, lowered, written_by
from broadfront.execution.order import LEVEL, MONOTONE, STATIC, order_of
from broadfront.execution.program import Phase, Program
from broadfront.execution.refusals import refuse_everywhere
from broadfront.given import vertices
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance


class Choice(NamedTuple):
    """What a program may be run as."""

    quick: Meaning
    level: str | None
    """The field whose values must be alike in the frontier for the quick one to be right."""
    strict: Meaning


def meaning_of(
    program: Program, graph: Graph, frontier: ArrayLike, init: Mapping[str, Any]
) -> Meaning:
    """Return what to run for a program; refuse one in which the order of vertices decides."""
    choice = choices(program)
    if choice.level is None or alike(program, choice.level, graph, frontier, init):
        return choice.quick
    return choice.strict


def meaning_of_each(
    program: Program, sources: NDArray[np.int64], init: Mapping[str, Any]
) -> Meaning:
    """Return the same where each of some vertices is a frontier by itself."""
    choice = choices(program)
    if choice.level is None:
        return choice.quick
    given, fill = init.get(choice.level), program.fields[choice.level].fill
    if isinstance(given, np.ndarray):  # of rows, or refused later
        is_unset = given.ndim != 2 or fill in given[np.arange(len(given)), sources[: len(given)]]
    else:
        is_unset = given is None or fill in pairs_of(given, "init").values()
    return choice.strict if is_unset else choice.quick


def choices(program: Program) -> Choice:
    """Return what a program may be run as; found out once, or again where captured values differ.

    A program that has promised that order does not matter is taken by its word.
    """
    advances = [operator for operator in program.operators if isinstance(operator, Advance)]
    if all(operator.synchronous is False and not operator.activate for operator in advances):
        as_it_is = Meaning(program, {})
        return Choice(as_it_is, None, as_it_is)
    return made_once(program, choices, lambda: _choose(program))


def _choose(program: Program) -> Choice:
    strict, levels = set[Advance](), set[Advance]()
    for phase in program.all_phases:
        for operator in phase.step:
            if isinstance(operator, Advance):
                kind = _kind(operator, phase, program)
                if kind == LEVEL:
                    levels.add(operator)
                elif kind is None:
                    strict.add(operator)
    if strict or levels:
        refuse_everywhere(program)  # as it was written
    quick = lowered(program, strict)
    if not levels:
        return Choice(quick, None, quick)
    field = next(iter(levels)).into
    return Choice(quick, field, lowered(program, strict | levels))


def _kind(operator: Advance, phase: Phase, program: Program) -> str | None:
    """Return why an `Advance` of a phase may take proposals as they come, None if it may not."""
    if operator.synchronous or (operator.activate is not None and operator.priority is None):
        return None
    if operator.synchronous is False:
        return STATIC
    numbers = (*program.parameters, "num_vertices")
    kind = order_of(operator, program.fields, numbers)
    if operator.priority is not None:
        if operator.activate is None and kind in (STATIC, MONOTONE):
            return kind
        raise OptionError(
            f"{place_of(operator.functor)} has a priority, and it is not certain that its answer "
            "is the same in whatever order vertices are served: write synchronous=False if it is"
        )
    if kind == LEVEL and not _stays_level(operator, program):
        return None
    alone = len(phase.step) == 1 and phase.limit is None and phase.until is None
    return None if kind == MONOTONE and not alone else kind


def _stays_level(operator: Advance, program: Program) -> bool:
    """Tell whether, until it is over, nothing else sets the field or makes frontiers."""
    phases = program.all_phases
    last = max(place for place, phase in enumerate(phases) if operator in phase.step)
    if program.goes_round:
        last = len(phases)
    return all(
        other == operator
        or not (other.advances or (other.makes_frontier and not other.takes_frontier)
                or operator.into in written_by(other, program))
        for phase in phases[: last + 1] for other in phase.step
    )  # fmt: skip


def alike(
    program: Program, name: str, graph: Graph, frontier: ArrayLike, init: Mapping[str, Any]
) -> bool:
    """Tell whether a field has one value in the whole frontier, and not its fill."""
    places = vertices(frontier, graph.num_vertices, "the frontier")
    if len(places) == 0:
        return True
    settled = program.on(graph.targets.dtype)
    given = {name: init[name]} if name in init else {}
    begins = checked_start(settled, given, graph).get(name)
    fill = settled.fields[name].fill
    if isinstance(begins, Places):
        known = dict(zip(begins.places.tolist(), begins.values.tolist(), strict=True))
        values = np.array([known.get(place, fill) for place in places.tolist()])
    else:
        values = np.full(1, fill) if begins is None else begins[places]
    return bool(values[0] != fill and (values == values[0]).all())

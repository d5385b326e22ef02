"""Which programs may run asynchronously, and as what.

One `Advance` until nothing improves, into a field whose `combine` may hear a proposal twice, with
functors of which `execution.order` proves that the order of proposals does not matter, or whose
author has promised it. Or one into a sum, by deltas (`deltas`). Everything else is refused, with
what to do instead.

A search by levels has a `cond` that is true where a vertex has no value yet. It is right because a
first proposal is the best one, which holds only level by level. It is left out here, where the
answer is the same without it: if all vertices of the frontier begin with one value and no other
vertex has any, if better values make better proposals, and if a proposal is never better than the
value that it was made from. A vertex k edges away then has the k-th value either way, since longer
ways propose nothing better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from broadfront.errors import OptionError
from broadfront.execution.access import touched
from broadfront.execution.asynchronous.deltas import refuse_whole_sums
from broadfront.execution.asynchronous.step import INSTEAD, Step, only_step
from broadfront.execution.faults import place_of
from broadfront.execution.fields import Places, checked_start
from broadfront.execution.loops import made_once
from broadfront.execution.order import LEVEL, MONOTONE, STATIC, never_improves, order_of
from broadfront.execution.program import Program
from broadfront.execution.synchronous import alike
from broadfront.given import vertices
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance
from broadfront.operators.roles import OWN


def asynchronous(
    program: Program, graph: Graph, frontier: ArrayLike, init: Mapping[str, Any]
) -> Program:
    """Return the program that devices run asynchronously; refuse one that has no such meaning."""
    step = only_step(program)
    _refuse_options(program, step, f"execution='async': {program.name!r}")
    operator = step.advance
    if program.fields[operator.into].adds_up:
        refuse_whole_sums(program, step)
        return program
    found, by_levels = made_once(program, asynchronous, lambda: _without_levels(program, operator))
    if by_levels:
        _refuse_levels(program, operator, graph, frontier, init)
    return found


def _refuse_options(program: Program, step: Step, name: str) -> None:
    operator, adds_up = step.advance, program.fields[step.advance.into].adds_up
    if step.take is not None and not adds_up:
        raise OptionError(
            f"{name} has a Compute before its Advance, which is for sums by deltas: {INSTEAD}"
        )
    for option in ("goal",) if adds_up else ("activate", "goal"):
        if getattr(operator, option) is not None:
            raise OptionError(f"{name} has {option}=, which needs an order of vertices: {INSTEAD}")
    if operator.synchronous:
        raise OptionError(f"{name} asks for synchronous=True: {INSTEAD}")
    if program.counters:
        raise OptionError(
            f"{name} reads {' or '.join(f'state.{each}' for each in program.counters)}, and there "
            f"are no iterations: {INSTEAD}"
        )
    for field_name, other in program.fields.items():
        if other.per == "edge":
            raise OptionError(f"{name} has {field_name!r}, a field per edge: {INSTEAD}")
    for field_name, _ in sorted(touched(operator.roles).writes):
        raise OptionError(
            f"{name}: {place_of(operator.functor)} sets state.{field_name}, as often as a vertex "
            f"is served, which is not known before: {INSTEAD}"
        )


def _without_levels(program: Program, operator: Advance) -> tuple[Program, bool]:
    """Return the program as it runs, and whether a `cond` was left out for it."""
    numbers = (*program.parameters, "num_vertices")
    kind = order_of(operator, program.fields, numbers)
    if kind in (STATIC, MONOTONE):
        return program, False
    if kind == LEVEL:
        plain = replace(operator, cond=None, direction=None)
        if order_of(plain, program.fields, numbers) == MONOTONE and never_improves(
            plain, program.fields, numbers
        ):
            return replace(program, step=[plain], phases=()), True
    asked = {place for name, place in touched(operator.roles).reads if name == operator.into}
    if operator.synchronous is False and operator.cond is None and asked <= {OWN}:
        return program, False
    raise OptionError(
        f"execution='async': {place_of(operator.functor)}: it is not certain that the answer of "
        f"{program.name!r} is the same in whatever order proposals arrive; write "
        f"synchronous=False if it is and there is no cond= on {operator.into!r}, or {INSTEAD}"
    )


def _refuse_levels(
    program: Program, operator: Advance, graph: Graph, frontier: ArrayLike, init: Mapping[str, Any]
) -> None:
    """Refuse to go without levels where vertices do not all begin alike."""
    into = operator.into
    if not alike(program, into, graph, frontier, init) or _set_elsewhere(
        program, into, graph, frontier, init
    ):
        raise OptionError(
            f"execution='async': {program.name!r} goes by levels, and {into!r} begins with "
            f"different values, or with some outside the frontier: {INSTEAD}"
        )


def _set_elsewhere(
    program: Program, name: str, graph: Graph, frontier: ArrayLike, init: Mapping[str, Any]
) -> bool:
    """Tell whether a field begins with something else than its fill outside the frontier."""
    if name not in init:
        return False
    settled = program.on(graph.targets.dtype)
    begins = checked_start(settled, {name: init[name]}, graph)[name]
    fill = settled.fields[name].filling
    if isinstance(begins, Places):
        places = begins.places[begins.values != fill]
    else:
        places = np.flatnonzero(begins != fill)
    return not np.isin(places, vertices(frontier, graph.num_vertices, "the frontier")).all()

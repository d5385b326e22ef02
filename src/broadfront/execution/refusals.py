"""What is refused before it runs, because it would mean something else than it says.

A functor that writes into the graph is refused everywhere. On several devices the number of a
vertex or an edge is its place in a part, and a device has copies of its neighbours alone; so what a
functor may look at, index and store is less. What it touches is read off it (`access`).

Not noticed is what a functor computes from the number of a vertex and then stores, proposes or
compares: a difference of two edges is the same on all devices, a sum of two vertices is not.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from broadfront.errors import FunctorError, OptionError
from broadfront.execution.access import ATOMICS, DRAWN, Access, access
from broadfront.execution.faults import place_of
from broadfront.execution.loops import mentioned
from broadfront.execution.program import RESERVED, Program
from broadfront.execution.roles import EDGE, ELSEWHERE, NEAR, OWN, STATE, roles_of
from broadfront.operators.describe import Advance, Functor, Levels, Once, Operator, Reduce

ROWS = ("offsets", "in_offsets")
GRAPH = set(RESERVED) - {"num_vertices"}
"""The arrays that belong to the graph."""


def refuse_writes(program: Program) -> None:
    """Refuse a program whose functors write into the graph."""
    for operator in _operators(program):
        for functor, roles in roles_of(operator):
            if functor is None or not any(map(_writes, _reached(functor, set()))):
                continue
            try:
                touch = access(functor, roles)
            except OptionError:  # it gives its state away, which one device may allow
                continue
            for name in sorted({name for name, _ in touch.writes} & GRAPH):
                raise FunctorError(
                    f"{place_of(functor)} sets state.{name}, which belongs to the graph: functors "
                    "only read it; store in a field of your own"
                )


def refuse_on_many(program: Program, relabel: bool) -> None:
    """Refuse a program, its dtypes settled, that has no meaning on several devices.

    With `relabel` vertices have other numbers there than in the graph.
    """
    for operator in _operators(program):
        for functor, roles in roles_of(operator):
            if functor is None:
                continue
            touch = access(functor, roles)
            if roles == (STATE,):
                _refuse_single_vertices(functor, touch, program)
                continue
            _refuse_far(functor, touch, program)
            _refuse_numbers(functor, touch, program, relabel)
            if relabel and touch.tells and functor in _proposing(operator):
                raise FunctorError(
                    f"{place_of(functor)} returns the number of a vertex, which on several devices "
                    "is its place in a part: return state.ids[vertex]"
                )
            if not isinstance(operator, Once):
                _refuse_settings(operator, touch, program)
    for phase in program.all_phases:
        if phase.until is not None:
            _refuse_single_vertices(phase.until, access(phase.until, (STATE,)), program)


def _operators(program: Program) -> Iterator[Operator]:
    for phase in program.all_phases:
        yield from phase.step


def _proposing(operator: Operator) -> tuple[Functor, ...]:
    """Return the functors of an operator whose numbers end up in a field or a total."""
    match operator:
        case Advance() | Reduce():
            return (operator.functor,)
        case Levels():
            return (operator.gather,)
    return ()


def _refuse_far(functor: Functor, touch: Access, program: Program) -> None:
    """Refuse to look at, or to set, what is neither the vertex' own nor a neighbour's."""
    for name, place in sorted(touch.reads | touch.writes):
        if name in ROWS and place != OWN:
            raise OptionError(
                f"{place_of(functor)} reads the rows of another vertex, which another device may "
                "own: on several devices use Intersect, or run it on one"
            )
        if place == ELSEWHERE and name in program.fields and program.fields[name].length is None:
            raise FunctorError(
                f"{place_of(functor)} touches state.{name} at a place that is neither its vertex "
                "nor a neighbour; on several devices another may own it: let values travel along "
                "edges, or run it on one device"
            )


def _refuse_numbers(functor: Functor, touch: Access, program: Program, relabel: bool) -> None:
    """Refuse numbers of vertices and edges where they would have to be those of the graph."""
    for name, place in sorted(touch.local):
        field = program.fields.get(name)
        shared = name.startswith(".") or (field is not None and (field.length or 0) > 1)
        if not shared or not (relabel or place == EDGE):
            continue
        called = name[1:] if name.startswith(".") else f"state.{name}"
        does, by = ("gives", "") if name == DRAWN else ("indexes", "by ")
        if place == EDGE:
            instead = "edges are numbered anew there, so it has to be run on one"
        else:
            verb = "give it" if name == DRAWN else "index it by"
            instead = f"{verb} state.ids[vertex], or keep ids by relabel=False"
        what = {OWN: "its vertex", NEAR: "a neighbour", EDGE: "an edge"}.get(place, "a vertex")
        raise FunctorError(
            f"{place_of(functor)} {does} {called} {by}the number of {what}, which on several "
            f"devices is its place in a part: {instead}"
        )
    if relabel and touch.keeps:
        raise FunctorError(
            f"{place_of(functor)} stores the number of a vertex in state.{min(touch.keeps)}, which "
            "on several devices is its place in a part: store state.ids[vertex]"
        )


def _refuse_settings(operator: Operator, touch: Access, program: Program) -> None:
    """Refuse to set what others set, too, unless the field says how these meet."""
    kind = type(operator).__name__
    for name, place in sorted(touch.writes):
        field = program.fields.get(name)
        if field is None:
            continue
        if field.length is not None and field.combine in (None, "any", "sum"):
            raise OptionError(
                f"a functor of {kind} sets {name!r}, which all vertices share: on several devices "
                "it needs combine='min', 'max' or 'or', or sums="
            )
        if field.length is None and place != OWN and field.combine is None:
            raise OptionError(
                f"a functor of {kind} sets {name!r} of another vertex: on several devices the "
                "field needs a combine"
            )


def _refuse_single_vertices(functor: Functor, touch: Access, program: Program) -> None:
    for name, _ in sorted(touch.reads | touch.writes):
        if name in program.fields and program.fields[name].length is None:
            raise OptionError(
                f"{functor.__name__} touches {name!r} of single vertices, which other devices may "
                "own: sum it up with a Compute, and ask for the sum"
            )


def _reached(functor: Any, seen: set[Any]) -> Iterator[Any]:
    """Return a function, and what it may call."""
    function = getattr(functor, "py_func", functor)
    if any(function is each for each in ATOMICS):
        yield function
    if isinstance(function, FunctionType) and function not in seen:
        seen.add(function)
        yield function
        for other in mentioned(function):
            yield from _reached(other, seen)


def _writes(function: Any) -> bool:
    """Tell whether a function may set elements of an array by itself."""
    if not isinstance(function, FunctionType):
        return True
    return any(step.opname == "STORE_SUBSCR" for step in dis.get_instructions(function))

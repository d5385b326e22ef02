"""What is refused before it runs, because it would mean something else than it says.

A functor that writes into the graph, or takes an incoming edge for an outgoing one, is refused
everywhere. On several devices the number of an edge is its place in a part, and a device has copies
of its neighbours alone; so what a functor may look at, index and store is less. What it touches is
read off it (`access`).

Numbers of vertices are places in a part, too, where parts are relabelled. A program that uses them
as values is right where ids are kept.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from broadfront.elements import swaps_16_bytes
from broadfront.errors import FunctorError, OptionError
from broadfront.execution.access import (
    ATOMICS,
    COMPARED,
    DRAWN,
    INDEXED,
    RETURNED,
    STORED,
    Access,
    Use,
    access,
)
from broadfront.execution.edge_fields import refuse_edge_fields
from broadfront.execution.faults import place_of
from broadfront.execution.meanings import FAR_EDGE, VERTICES
from broadfront.execution.names import is_well_known, mentioned, names_in
from broadfront.execution.outside import is_unsteady
from broadfront.execution.program import RESERVED, Program
from broadfront.execution.races import refuse_atomics_on_many, refuse_races
from broadfront.operators.describe import Functor, Operator
from broadfront.operators.roles import (
    EDGE,
    EITHER_EDGE,
    ELSEWHERE,
    IN_EDGE,
    NEAR,
    OWN,
    STATE,
    Call,
    Roles,
)
from broadfront.records import WHOLE

ROWS = ("offsets", "in_offsets")
GRAPH = set(RESERVED) - {"num_vertices"}
"""The arrays that belong to the graph."""
SIDES = {"targets": EDGE, "in_targets": IN_EDGE, "in_weight": IN_EDGE}
"""Arrays of the graph with an element per edge, and of which; that of `weight` depends."""
PUSH = "this Advance may go along incoming edges: give it direction='push'"
WALKED = "walked"
DOES = {STORED: "stores", COMPARED: "compares or hands on", RETURNED: "returns",
        DRAWN: "gives random"}  # fmt: skip


def refuse_everywhere(program: Program, many: bool = False) -> None:
    """Refuse a program whose functors write into the graph, or take an edge for another."""
    refuse_edge_fields(program, many)
    for operator in _operators(program):
        for call in operator.calls:
            functor, roles = call.functor, call.roles
            if not _wants_a_look(functor, roles):
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
            _refuse_sides(functor, touch, call.weights)
            if EITHER_EDGE in roles:
                for use in sorted(touch.uses):
                    if use.number in (EITHER_EDGE, FAR_EDGE) and not _of_edges(use, program):
                        raise FunctorError(
                            f"{use.place}: functor {functor.__name__} uses the number of its edge, "
                            f"but {PUSH}"
                        )
        if operator.only_asks or any(may_write(functor) for functor, _ in operator.roles):
            refuse_races(program, operator)


def _wants_a_look(functor: Functor, roles: Roles) -> bool:
    """Tell whether a functor may do what is refused everywhere; a look takes milliseconds."""
    if EITHER_EDGE in roles or may_write(functor):
        return True
    return not {*SIDES, "weight", "random"}.isdisjoint(names_in(functor)) or any(
        is_unsteady(value) for function in _reached(functor, set())
        if isinstance(function, FunctionType) for value in mentioned(function)
    )  # fmt: skip


def _of_edges(use: Use, program: Program) -> bool:
    """Tell whether what is indexed by an edge may have a value per edge, as columns do."""
    other = use.name.startswith(".") or use.name in program.fields or use.name in GRAPH
    return use.what == INDEXED and (use.name in (*SIDES, "weight") or not other)


def _refuse_sides(functor: Functor, touch: Access, weight: str) -> None:
    """Refuse an edge of one side as an index of what belongs to the other."""
    for name, place in sorted(touch.reads):
        side = weight if name == "weight" else SIDES.get(name)
        if side is None or place not in (EDGE, IN_EDGE, EITHER_EDGE) or place == side:
            continue
        if EITHER_EDGE in (place, side):
            instead = PUSH
        elif name == "weight" and place == IN_EDGE:
            instead = "an incoming edge has its weight in state.in_weight[edge]"
        elif name == "weight":
            instead = (
                "here it has the weights of incoming edges: store what you need of outgoing ones "
                "in a field, by a Compute before"
            )
        else:
            instead = (
                "offsets, targets and weight go together, and in_offsets, in_targets and in_weight"
            )
        what = {EDGE: "an outgoing edge", IN_EDGE: "an incoming edge"}.get(place, "its edge")
        raise FunctorError(
            f"{touch.places[name, place]}: functor {functor.__name__} reads state.{name} at {what}"
            f", where it has that of another: {instead}"
        )


def refuse_elements(program: Program) -> None:
    """Refuse elements that no compiled code can replace as a whole on this processor."""
    for name, field in program.fields.items():
        if field.several and field.storage.itemsize == WHOLE and not swaps_16_bytes():
            raise OptionError(
                f"an element of field {name!r} has {WHOLE} bytes, which this processor, or the one "
                "that NUMBA_CPU_NAME names, cannot replace at once: use values of fewer bytes"
            )


# ---------------------------------------------------------------------- several devices


def needs_ids(program: Program) -> bool:
    """Tell whether some functor of a program uses numbers of vertices as values."""
    return any(
        True for operator in _operators(program) for call in operator.calls
        for _ in _numbers_used(call, program)
    )  # fmt: skip


def refuse_on_many(program: Program, relabel: bool) -> None:
    """Refuse a program, its dtypes settled, that has no meaning on several devices.

    With `relabel` vertices have other numbers there than in the graph.
    """
    refuse_everywhere(program, many=True)
    for operator in _operators(program):
        for call in operator.calls:
            functor, touch = call.functor, access(call.functor, call.roles)
            if call.roles == (STATE,):
                _refuse_single_vertices(functor, touch, program)
                continue
            _refuse_far(functor, touch, program)
            _refuse_edges(call, touch, program)
            if relabel:
                for use, instead in _numbers_used(call, program):
                    _refuse_use(functor, use, instead)
            if EITHER_EDGE in call.roles:
                _refuse_pulls(functor, touch)
            _refuse_settings(operator, touch, program)
        refuse_atomics_on_many(program, operator)
    for until in program.untils:
        _refuse_single_vertices(until, access(until, (STATE,)), program)


def _operators(program: Program) -> Iterator[Operator]:
    for phase in program.all_phases:
        yield from phase.step


def _numbers_used(call: Call, program: Program) -> Iterator[tuple[Use, str]]:
    """Return where a functor uses numbers of vertices as values, and what it should do."""
    touch = access(call.functor, call.roles)
    for use in sorted(touch.uses):
        if use.number not in VERTICES or (use.what == RETURNED and not call.counts):
            continue
        if use.what != INDEXED:
            does = {STORED: "store", RETURNED: "return", DRAWN: "give it"}.get(use.what, "use")
            yield use, f"{does} state.ids[vertex], or leave out relabel=True"
        elif _is_shared(use.name, program):
            yield use, "index it by state.ids[vertex], or leave out relabel=True"
    if touch.walks and not program.unordered:
        yield Use(WALKED, "", "", touch.walks), (
            "leave out relabel=True, or promise by Program(unordered=True) that it does not matter"
        )  # fmt: skip
    if ("ids", ELSEWHERE) in touch.reads:
        place = touch.places.get(("ids", ELSEWHERE), "")
        yield Use(INDEXED, "ids", "", place), "leave out relabel=True"


def _refuse_use(functor: Functor, use: Use, instead: str) -> None:
    """Refuse a number that differs from device to device."""
    if use.what == WALKED:
        raise FunctorError(
            f"{use.place}: functor {functor.__name__} goes through the edges of a vertex, which on "
            f"several devices are in another order: {instead}"
        )
    whose = {OWN: "its vertex", NEAR: "a neighbour", "": "any other than its vertices"}
    number = f"the number of {whose.get(use.number, _kind(use))}"
    if use.what == INDEXED:
        does = f"indexes {_called(use.name)} by {number}"
    else:
        into = f" in {_called(use.name)}" if use.what == STORED else ""
        does = f"{DOES[use.what]} {number}{into}"
    raise FunctorError(
        f"{use.place}: functor {functor.__name__} {does}, which on several devices is its place in "
        f"a part: {instead}"
    )


def _kind(use: Use) -> str:
    return "a vertex" if use.number in VERTICES else "an edge"


def _called(name: str) -> str:
    if name == ".":
        return "an array"
    return name[1:] if name.startswith(".") else f"state.{name}"


def _is_shared(name: str, program: Program) -> bool:
    """Tell whether an array is the same on all devices: no element of it belongs to a vertex."""
    field = program.fields.get(name)
    return name.startswith(".") or (field is not None and field.length is not None)


def _refuse_edges(call: Call, touch: Access, program: Program) -> None:
    """Refuse numbers of edges but for finding what belongs to an edge."""
    for use in sorted(touch.uses):
        told = use.what == RETURNED and not call.counts
        if told or use.number in VERTICES:
            continue
        if use.what != INDEXED or _is_shared(use.name, program):
            _refuse_use(
                call.functor, use,
                "give what belongs to edges to the graph, graph.with_edge_data(name=array), and "
                "read state.name[edge]",
            )  # fmt: skip


def _refuse_far(functor: Functor, touch: Access, program: Program) -> None:
    """Refuse to look at, or to set, what is neither the vertex' own nor a neighbour's."""
    for name, place in sorted(touch.reads | touch.writes):
        where = f"{touch.places.get((name, place), place_of(functor))}: functor {functor.__name__}"
        if name in ROWS and place != OWN:
            raise OptionError(
                f"{where} reads the rows of another vertex, which another device may own: on "
                "several devices use Intersect, or run it on one"
            )
        if name == "ids" and place in (EDGE, IN_EDGE, EITHER_EDGE):
            raise FunctorError(f"{where} reads state.ids at an edge: it has a number per vertex")
        if place in (OWN, NEAR, ELSEWHERE) and name in (*SIDES, "weight"):
            raise FunctorError(
                f"{where} reads state.{name} at a place that is no edge of its vertex, which "
                "another device may own: go through its edges by for edge in "
                "range(state.offsets[vertex], state.offsets[vertex + 1])"
            )
        far = name in program.fields and program.fields[name].per_vertex
        if place not in (OWN, NEAR) and far:
            raise FunctorError(
                f"{where} touches state.{name} at a place that is neither its vertex nor a "
                "neighbour; on several devices another may own it: let values travel along edges, "
                "or run it on one device"
            )


def _refuse_pulls(functor: Functor, touch: Access) -> None:
    """Refuse to look at, or to set, more than values of the source where it may be a copy."""
    for name, place in sorted(touch.reads | touch.writes):
        if place == OWN and (name in ROWS or (name, place) in touch.writes):
            does = "sets" if (name, place) in touch.writes else "reads"
            raise FunctorError(
                f"{touch.places[name, place]}: functor {functor.__name__} {does} "
                f"state.{name} of the source, but {PUSH}"
            )


def _refuse_settings(operator: Operator, touch: Access, program: Program) -> None:
    """Refuse to set what others set, too, unless the field says how these meet."""
    kind = type(operator).__name__
    for name, place in sorted(touch.writes):
        field = program.fields.get(name)
        if field is None:
            continue
        if field.length is not None and field.combine in (None, "any", "sum"):
            several = "" if field.length == 1 else (
                "; to count things, store at each vertex what is counted, and count in the answer "
                "(np.bincount), or run it on one device"
            )  # fmt: skip
            raise OptionError(
                f"a functor of {kind} sets {name!r}, which all vertices share: on several devices "
                f"it needs combine='min', 'max' or 'or', or sums={several}"
            )
        if field.per_vertex and place != OWN and field.combine is None:
            raise OptionError(
                f"a functor of {kind} sets {name!r} of another vertex: on several devices the "
                "field needs a combine"
            )


def _refuse_single_vertices(functor: Functor, touch: Access, program: Program) -> None:
    for name, _ in sorted(touch.reads | touch.writes):
        if name in GRAPH or (name in program.fields and program.fields[name].length is None):
            raise OptionError(
                f"{functor.__name__} touches {name!r} of single vertices, which other devices may "
                "own: sum it up with a Compute, and ask for the sum"
            )


def may_write(functor: Functor) -> bool:
    """Tell whether a functor, or what it calls, may set elements; quickly, by its code alone."""
    return any(map(_writes, _reached(functor, set())))


def calls_atomics(functor: Functor) -> bool:
    """Tell whether a functor, or what it calls, may change elements by atomics."""
    return any(not isinstance(each, FunctionType) for each in _reached(functor, set()))


def _reached(functor: Any, seen: set[Any]) -> Iterator[Any]:
    """Return a function, and what it may call."""
    function = getattr(functor, "py_func", functor)
    if any(function is each for each in ATOMICS.values()):
        yield function
    if isinstance(function, FunctionType) and function not in seen and not is_well_known(function):
        seen.add(function)
        yield function
        for other in mentioned(function):
            yield from _reached(other, seen)


def _writes(function: Any) -> bool:
    """Tell whether a function may set elements of an array by itself."""
    if not isinstance(function, FunctionType):
        return True
    return any(step.opname in ("STORE_SUBSCR", "STORE_ATTR")
               for step in dis.get_instructions(function))  # fmt: skip

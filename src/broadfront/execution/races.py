"""What is refused because the order of calls would show in the answer.

An operator calls its functor for many vertices or edges at once. What one call stores must be
nobody else's: an element of the vertex that the functor is called for. Whatever
several calls may set takes one number always, an atomic, or a proposal that a `combine` decides.
Where a functor is called for an edge, it sets what is the same for all edges of its vertex.
And no call may read, at another vertex or in a shared value, what other calls of the same operator
store: it would see it or not. Atomics are for those who know that order does not matter to them.

So a program without atomics gives one answer, on any number of threads and devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from broadfront.errors import FunctorError, OptionError
from broadfront.execution.access import CONSTANT, PLAIN, Access, Store, access
from broadfront.execution.program import Program
from broadfront.execution.varying import varying_stores
from broadfront.operators.describe import Functor, Operator
from broadfront.operators.field import Field
from broadfront.operators.roles import EDGES, OWN, STATE, Roles

Touch = tuple[Functor, Roles, Access]

MATCHING = {"add": "sum", "minimum": "min", "maximum": "max", "bitwise_or": "or"}
"""The combine that brings together what an atomic has done on several devices."""


def refuse_races(program: Program, operator: Operator) -> None:
    """Refuse an operator whose functors store what other calls store or read."""
    if operator.only_asks:
        _refuse_sets(operator)
    touches = list(_touches(operator))
    contended = {
        store.name for _, roles, touch in touches for store in touch.stores
        if _is_contended(store, program, _owns_edges(roles, touch))
    }  # fmt: skip
    numbers: dict[str, float | None] = {}
    for functor, _, touch in touches:
        for store in sorted(touch.stores):
            if store.name not in contended:
                continue
            first = numbers.setdefault(store.name, store.number)
            one_place = program.fields[store.name].length in (None, 1)
            if store.how == PLAIN or (
                store.how == CONSTANT and one_place and store.number != first
            ):
                raise FunctorError(
                    f"{store.place}: functor {functor.__name__} sets state.{store.name}, which "
                    f"other calls of it may set at the same time: {_instead(store, program)}"
                )
    _refuse_differing(program, touches)
    _refuse_seen(program, operator, touches)


def _refuse_seen(program: Program, operator: Operator, touches: list[Touch]) -> None:
    """Refuse to read what other calls of the same operator store."""
    for writer, _, writing in touches:
        for store in sorted(writing.stores):
            if store.how not in (PLAIN, CONSTANT) or store.name not in program.fields:
                continue
            for functor, roles, reading in _heard_late(operator, touches):
                for name, whose in sorted(reading.reads):
                    own = whose in EDGES and _owns_edges(roles, reading)
                    if whose == OWN:  # several calls for the edges of a vertex set it
                        own = functor is not writer or not any(role in EDGES for role in roles)
                    if name == store.name and (not own or _is_shared(name, program)):
                        raise FunctorError(
                            f"{reading.places[name, whose]}: functor {functor.__name__} reads "
                            f"state.{name}, which other calls in the same {_kind(operator)} set: "
                            "it may see it before or after; store in a second field, and take it "
                            "over by a Compute of its own"
                        )


def _refuse_differing(program: Program, touches: list[Touch]) -> None:
    """Refuse what the calls for the edges of a vertex would each set to something else there."""
    for functor, roles, touch in touches:
        own = [store for store in sorted(touch.stores)
               if store.whose == OWN and store.how in (PLAIN, CONSTANT)
               and store.name in program.fields and program.fields[store.name].per_vertex
               ]  # fmt: skip
        if not own or not any(role in EDGES for role in roles):
            continue
        varying = varying_stores(functor, roles, {store.name for store in own})
        first: dict[str, Store] = {}
        for store in own:
            other = first.setdefault(store.name, store)
            same = other.how == store.how == CONSTANT and other.number == store.number
            if store.place in varying or (other is not store and not same):
                raise FunctorError(
                    f"{store.place}: functor {functor.__name__} sets state.{store.name} of its own "
                    "vertex to something else for each edge, in no order: propose it along edges "
                    "that go to it, combine it by a Reduce and set it in apply, or use "
                    "Field(..., per='edge')"
                )


def refuse_atomics_on_many(program: Program, operator: Operator) -> None:
    """Refuse atomics on copies and shared values that the field's combine does not match."""
    for functor, _, touch in _touches(operator):
        for store in sorted(touch.stores):
            field = program.fields.get(store.name)
            if field is None or field.per == "edge":
                continue
            if field.length is None and store.whose == OWN:
                continue
            if store.how == CONSTANT:
                _refuse_worse(functor, store, field)
            if store.how in (PLAIN, CONSTANT) or field.combine == "any":
                continue
            if MATCHING.get(store.how) != field.combine:
                fitting = {combine: name for name, combine in MATCHING.items()}
                named = fitting.get(str(field.combine))
                instead = f"use atomics.{named}" if named else "propose it with an Advance"
                raise OptionError(
                    f"{store.place}: functor {functor.__name__} changes state.{store.name} by "
                    f"atomics.{store.how}, but copies of it on several devices meet by "
                    f"combine={field.combine!r}: {instead}"
                )


def _refuse_worse(functor: Functor, store: Store, field: Field) -> None:
    """Refuse to store a number that the field's combine may not take: copies meet by that."""
    assert store.number is not None
    number, combine = store.number, field.combine
    if (
        (combine == "min" and number <= field.fill)
        or (combine == "max" and number >= field.fill)
        or (combine == "or" and int(number) | int(field.fill) == number)
    ):
        return
    fitting = {combine: name for name, combine in MATCHING.items()}.get(str(combine))
    named = f"use atomics.{fitting}" if fitting else "propose it with an Advance"
    raise FunctorError(
        f"{store.place}: functor {functor.__name__} sets state.{store.name} to {number:g}; copies "
        f"of it on several devices meet by combine={combine!r}, which may not take that: {named}, "
        "or a combine that prefers it to the fill"
    )


def _refuse_sets(operator: Operator) -> None:
    """Refuse a functor that is only asked to look at what comes to be, or to set anything."""
    for functor, _, touch in _touches(operator):
        for store in sorted(touch.stores):
            raise FunctorError(
                f"{store.place}: functor {functor.__name__} sets state.{store.name}, but a "
                f"{_kind(operator)} asks of some edges only whether they count: set it in an "
                "Advance or a Compute"
            )
        for name, whose in sorted(touch.reads):
            if name in operator.sets_own:
                raise FunctorError(
                    f"{touch.places[name, whose]}: functor {functor.__name__} reads state.{name}, "
                    f"which the {_kind(operator)} sets meanwhile: give it a field of its own"
                )


def _touches(operator: Operator) -> Iterator[Touch]:
    for functor, roles in operator.roles:
        if roles != (STATE,):
            try:
                yield functor, roles, access(functor, roles)
            except OptionError:  # it gives its state away, which one device may allow
                continue


def _is_shared(name: str, program: Program) -> bool:
    return name in program.fields and program.fields[name].length is not None


def _owns_edges(roles: Roles, touch: Access) -> bool:
    """Tell whether no other call touches the edges that a call of a functor touches.

    One that is called for an edge may go through all edges of its vertex, as others do.
    """
    return not (touch.walks and any(role in EDGES for role in roles))


def _is_contended(store: Store, program: Program, owns_edges: bool) -> bool:
    """Tell whether several calls may set the same element."""
    if store.name not in program.fields or (store.whose in EDGES and owns_edges):
        return False
    return _is_shared(store.name, program) or store.whose != OWN


def _heard_late(operator: Operator, touches: list[Touch]) -> list[Touch]:
    """Return the functors that are called while others of the operator store already.

    Where a `Reduce` asks every vertex once, all have answered before anything is applied; the
    `activate` of an `Advance` is asked when it is over.
    """
    apart = [call.functor for call in operator.calls if call.apart]
    return [touch for touch in touches if touch[0] not in apart]


def _instead(store: Store, program: Program) -> str:
    field = program.fields[store.name]
    fitting = {combine: name for name, combine in MATCHING.items()}.get(str(field.combine))
    atomic = f"broadfront.atomics.{fitting or 'maximum'}"
    if field.length is not None:
        return f"add it up by sums=, or use {atomic}, or do it in a Once"
    return f"propose it with an Advance into={store.name!r}, or use {atomic}"


def _kind(operator: Operator) -> str:
    return type(operator).__name__

"""Sums without rounds: every vertex takes what it was sent since the last time, and hands that on.

    Compute(take, over="frontier")                 takes state.delta[vertex], and sets it to zero
    Advance(hand_on, into="delta", activate=...)   proposes from what was taken

A delta is taken once, so nothing counts twice, in whatever order vertices are served. Copies of
other devices' vertices gather what is proposed to them and are taken, too, when they are sent. What
`activate` leaves where it is (little enough to wait for more) depends on the order, so the author
promises by ``synchronous=False`` that it does not matter.

Without a `Compute` a vertex proposes the same each time, which is right where `activate` is true of
a vertex once, as in peeling a k-core.

References
----------
Zhang, Gao, Gao, Wang: Maiter, an asynchronous graph processing framework for delta-based
accumulative iterative computation (IEEE TPDS 2014).
"""

from __future__ import annotations

from broadfront.errors import OptionError
from broadfront.execution.access import CONSTANT, touched
from broadfront.execution.asynchronous.step import INSTEAD, Step
from broadfront.execution.faults import place_of
from broadfront.execution.program import Program
from broadfront.operators.roles import NEAR, OWN


def refuse_whole_sums(program: Program, step: Step) -> None:
    """Refuse a program that adds up, but not by deltas."""
    name, into = f"execution='async': {program.name!r}", step.advance.into
    if step.advance.activate is None or step.advance.synchronous is not False:
        raise OptionError(
            f"{name} adds up proposals for {into!r}, and a vertex that improves twice would "
            "propose twice: combine by 'min', 'max', 'or', 'any' or an idempotent Monoid; or hand "
            "on deltas, by a Compute over the frontier that takes them, and an Advance with "
            f"activate= and synchronous=False (docs/asynchronous.md); or {INSTEAD}"
        )
    for option in ("priority", "record_source"):
        if getattr(step.advance, option) is not None:
            raise OptionError(f"{name} adds up and has {option}=: leave it out, or {INSTEAD}")
    fields = {field for field, kind in program.fields.items() if kind.per_vertex}
    written = {into}
    if step.take is not None:
        _refuse_take(program, step, name)
        written |= {field for field, _ in touched(step.take.roles).writes}
    asked = touched(pair for pair in step.advance.roles if pair[0] is not step.advance.activate)
    for field, place in sorted(asked.reads):
        if field in fields and ((field in written and place == NEAR) or field == into):
            whose = "a neighbour" if place == NEAR else "its source, which was taken"
            raise OptionError(
                f"{name}: {asked.places.get((field, place), place_of(step.advance.functor))}: an "
                f"Advance that adds up without iterations reads state.{field} of {whose}: {INSTEAD}"
            )


def _refuse_take(program: Program, step: Step, name: str) -> None:
    """Refuse a `Compute` that touches others, or does not take what has been added up."""
    assert step.take is not None
    into, functor = step.advance.into, step.take.functor
    touch = touched(step.take.roles)
    neutral = program.fields[into].neutral
    written = {field for field, _ in touch.writes}
    for field, place in sorted(touch.reads | touch.writes):
        changes = field in written or (field == into)
        if changes and field in program.fields and place != OWN:
            raise OptionError(
                f"{name}: {touch.places.get((field, place), place_of(functor))}: a Compute before "
                f"an Advance that adds up touches state.{field} elsewhere than at its vertex: "
                f"{INSTEAD}"
            )
    taken = [store for store in touch.stores if store.name == into]
    if not taken or any(store.how != CONSTANT or store.number != neutral for store in taken):
        raise OptionError(
            f"{name}: {place_of(functor)} does not take what state.{into} has added up: read it, "
            f"then write state.{into}[vertex] = {neutral!r}; or {INSTEAD}"
        )

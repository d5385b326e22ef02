"""What must cross between devices for a program to mean on many what it means on one.

Every device holds copies of the neighbours of its own vertices, its ghosts. A copy is right until
an operator changes the field at its owner; from then on it is stale, and is refreshed before the
next operator that asks neighbours for it. What an operator proposes to a ghost goes to the owner
right after it. Values shared by all vertices are agreed upon after the operator that sets them.

All of it is known before the program runs, from what functors touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from broadfront.errors import OptionError
from broadfront.execution.access import Access, access, touched
from broadfront.execution.program import Phase, Program
from broadfront.execution.refusals import refuse_on_many
from broadfront.execution.repeat import Repeat
from broadfront.operators.describe import Advance, Levels, Operator
from broadfront.operators.roles import OWN, STATE

MOST_SHARED = 28
"""Values that an operator may set for all devices: so many are agreed upon at once."""
MOST_CARRIED = 6
"""Shared values that a message may carry beside what it is for."""


class Shared(NamedTuple):
    """A value that all devices hold: where it is in the state, and how those of devices meet."""

    place: int
    element: int
    combine: str
    real: bool


@dataclass
class Plan:
    """What crosses, operator by operator.

    Attributes
    ----------
    copies
        The fields of which devices keep copies for their ghosts.
    before
        Fields to refresh at ghosts before an operator.
    with_frontier
        Fields that go to ghosts with the frontier, before a pull.
    agreed
        Shared values to agree upon after an operator.
    proposed
        Fields that functors of an operator change at neighbours, whose copies go to owners.
    by_level
        For each `Levels`, the field of its levels, and fields that go to ghosts after each level.
    carried
        For a `Levels`, the shared values to agree upon that only its `when` reads.
    emptied
        Fields that add up, whose copies are emptied before an operator adds to them.
    adding
        All fields that add up at ghosts: copies of them begin empty.
    """

    copies: set[str] = field(default_factory=set)
    before: dict[Operator, set[str]] = field(default_factory=dict)
    with_frontier: dict[Operator, set[str]] = field(default_factory=dict)
    agreed: dict[Operator, tuple[Shared, ...]] = field(default_factory=dict)
    proposed: dict[Operator, set[str]] = field(default_factory=dict)
    by_level: dict[Operator, tuple[str, set[str]]] = field(default_factory=dict)
    carried: dict[Operator, tuple[Shared, ...]] = field(default_factory=dict)
    emptied: dict[Operator, set[str]] = field(default_factory=dict)
    adding: set[str] = field(default_factory=set)


def planned(program: Program, names: tuple[str, ...], relabel: bool = False) -> Plan:
    """Return what must cross between devices for `program`, its dtypes settled."""
    refuse_on_many(program, relabel)
    plan = Plan()
    touches = {operator: touched(operator.roles) for operator in _operators(program)}
    everything = Access(frozenset(), frozenset())
    levels = ""
    for operator, touch in touches.items():
        _note(operator, touch, program, names, plan)
        everything |= touch
        if isinstance(operator, Levels):
            levels = operator.by or levels
            asked = {name for name, place in _per_vertex(program, touch.reads) if place != OWN}
            set_ = {name for name, _ in _per_vertex(program, touch.writes)}
            plan.by_level[operator] = levels, asked & set_
            plan.copies.add(levels)
            if _reads_shared_only_in_when(operator, program):
                plan.carried[operator] = plan.agreed[operator]
    written = {name for name, _ in everything.writes} | {
        name for operator in touches for name in (*operator.sets_near, *operator.sets_own)
    }
    for operator in touches:
        if operator in plan.with_frontier:
            plan.with_frontier[operator] &= written
    adds = {operator: _added(operator, program, plan) for operator in touches}
    plan.adding = set().union(*adds.values())
    _find_stale(program, touches, plan, adds)
    refreshed = set().union(*plan.before.values())
    plan.emptied = {operator: fields & refreshed for operator, fields in adds.items()}
    return plan


def _reads_shared_only_in_when(operator: Levels, program: Program) -> bool:
    """Tell whether what a `Levels` sets for all is read by `when` alone, and fits a message."""
    others = [pair for pair in operator.roles if pair[0] is not operator.when]
    set_ = {name for name, _ in touched(others).writes} & _shared_fields(program)
    read = {name for name, _ in touched(others).reads}
    length = sum(program.fields[name].length or 0 for name in set_)
    return 0 < length <= MOST_CARRIED and not set_ & read


def _shared_fields(program: Program) -> set[str]:
    return {name for name, kind in program.fields.items() if kind.length is not None}


def _operators(program: Program) -> list[Operator]:
    return [operator for phase in program.all_phases for operator in phase.step]


def _per_vertex(program: Program, pairs: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(name, place) for name, place in pairs
            if name in program.fields and program.fields[name].per_vertex}  # fmt: skip


def _note(
    operator: Operator, touch: Access, program: Program, names: tuple[str, ...], plan: Plan
) -> None:
    """Note what one operator needs by itself."""
    reads, writes = _per_vertex(program, touch.reads), _per_vertex(program, touch.writes)
    plan.copies |= {name for name, place in reads | writes if place != OWN}
    plan.copies |= {*operator.sets_near}
    plan.proposed[operator] = {name for name, place in writes if place != OWN}
    if isinstance(operator, Advance) and operator.cond is not None:
        source = access(operator.functor, (OWN, None, None, STATE))
        asked = {name for name, place in _per_vertex(program, source.reads) if place == OWN}
        plan.with_frontier[operator] = asked | {operator.into}
        plan.copies |= asked
    shared = [
        Shared(names.index(name), 0, "sum", _is_real(program, name)) for name in operator.totals
    ]
    for name in sorted({name for name, _ in touch.writes}):
        kind = program.fields.get(name)
        if kind is not None and kind.length is not None and not operator.runs_alike:
            real = _is_real(program, name)
            shared += [Shared(names.index(name), element, str(kind.combine), real)
                       for element in range(kind.length)]  # fmt: skip
    if len(shared) > MOST_SHARED:
        raise OptionError(f"an operator sets {len(shared)} shared values, more than {MOST_SHARED}")
    plan.agreed[operator] = tuple(shared)


def _is_real(program: Program, name: str) -> bool:
    return np.dtype(program.fields[name].dtype).kind == "f"


def _find_stale(
    program: Program,
    touches: dict[Operator, Access],
    plan: Plan,
    adds: dict[Operator, set[str]],
) -> None:
    """Find which copies are stale before each operator.

    A copy that takes proposals other than sums must be fresh, since all of it goes to the owner. An
    `Advance` alone only improves: copies that lag behind its owner are still good to compare with,
    unless something else has set the field since, and spoiled them.
    """

    def visit(operator: Operator, stale: set[str], spoiled: set[str]) -> None:
        touch = touches[operator]
        asked = {name for name, place in _per_vertex(program, touch.reads) if place != OWN}
        for name in sorted(asked & adds[operator]):
            raise OptionError(
                f"{name!r} adds up proposals and is asked of neighbours by the same "
                f"{type(operator).__name__}, which has no meaning on several devices"
            )
        into = {*operator.proposes}
        asked -= into - spoiled
        asked |= into & spoiled - adds[operator]
        if isinstance(operator, Levels) and operator.by is not None:
            asked.add(operator.by)
        asked |= plan.proposed[operator] - adds[operator]
        needed = asked & stale
        plan.before.setdefault(operator, set()).update(needed)
        stale -= needed
        spoiled -= needed
        set_ = {name for name, _ in _per_vertex(program, touch.writes)} | {*operator.sets_own}
        stale |= set_
        spoiled |= set_
        stale -= plan.by_level.get(operator, ("", set()))[1]
        stale |= {*operator.sets_near, *operator.sets_own}

    _go_through(program.members, set(plan.adding), set(), visit)


def _go_through(
    members: Sequence[Phase | Repeat],
    stale: set[str],
    spoiled: set[str],
    visit: Callable[[Operator, set[str], set[str]], None],
) -> None:
    """Visit operators in the order in which they may run, what repeats twice.

    What has come to be stale on any way through is stale: a phase may not run at all, for which an
    empty frontier is enough.
    """
    for member in members:
        passed_over = member.limit is not None or (isinstance(member, Phase) and member.advances)
        ways = [(set(stale), set(spoiled))] if passed_over else []
        for _ in range(2):
            if isinstance(member, Repeat):
                _go_through(member.phases, stale, spoiled, visit)
                continue
            for operator in member.step:
                visit(operator, stale, spoiled)
        for also_stale, also_spoiled in ways:
            stale |= also_stale
            spoiled |= also_spoiled


def _added(operator: Operator, program: Program, plan: Plan) -> set[str]:
    """Return the fields that an operator adds to at ghosts."""
    return {name for name in plan.proposed[operator].union(operator.proposes)
            if program.fields[name].adds_up}  # fmt: skip

"""An `Advance` rewritten so that its functors do not see what it proposes itself.

    Advance(functor, into="next_of_x")                     proposals meet in a second field
    Compute(x[v] = next_of_x[v], over="frontier")          which then counts
    Filter(activate(v, before_of_x[v], x[v], state))       and each vertex is asked once

Functors go on reading the field itself. Where other operators set it, the second field follows. So
what devices run is a program of operators that they know.

Invariant: the second field equals the first whenever such an `Advance` begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any, NamedTuple

from broadfront.errors import FunctorError, OptionError
from broadfront.execution.access import touched
from broadfront.execution.answer import Answer
from broadfront.execution.faults import place_of
from broadfront.execution.program import RESERVED, Phase, Program
from broadfront.execution.repeat import Repeat
from broadfront.operators.describe import Advance, Compute, Filter, Functor, Operator
from broadfront.operators.roles import ELSEWHERE, OWN


class Meaning(NamedTuple):
    """A program as devices run it; its answer is that of the program as it was written."""

    program: Program
    hidden: Mapping[str, str]
    """Fields that were not written down, and the field that each begins as."""

    def start(self, init: Mapping[str, Any]) -> dict[str, Any]:
        """Return what fields begin with, hidden ones too."""
        begun = {name: init[real] for name, real in self.hidden.items() if real in init}
        return {**init, **begun}

    def shown(self, answer: Answer) -> Answer:
        """Return an answer without what is hidden."""
        if not self.hidden:
            return answer
        fields = {name: array for name, array in answer.fields.items() if name not in self.hidden}
        return replace(answer, fields=fields)


class _Second(NamedTuple):
    """The names of a field, of the one that takes its proposals, and of what it was before."""

    real: str
    hidden: str
    before: str


def lowered(program: Program, strict: set[Advance]) -> Meaning:
    """Return the program in which some `Advance` propose into fields of their own."""
    if not strict:
        return Meaning(program, {})
    taken = {*program.fields, *program.parameters, *RESERVED}
    seconds = {
        name: _Second(name, _free(f"next_of_{name}", taken), _free(f"before_of_{name}", taken))
        for operator in program.operators if operator in strict
        for name in _hidden_by(operator, program)
    }  # fmt: skip
    asked = {operator.into for operator in strict if operator.activate is not None}
    fields = dict(program.fields)
    for name, second in seconds.items():
        fields[second.hidden] = program.fields[name]
        if name in asked:
            fields[second.before] = replace(program.fields[name], combine=None)
    rewriting = _Rewriting(program, strict, seconds)
    lowered = replace(program, fields=fields, step=(), phases=rewriting.of(program.members))
    hidden = fields.keys() - program.fields.keys()
    return Meaning(lowered, {name: _real_name(name, seconds) for name in sorted(hidden)})


def _real_name(name: str, seconds: Mapping[str, _Second]) -> str:
    return next(real for real, second in seconds.items() if name in second)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "x"
    return name


def _hidden_by(operator: Advance, program: Program) -> list[str]:
    """Return the fields that an `Advance` must not be seen to write while it runs."""
    source = operator.record_source
    try:
        asked = touched([pair for pair in operator.roles if pair[0] is not operator.activate])
    except OptionError:  # it gives its state away, which one device may allow
        return [operator.into, *([source] if source else [])]
    if operator.into in {name for name, _ in asked.writes}:
        raise FunctorError(
            f"{place_of(operator.functor)} proposes for state.{operator.into} and sets it as well: "
            "set it in a Compute"
        )
    return [operator.into, *([source] if source in {name for name, _ in asked.reads} else [])]


class _Rewriting(NamedTuple):
    """A program that is being rewritten, and which `Advance` of it propose elsewhere."""

    program: Program
    strict: set[Advance]
    seconds: Mapping[str, _Second]

    def of(self, members: Sequence[Phase | Repeat]) -> list[Phase | Repeat]:
        """Return phases as they are run."""
        made: list[Phase | Repeat] = []
        for member in members:
            if isinstance(member, Repeat):
                made.append(replace(member, phases=self.of(member.phases)))
            else:
                made += self._phase(member)
        return made

    def _phase(self, phase: Phase) -> list[Phase]:
        used = sorted({
            name for operator in phase.step if operator in self.strict
            for name in _hidden_by(operator, self.program)
        })  # fmt: skip
        if not used:
            return [phase]
        steps: list[Operator] = []
        for operator in phase.step:
            if operator in self.strict:
                steps += _lowered_advance(operator, self.seconds)
                continue
            steps.append(operator)
            for name in used:
                if name in written_by(operator, self.program):
                    at_front = _at_frontier(operator, name, self.program)
                    over = "frontier" if at_front else "vertices"
                    steps.append(Compute(_named(_follow, self.seconds[name]), over=over))
        ready = [Compute(_named(_follow, self.seconds[name]))
                 for name in used if self._is_set_outside(phase, name)]  # fmt: skip
        before = [Phase(ready, counts=False)] if ready else []
        return [*before, replace(phase, step=steps)]

    def _is_set_outside(self, phase: Phase, name: str) -> bool:
        """Tell whether a field is set in another phase, and not by way of its second one."""
        return any(
            name in written_by(operator, self.program)
            for other in self.program.all_phases if other != phase
            for operator in other.step if operator not in self.strict
        )  # fmt: skip


def _lowered_advance(operator: Advance, seconds: Mapping[str, _Second]) -> list[Operator]:
    into = seconds[operator.into]
    source = operator.record_source
    hidden = seconds.get(source) if source is not None else None
    direction = operator.direction or "push"  # without an end at the first proposal pulls are long
    advance = replace(
        operator, into=into.hidden, record_source=hidden.hidden if hidden else source,
        activate=None, direction=direction, synchronous=False,
    )  # fmt: skip
    take = _take if operator.activate is None else _take_and_remember
    steps: list[Operator] = [advance, Compute(_named(take, into), over="frontier")]
    if hidden is not None:
        steps.append(Compute(_named(_take, hidden), over="frontier"))
    if operator.activate is not None:
        steps.append(Filter(_asking(operator.activate, into)))
    return steps


def _at_frontier(operator: Operator, name: str, program: Program) -> bool:
    """Tell whether all that an operator sets in a field is at vertices that it leaves in front."""
    if isinstance(operator, Advance):
        plain = operator.priority is None and operator.activate is None
        return plain and name not in {name for name, _ in touched(operator.roles).writes}
    return (
        isinstance(operator, Compute) and operator.over == "frontier"
        and written_by(operator, program)[name] == {OWN}
    )  # fmt: skip


def written_by(operator: Operator, program: Program) -> dict[str, set[str]]:
    """Return the fields that an operator sets, and at whose places."""
    found: dict[str, set[str]] = {}
    try:
        pairs = set(touched(operator.roles).writes)
    except OptionError:  # it gives its state away, which one device may allow
        pairs = {(name, ELSEWHERE) for name in program.fields}
    pairs |= {(name, OWN) for name in (*operator.sets_near, *operator.sets_own)}
    for name, place in pairs:
        found.setdefault(name, set()).add(place)
    return found


# ---------------------------------------------------------------------- functors


def _take(vertex, state):
    state.real[vertex] = state.hidden[vertex]


def _take_and_remember(vertex, state):
    state.before[vertex] = state.real[vertex]
    state.real[vertex] = state.hidden[vertex]


def _follow(vertex, state):
    state.hidden[vertex] = state.real[vertex]


def _asking(activate: Functor, second: _Second) -> Functor:
    def keep(vertex, state):
        return activate(vertex, state.before[vertex], state.real[vertex], state)

    asking: Functor = _named(keep, second)
    vars(asking)["asks"] = activate  # errors name this one
    return asking


def _named(functor: Any, second: _Second) -> Any:
    """Return a functor with the names of a field in place of those that it is written with."""
    names = second._asdict()
    code = functor.__code__
    code = code.replace(co_names=tuple(names.get(name, name) for name in code.co_names))
    return FunctionType(code, functor.__globals__, functor.__name__, None, functor.__closure__)

"""What the frontier of an `Advance` must be, because of the other operators of its program.

Two threads that improve a vertex at once may both put it into the next queue. Its edges are then
walked twice, which costs less than to prevent it, and changes nothing where all that operators do
is the same if done again. Where it is not, a vertex enters by its mark, once.

Who wants proposals is kept as a bitmap from one pull to the next, and follows the proposals that
are taken. Where something else can change what `cond` says, it is made anew before each pull.
"""

from __future__ import annotations

from broadfront.errors import OptionError
from broadfront.execution.access import touched
from broadfront.execution.names import COUNTERS, names_in
from broadfront.execution.program import Program
from broadfront.execution.refusals import calls_atomics, may_write
from broadfront.operators.describe import Advance, Operator
from broadfront.operators.roles import NEAR, STATE


def refuse_without_frontier(program: Program) -> None:
    """Refuse a program that goes on from a frontier which nobody has given, and nothing makes."""
    operators = program.operators
    if any(step.makes_frontier and not step.takes_frontier for step in operators):
        return
    if any(step.takes_frontier for step in operators):
        raise OptionError(
            f"{program.name!r} has no frontier to begin with: give run(frontier=...), range(n) "
            "for all vertices, or make one by Filter(..., over='vertices')"
        )


def notices_twice(program: Program) -> bool:
    """Tell whether an operator of a program would do more for a vertex that is there twice."""
    return any(_notices(operator, program) for operator in program.operators)


def _notices(operator: Operator, program: Program) -> bool:
    if not operator.takes_frontier:
        return False
    if operator.totals or any(program.fields[name].adds_up for name in operator.proposes):
        return True
    functors = [functor for functor, _ in operator.roles]
    if not any(map(may_write, functors)):
        return False
    if any(map(calls_atomics, functors)):
        return True
    try:
        touch = touched(operator.roles)
    except OptionError:  # the state is given to a function of which nothing is known
        return True
    return not {name for name, _ in touch.writes}.isdisjoint(name for name, _ in touch.reads)


def wanting_changes(operator: Advance, program: Program) -> bool:
    """Tell whether `cond` may come to say something else by more than the operator's proposals."""
    if not operator.may_pull or operator.cond is None:
        return False
    if not names_in(operator.cond).isdisjoint(COUNTERS):
        return True
    others = [other for other in program.operators if other != operator]
    if any(other.may_pull for other in others):
        return True
    try:
        written = set().union(*(_written(other) for other in others), _set_by_functors(operator))
        if not written:
            return False
        return not written.isdisjoint(
            name for name, _ in touched([(operator.cond, (NEAR, STATE))]).reads
        )
    except OptionError:
        return True


def _written(operator: Operator) -> set[str]:
    """Return the fields that an operator changes."""
    own = {*operator.sets_near, *operator.sets_own, *operator.totals}
    return own | _set_by_functors(operator)


def _set_by_functors(operator: Operator) -> set[str]:
    writers = [pair for pair in operator.roles if may_write(pair[0])]
    return {name for name, _ in touched(writers).writes}

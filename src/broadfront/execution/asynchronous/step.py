"""What a program does to a vertex each time that it is served: an `Advance`, or a `Compute` before.

Other programs have no such step, and are refused with what to do instead.
"""

from __future__ import annotations

from typing import NamedTuple

from broadfront.errors import OptionError
from broadfront.execution.program import Program
from broadfront.execution.repeat import Repeat
from broadfront.operators.describe import Advance, Compute

INSTEAD = "run it with execution='bsp'"


class Step(NamedTuple):
    """What happens to a vertex that is served."""

    take: Compute | None
    """What it does for itself first; None if nothing."""
    advance: Advance


def only_step(program: Program) -> Step:
    """Return the step that a program repeats; refuse any other program."""
    name = f"execution='async': {program.name!r}"
    member = program.members[0]
    if len(program.members) > 1 or isinstance(member, Repeat):
        raise OptionError(_several(name))
    *before, operator = member.step
    if not isinstance(operator, Advance):
        raise OptionError(
            f"{name} is of {type(operator).__name__}, which goes over all vertices at once; only "
            f"an Advance goes on from what has improved: {INSTEAD}"
        )
    take = before[0] if before else None
    if len(before) > 1 or (take is not None and not _over_frontier(take)):
        raise OptionError(_several(name))
    if member.limit is not None or member.until is not None:
        raise OptionError(f"{name} ends by limit= or until=, and there are no rounds: {INSTEAD}")
    return Step(take if isinstance(take, Compute) else None, operator)


def _over_frontier(operator: object) -> bool:
    return isinstance(operator, Compute) and operator.over == "frontier" and not operator.sums


def _several(name: str) -> str:
    return (
        f"{name} has several operators or phases, and is for one Advance that repeats until "
        f"nothing improves: {INSTEAD}"
    )

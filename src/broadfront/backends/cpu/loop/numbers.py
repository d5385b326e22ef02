"""Numbers of a program that its loop reads while it runs: limits, fills and identities.

They are not compiled in, so programs that differ in nothing else share a loop. The fill of a field
that combines by ``any`` is compiled in, and so is the identity of a monoid.
"""

from __future__ import annotations

from collections.abc import Sequence

from broadfront.backends.cpu.operators.frontier import Numbers
from broadfront.execution.program import Phase, Program
from broadfront.execution.repeat import Repeat
from broadfront.operators.describe import Operator, Reduce

WITHOUT_END = 1 << 62


def numbers_of(program: Program) -> Numbers:
    """Return the numbers that the loop of a program, its dtypes settled, reads; found once."""
    kept = program._loops
    if numbers_of not in kept:
        kept[numbers_of] = Numbers(
            tuple(_limits(program.members)),
            tuple(field.constant(field.fill) for field in program.fields.values()),
            tuple(operator.identity for operator in _reduces(program.operators)),
        )
    numbers: Numbers = kept[numbers_of]
    return numbers


def place_of_identity(operator: Reduce, program: Program) -> int:
    """Return where among the identities that of an operator is."""
    return _reduces(program.operators).index(operator)


def _reduces(operators: Sequence[Operator]) -> list[Reduce]:
    return [operator for operator in operators if isinstance(operator, Reduce)]


def _limits(members: Sequence[Phase | Repeat]) -> list[int]:
    """Return how often members run at most: each before those inside it, in order."""
    limits = []
    for member in members:
        once = isinstance(member, Phase) and not member.advances and member.until is None
        without = 1 if once else WITHOUT_END
        limits.append(without if member.limit is None else int(member.limit))
        if isinstance(member, Repeat):
            limits += _limits(member.phases)
    return limits

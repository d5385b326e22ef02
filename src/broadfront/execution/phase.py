"""A phase of a program: operators in order, and how often they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from broadfront.errors import OptionError
from broadfront.functors import check_functor
from broadfront.given import flag, is_integer, listed
from broadfront.operators.describe import Functor, Operator, Reduce

FEW = 4
"""Iterations that are over sooner than a graph is prepared for them."""


@dataclass(frozen=True)
class Phase:
    """Operators in order, and how often.

    Parameters
    ----------
    step
        The operators.
    until
        ``until(state)``: stop after the iteration in which it is true. Without it, a phase that
        advances runs until the frontier is empty, and any other phase runs once.
    limit
        At most so many iterations.
    counts
        Whether this counts as iterations. What does not, such as making ready, is recorded with the
        iteration that follows.
    """

    step: Sequence[Operator]
    until: Functor | None = None
    limit: int | None = None
    counts: bool = True

    def __post_init__(self) -> None:
        listed(self.step, "step")
        if not self.step:
            raise OptionError("a phase needs operators, and its step has none")
        flag(self.counts, "counts")
        if self.limit is not None and (not is_integer(self.limit) or self.limit < 0):
            raise OptionError(f"limit={self.limit!r} is not a number of iterations")
        if self.until is not None:
            check_functor(self.until, "Phase(until=...)")

    @property
    def advances(self) -> bool:
        """Whether the phase runs on a frontier."""
        return any(operator.advances for operator in self.step)

    @property
    def moves(self) -> bool:
        """Whether the phase changes the frontier."""
        return any(operator.makes_frontier for operator in self.step)

    @property
    def repeats(self) -> bool:
        """Whether the phase may run more than a few times."""
        few = self.limit is not None and self.limit <= FEW
        return (self.advances or self.until is not None or self.limit is not None) and not few

    @property
    def reduces(self) -> list[Reduce]:
        """The reductions to which each neighbour offers the same to all."""
        reduces = [operator for operator in self.step if isinstance(operator, Reduce)]
        return [operator for operator in reduces if operator.of_neighbor]

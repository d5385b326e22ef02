"""Phases that run in order, again and again, as one member of a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from broadfront.errors import OptionError
from broadfront.given import is_integer, listed
from broadfront.operators.describe import Functor

if TYPE_CHECKING:
    from broadfront.execution.phase import Phase


@dataclass(frozen=True)
class Repeat:
    """Phases in order, round after round.

    Parameters
    ----------
    phases
        The phases of a round, other `Repeat` among them.
    until
        ``until(state)``: stop after the round after which it is true; ``state.iteration`` is the
        number of that round. Without it, the rounds end with one that leaves the frontier empty;
        where no operator changes the frontier, there are `limit` of them.
    limit
        At most so many rounds.
    """

    phases: Sequence[Phase | Repeat]
    until: Functor | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        listed(self.phases, "phases")
        if not self.phases:
            raise OptionError("a Repeat needs phases")
        if self.limit is not None and (not is_integer(self.limit) or self.limit < 0):
            raise OptionError(f"limit={self.limit!r} is not a number of rounds")

    @property
    def by_frontier(self) -> bool:
        """Whether an empty frontier ends the rounds."""
        return self.until is None and any(phase.moves for phase in flattened(self.phases))


def flattened(members: Sequence[Phase | Repeat]) -> Iterator[Phase]:
    """Give all phases, those inside a `Repeat` too, each once and in order."""
    for member in members:
        if isinstance(member, Repeat):
            yield from flattened(member.phases)
        else:
            yield member


def repeats_in(members: Sequence[Phase | Repeat]) -> Iterator[Repeat]:
    """Give every `Repeat`, those inside others too."""
    for member in members:
        if isinstance(member, Repeat):
            yield member
            yield from repeats_in(member.phases)


def check_members(members: Sequence[Phase | Repeat], phase: type[Phase]) -> None:
    """Refuse what is neither a `phase` nor a `Repeat`, and a `Repeat` without an end."""
    for member in members:
        if isinstance(member, Repeat):
            check_members(member.phases, phase)
            if member.until is None and member.limit is None and not member.by_frontier:
                raise OptionError(
                    "a Repeat whose phases do not change the frontier needs until or limit"
                )
        elif not isinstance(member, phase):
            raise OptionError(f"{member!r:.60} is no Phase: put operators into Phase([...])")

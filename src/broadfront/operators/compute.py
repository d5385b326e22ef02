"""Compute: something for every vertex."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from broadfront.operators.checks import check_over, check_sums
from broadfront.operators.field import Field
from broadfront.operators.operator import Operator
from broadfront.operators.roles import OWN, STATE, Call, Functor, ValueOf


@dataclass(frozen=True)
class Compute(Operator):
    """Something for every vertex of the graph, or of the frontier.

    Parameters
    ----------
    functor
        ``functor(vertex, state)``; what it returns is added up where `sums` names a field.
    sums
        Fields of length 1, of 64 bits where they are of integers, that take the total of what the
        functor returns (a number, or a tuple with one per field). Totals over all vertices are
        added in a fixed order: same bits for any number of threads.
    over
        ``"vertices"`` or ``"frontier"``.
    """

    functor: Functor
    sums: tuple[str, ...] = ()
    over: str = "vertices"

    def __post_init__(self) -> None:
        check_over(self.over)

    @property
    def calls(self) -> list[Call]:
        """The functor; what it returns counts where there are sums."""
        sums = self.sums
        terms = ValueOf(sums) if sums else None
        return [Call(self.functor, (OWN, STATE), (), terms, counts=bool(sums))]

    @property
    def takes_frontier(self) -> bool:
        """Whether it is over the frontier."""
        return self.over == "frontier"

    @property
    def totals(self) -> tuple[str, ...]:
        """The sums."""
        return self.sums

    def check(self, fields: Mapping[str, Field]) -> None:
        """Refuse fields that take no totals."""
        check_sums(self.sums, fields)

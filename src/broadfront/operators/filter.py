"""Filter: the frontier made anew, from itself or from all vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from broadfront.operators.checks import check_over
from broadfront.operators.operator import Operator
from broadfront.operators.roles import OWN, STATE, Call, Functor


@dataclass(frozen=True)
class Filter(Operator):
    """Keep the vertices of the frontier for which ``functor(vertex, state)`` is true.

    Parameters
    ----------
    functor
        ``functor(vertex, state)`` tells whether a vertex is in the frontier from here on.
    over
        ``"frontier"``: of those in the frontier. ``"vertices"``: of all, whatever the frontier was.
    """

    functor: Functor
    over: str = "frontier"

    def __post_init__(self) -> None:
        check_over(self.over)

    makes_frontier: ClassVar[bool] = True

    @property
    def calls(self) -> list[Call]:
        """The functor, which tells whether a vertex is kept."""
        return [Call(self.functor, (OWN, STATE))]

    @property
    def takes_frontier(self) -> bool:
        """Whether it keeps some of the frontier."""
        return self.over == "frontier"

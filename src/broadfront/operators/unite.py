"""Unite: the ends of edges in one set, and so connected components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from broadfront.operators.checks import check_vertices
from broadfront.operators.field import Field
from broadfront.operators.operator import Operator
from broadfront.operators.roles import EDGE, NEAR, OWN, STATE, WHOLE, Call, Functor


@dataclass(frozen=True)
class Unite(Operator):
    """The ends of every edge in one set, or of some edges: the components that these leave.

    Parameters
    ----------
    into
        A ``Field("vertex")`` that takes, for each vertex, the id of the smallest one in its set.
    functor
        ``functor(source, neighbor, edge, state)`` tells whether an edge counts; None for all. Each
        edge is asked for as often as suits, an undirected one both ways, where it counts if one
        says so. It may not look at `into`.
    """

    into: str
    functor: Functor | None = None

    looks_once: ClassVar[bool] = True
    only_asks: ClassVar[bool] = True

    @property
    def calls(self) -> list[Call]:
        """The functor, if there is one: an edge is asked for from either end."""
        if self.functor is None:
            return []
        return [
            Call(self.functor, (OWN, NEAR, EDGE, STATE), (), WHOLE),
            Call(self.functor, (NEAR, OWN, EDGE, STATE), (), WHOLE),
        ]

    @property
    def sets_own(self) -> tuple[str, ...]:
        """The field of the sets."""
        return (self.into,)

    def check(self, fields: Mapping[str, Field]) -> None:
        """Refuse a field that takes no ids."""
        check_vertices(self.into, fields)

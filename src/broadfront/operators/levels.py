"""Levels: vertices level by level, as a search has found them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from broadfront.errors import OptionError
from broadfront.operators.checks import number_per_vertex
from broadfront.operators.field import Field
from broadfront.operators.operator import Operator
from broadfront.operators.roles import (
    EDGE,
    IN_EDGE,
    NEAR,
    NUMBER,
    OWN,
    REAL,
    STATE,
    Call,
    Functor,
)


@dataclass(frozen=True)
class Levels(Operator):
    """Vertices level by level: each sums what its neighbours offer, then the level applies it.

    Ascending, a vertex looks at its incoming neighbours, descending at its outgoing ones. A vertex
    whose level is negative, or not below the number of vertices, is left out.

    Parameters
    ----------
    gather
        ``gather(neighbor, vertex, edge, state)`` returns what the neighbour offers. Offers are
        added in a fixed order: same bits for any number of threads.
    apply
        ``apply(vertex, total, state)`` is handed the sum, and stores what it likes. It runs when
        all sums of the level are there, so what it stores is seen by later levels only.
    by
        The field of integers that holds the levels; None for those of the `Levels` before.
    descending
        Whether the last level comes first.
    when, instead
        In levels before which ``when(state)`` is true, ``instead(vertex, state)`` returns the whole
        sum in place of `gather`: a dearer way, for what is rarely needed, that costs nothing else.
        On several devices `when` sees what has reached the device: its own values, and others' that
        came with the values of neighbours.
    """

    gather: Functor
    apply: Functor
    by: str | None = None
    descending: bool = False
    when: Functor | None = None
    instead: Functor | None = None

    def __post_init__(self) -> None:
        if (self.when is None) != (self.instead is None):
            raise OptionError("a Levels takes when and instead together")

    @property
    def calls(self) -> list[Call]:
        """The functors that are there; those of a level are called before any of it is applied."""
        edge = EDGE if self.descending else IN_EDGE
        calls = [
            Call(self.gather, (NEAR, OWN, edge, STATE), (), REAL, weights=edge, apart=True),
            Call(self.apply, (OWN, NUMBER, STATE), (REAL,), counts=False, apart=True),
        ]
        if self.when is not None and self.instead is not None:
            calls += [
                Call(self.when, (STATE,), apart=True),
                Call(self.instead, (OWN, STATE), (), REAL, weights=edge, apart=True),
            ]
        return calls

    def needs_in_edges(self, large: bool) -> bool:
        """Tell whether vertices look at their incoming neighbours."""
        return not self.descending

    def check(self, fields: Mapping[str, Field]) -> None:
        """Refuse levels that are no integers."""
        if self.by is not None and number_per_vertex(self.by, fields).kind not in "iu":
            raise OptionError(f"field {self.by!r} holds levels and is not of integers")

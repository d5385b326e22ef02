"""Intersect: common neighbours of the ends of edges, and so triangles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from broadfront.errors import OptionError
from broadfront.given import is_one_of
from broadfront.operators.checks import check_total
from broadfront.operators.field import Field
from broadfront.operators.operator import Operator
from broadfront.operators.roles import EDGE, NEAR, NUMBER, OWN, STATE, WHOLE, Call, Functor

METHODS = ("merge", "by_id", "by_degree")


@dataclass(frozen=True)
class Intersect(Operator):
    """The common neighbours of the two ends of every edge, and so the triangles of the graph.

    For undirected graphs; self-loops do not count.

    Parameters
    ----------
    functor
        Hears what is found, in the way that `each` says; None where only the total is of interest,
        which is by far the quickest.
    each
        ``"edge"``: ``functor(first, second, edge, common, state)`` for every edge once, with the
        number of all common neighbours of its ends; `first` has the smaller id of the two, and
        `edge` is the arc from first to second. ``"triangle"``:
        ``functor(first, second, third, state)`` for every triangle once, its corners in any order.
        ``"vertex"``: ``functor(vertex, count, state)`` for every vertex once, with the number of
        triangles at it.
    total
        A field of length 1, of 64 bits, that takes the number of triangles.
    method
        How triangles are found: ``"by_degree"`` or ``"by_id"`` (marks, with every edge kept at its
        end of smaller degree or larger id), ``"merge"`` (rows side by side), or None for what suits
        the degrees of the graph. It does not matter for ``"edge"``, nor on several devices.
    """

    functor: Functor | None = None
    each: str = "edge"
    total: str | None = None
    method: str | None = None

    def __post_init__(self) -> None:
        if not is_one_of(self.each, ("edge", "triangle", "vertex")):
            raise OptionError(f"each={self.each!r}: expected 'edge', 'triangle' or 'vertex'")
        if self.method is not None and not is_one_of(self.method, METHODS):
            raise OptionError(f"method={self.method!r}: expected one of {', '.join(METHODS)}")
        if self.functor is None and self.total is None:
            raise OptionError("an Intersect needs a functor or a total")

    looks_once: ClassVar[bool] = True

    @property
    def calls(self) -> list[Call]:
        """The functor, if there is one; what it returns is of no interest."""
        if self.functor is None:
            return []
        roles, numbers = {
            "edge": ((OWN, NEAR, EDGE, NUMBER, STATE), (WHOLE,)),
            "triangle": ((NEAR, NEAR, NEAR, STATE), ()),
            "vertex": ((OWN, NUMBER, STATE), (WHOLE,)),
        }[self.each]
        return [Call(self.functor, roles, numbers, counts=False)]

    @property
    def totals(self) -> tuple[str, ...]:
        """The total, if there is one."""
        return () if self.total is None else (self.total,)

    def check(self, fields: Mapping[str, Field]) -> None:
        """Refuse a field that takes no total."""
        for name in self.totals:
            check_total(name, fields)


def refuse_intersecting(directed: bool, parallel: bool) -> None:
    """Refuse graphs that `Intersect` has no meaning on."""
    if directed:
        raise OptionError("Intersect is for undirected graphs, and this one is directed")
    if parallel:
        raise OptionError(
            "Intersect is for graphs without parallel edges, and this one keeps them: build it "
            "with duplicates='first'"
        )

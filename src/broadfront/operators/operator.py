"""What every operator answers about itself; a description overrides what is different for it.

`broadfront.execution` finds out by these answers what a program reads and writes, what must cross
between devices, and what has to be refused, whatever operators there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from broadfront.operators.field import Field
from broadfront.operators.roles import Call, Functor, Roles


@dataclass(frozen=True)
class Operator:
    """One step of a program; its functors are among the fields of its description."""

    advances: ClassVar[bool] = False
    """Whether it follows edges from the frontier to the next one; a phase then repeats."""
    makes_frontier: ClassVar[bool] = False
    """Whether it leaves another frontier than it finds."""
    looks_once: ClassVar[bool] = False
    """Whether all that it does is to look at every edge once."""
    only_asks: ClassVar[bool] = False
    """Whether its functor may set nothing, since it is asked of some edges only."""
    runs_alike: ClassVar[bool] = False
    """Whether it does the same on all devices, with values that all of them have."""

    @property
    def calls(self) -> list[Call]:
        """Its functors, and how they are called."""
        raise NotImplementedError

    @property
    def roles(self) -> list[tuple[Functor, Roles]]:
        """Its functors, with the roles of their arguments."""
        return [(call.functor, call.roles) for call in self.calls]

    @property
    def monoids(self) -> list[Call]:
        """The functions that combine what its functors return."""
        return []

    @property
    def takes_frontier(self) -> bool:
        """Whether it is about the vertices of the frontier alone."""
        return False

    @property
    def by_priority(self) -> bool:
        """Whether it goes on by itself, in the order of a priority, until nothing is left to do."""
        return False

    @property
    def may_pull(self) -> bool:
        """Whether it may leave the frontier as a bitmap."""
        return False

    @property
    def may_push(self) -> bool:
        """Whether it can do without incoming arcs until they pay."""
        return False

    @property
    def goes_back(self) -> bool:
        """Whether it follows arcs from the frontier against their direction."""
        return False

    @property
    def proposes(self) -> tuple[str, ...]:
        """The fields that take proposals for neighbours, which their `combine` decides."""
        return ()

    @property
    def sets_near(self) -> tuple[str, ...]:
        """The fields that it sets at neighbours by itself: proposals, and what goes with them."""
        return self.proposes

    @property
    def sets_own(self) -> tuple[str, ...]:
        """The fields that it sets at all vertices by itself."""
        return ()

    @property
    def totals(self) -> tuple[str, ...]:
        """The fields of one value that take totals."""
        return ()

    def needs_in_edges(self, large: bool) -> bool:
        """Tell whether it looks at incoming arcs, on a graph that is `large` or not."""
        return False

    def check(self, fields: Mapping[str, Field]) -> None:
        """Refuse fields that are not there, or not as the operator needs them."""

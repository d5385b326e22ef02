"""Advance: from every vertex of the frontier along its edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from broadfront.errors import OptionError
from broadfront.given import flag, is_one_of, number
from broadfront.operators.checks import check_vertices, field_per_vertex
from broadfront.operators.field import Field
from broadfront.operators.operator import Operator
from broadfront.operators.roles import (
    EDGE,
    EITHER_EDGE,
    IN_EDGE,
    NEAR,
    NUMBER,
    OWN,
    STATE,
    WHOLE,
    Call,
    Functor,
    ValueOf,
)

SIDES = ("out", "in")
BALANCES = ("by_vertex", "by_degree", "by_edges")


@dataclass(frozen=True)
class Advance(Operator):
    """From every vertex of the frontier along its edges; who improves is the next frontier.

    Parameters
    ----------
    functor
        ``functor(source, neighbor, edge, state)`` returns a proposal for the neighbour.
    into
        The field that the proposals are for; its `combine` decides.
    cond
        ``cond(vertex, state)`` tells whether a vertex still wants proposals. With it the
        operator may also pull: vertices that want look for a neighbour in the frontier, and stop
        at the first that leaves them content.
    priority
        ``priority(vertex, state)`` returns a number; smaller goes first. With it the frontier is
        kept in buckets of width `width`, and the operator runs until all are empty.
    goal
        ``goal(state)`` returns a vertex, where there is a priority: the operator stops as soon as
        the bucket of that vertex is done. Vertices of later buckets are as far as they have come.
        A number that is no vertex of the graph raises `VertexError`.
    width
        The width of a bucket; None lets the graph decide.
    activate
        ``activate(vertex, before, after, state)`` tells whether a changed vertex joins the next
        frontier; by default every improved one does.
    record_source
        A field that takes, for each improved vertex, the source whose proposal stayed. Exact where
        a vertex improves once at most in an iteration, as in a search by levels.
    direction
        ``"push"``, ``"pull"`` or None for whichever costs less in each iteration.
    along
        ``"out"``: along the arcs that leave a vertex. ``"in"``: against those that come to it; the
        neighbour is where the arc comes from, `edge` its place among incoming arcs, and
        ``state.weight[edge]`` its weight. On undirected graphs both are the same.
    balance
        How pushed work is shared among threads: ``"by_vertex"`` (one vertex per turn),
        ``"by_degree"`` (hubs by all threads together; the default), ``"by_edges"`` (equal edges per
        turn).
    synchronous
        True: functors see what was there before the operator, and nothing of what it does itself.
        False is a promise that the answer does not depend on it: proposals then count as they come,
        which is quicker. None: as True, unless the library can prove that it makes no difference;
        see ``docs/programs.md``.
    """

    functor: Functor
    into: str
    cond: Functor | None = None
    priority: Functor | None = None
    width: float | None = None
    goal: Functor | None = None
    activate: Functor | None = None
    record_source: str | None = None
    direction: str | None = None
    balance: str | None = None
    along: str = "out"
    synchronous: bool | None = None

    def __post_init__(self) -> None:
        if self.synchronous is not None:
            flag(self.synchronous, "synchronous")
        if self.synchronous and self.priority is not None:
            raise OptionError("synchronous=True: with a priority vertices are served in its order")

    advances: ClassVar[bool] = True
    makes_frontier: ClassVar[bool] = True

    @property
    def may_pull(self) -> bool:
        """Whether vertices may look for the frontier, which is then left as a bitmap."""
        return self.cond is not None and self.direction != "push" and self.priority is None

    @property
    def calls(self) -> list[Call]:
        """The functors that are there; a pull hands over edges of either side."""
        edge = EITHER_EDGE if self.may_pull else IN_EDGE if self.along == "in" else EDGE
        asked = EITHER_EDGE if self.may_pull or self.along == "in" else EDGE
        others = EITHER_EDGE if self.along == "in" else EDGE
        value = ValueOf((self.into,))
        calls = [Call(self.functor, (OWN, NEAR, edge, STATE), (), value, weights=edge)]
        if self.cond is not None:
            calls.append(Call(self.cond, (NEAR, STATE), weights=asked))
        if self.priority is not None:
            calls.append(Call(self.priority, (OWN, STATE), weights=others))
        if self.activate is not None:
            roles = (OWN, NUMBER, NUMBER, STATE)
            calls.append(Call(self.activate, roles, (value, value), weights=others, apart=True))
        if self.goal is not None:
            calls.append(Call(self.goal, (STATE,), (), WHOLE, weights=others))
        return calls

    @property
    def takes_frontier(self) -> bool:
        """Always."""
        return True

    @property
    def by_priority(self) -> bool:
        """Whether there is one."""
        return self.priority is not None

    @property
    def may_push(self) -> bool:
        """Whether the direction is left open, along the arcs that leave."""
        return self.direction is None and self.along == "out"

    @property
    def goes_back(self) -> bool:
        """Whether arcs are followed against their direction."""
        return self.along == "in"

    @property
    def proposes(self) -> tuple[str, ...]:
        """The field that the proposals are for."""
        return (self.into,)

    @property
    def sets_near(self) -> tuple[str, ...]:
        """That field, and the one that takes the source."""
        return (self.into,) if self.record_source is None else (self.into, self.record_source)

    def needs_in_edges(self, large: bool) -> bool:
        """Tell whether it may pull, or goes against the arcs."""
        return self.may_pull or self.along == "in"

    def check(self, fields: Mapping[str, Field]) -> None:
        """Refuse fields that take no proposals, and options that do not go together."""
        field = field_per_vertex(self.into, fields)
        if field.combine is None:
            raise OptionError(f"field {self.into!r} takes proposals and has no combine")
        if field.width is not None and (
            self.priority is not None or self.record_source is not None
        ):
            raise OptionError(
                f"field {self.into!r} has several values per vertex, which improve one by one: "
                "an Advance into it takes no priority and no record_source"
            )
        if self.record_source is not None:
            check_vertices(self.record_source, fields)
            if self.record_source == self.into:
                raise OptionError(f"field {self.into!r} cannot be both into and record_source")
        if self.direction is not None and not is_one_of(self.direction, ("push", "pull")):
            raise OptionError(f"direction={self.direction!r}: expected 'push' or 'pull'")
        if self.goal is not None and self.priority is None:
            raise OptionError("an Advance with a goal needs a priority")
        if self.width is not None and not number(self.width, "width") > 0:
            raise OptionError(f"width={self.width} is not a positive number")
        if not is_one_of(self.along, SIDES):
            raise OptionError(f"along={self.along!r}: expected 'out' or 'in'")
        if self.balance is not None and not is_one_of(self.balance, BALANCES):
            raise OptionError(f"balance={self.balance!r}: expected {', '.join(BALANCES)}")

"""What a vertex program can say: gather, sum, apply, scatter.

In each superstep every active vertex combines what it gathers along its edges, then all of them
apply what they have, then those that changed scatter: along each edge it is decided whether the
neighbour is active in the next superstep. Nobody applies before all have gathered.

References
----------
Gonzalez, Low, Gu, Bickson, Guestrin: PowerGraph (OSDI 2012).
"""

from __future__ import annotations

import dis
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import DTypeLike

from broadfront.errors import OptionError
from broadfront.execution.program import Program
from broadfront.functors import check_functor
from broadfront.given import is_one_of, table
from broadfront.operators.describe import Field, Functor
from broadfront.operators.monoid import Monoid

STYLES = ("expand", "activate")
SIDES = ("in", "out", "both")
NEUTRAL = {"sum": 0.0, "min": math.inf, "max": -math.inf}
OWN_FIELDS = ("gathered", "changed", "signal")
"""Fields that a program gets when it is lowered."""


@dataclass(frozen=True)
class VertexProgram:
    """Fields, and what an active vertex does in a superstep.

    Parameters
    ----------
    fields
        Name and `broadfront.Field` of everything that the functors read and write.
    apply
        ``apply(vertex, total, state)`` stores what it likes at its vertex, given what was gathered,
        and tells whether the vertex changed: only then does it scatter. Those that a run begins
        with scatter in any case. Without `gather` it is ``apply(vertex, state)``. Without `scatter`
        what it returns is added up where `sums` names fields.
    gather
        ``gather(neighbor, vertex, edge, state)`` returns what an edge brings, or
        ``gather(neighbor, state)`` where that depends on the neighbour alone.
    sum
        How what is gathered meets: ``"sum"``, ``"min"``, ``"max"`` or a `broadfront.Monoid`.
    identity
        What a vertex without edges gathers: 0.0 for a sum, infinite for a minimum or maximum, that
        of a `Monoid`. Or a number of your own; an integer makes totals int64, a real one float64.
    scatter
        ``scatter(vertex, neighbor, edge, state)`` tells whether a vertex that changed makes a
        neighbour active. Where that depends on the neighbour alone, ``scatter(neighbor, state)``:
        then neighbours may also look for who changed, and stop at the first. None: all vertices are
        active in every superstep, and `until` or `limit` ends it.
    gather_along, scatter_along
        ``"in"``, ``"out"`` or ``"both"``: along which edges. On undirected graphs all are the same.
    sums
        As in `broadfront.Compute`; for programs without `scatter`.
    until, limit
        As in `broadfront.Phase`. Without them it ends when no vertex is active.
    parameters
        As in `broadfront.Program`.
    """

    fields: Mapping[str, Field]
    apply: Functor
    gather: Functor | None = None
    sum: str | Monoid = "sum"
    identity: float | int | None = None
    scatter: Functor | None = None
    gather_along: str = "in"
    scatter_along: str = "out"
    sums: tuple[str, ...] = ()
    until: Functor | None = None
    limit: int | None = None
    parameters: Sequence[str] | Mapping[str, DTypeLike] = ()
    name: str = "vertex program"
    _lowered: dict[Any, Program] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    def __post_init__(self) -> None:
        table(self.fields, "fields")
        for part in ("apply", "gather", "scatter"):
            if getattr(self, part) is not None:
                check_functor(getattr(self, part), f"VertexProgram({part}=...)")
        for part, counts in (("gather", (2, 4)), ("scatter", (2, 4)),
                             ("apply", (3,) if self.gather else (2,))):  # fmt: skip
            functor = getattr(self, part)
            if functor is not None and arguments(functor) not in counts:
                raise OptionError(
                    f"{part}={functor.__name__} takes {arguments(functor)} arguments: expected "
                    f"{' or '.join(map(str, counts))}"
                )
        for part in ("gather_along", "scatter_along"):
            if not is_one_of(getattr(self, part), SIDES):
                raise OptionError(f"{part}={getattr(self, part)!r}: expected {', '.join(SIDES)}")
        self._settle_identity()
        self._check_end()
        for name in OWN_FIELDS:
            if name in self.fields:
                raise OptionError(f"{name!r} cannot be the name of a field: it gets one of its own")

    def _settle_identity(self) -> None:
        if isinstance(self.sum, Monoid):
            object.__setattr__(self, "identity", self.sum.identity)
        elif not is_one_of(self.sum, NEUTRAL):
            raise OptionError(
                f"sum={self.sum!r:.60}: expected {', '.join(NEUTRAL)}, or a Monoid of numbers"
            )
        elif self.identity is None:
            object.__setattr__(self, "identity", NEUTRAL[self.sum])
        if not isinstance(self.identity, (int, float)):
            raise OptionError(f"identity={self.identity!r:.60}: expected a number")

    def _check_end(self) -> None:
        if self.scatter is None and self.until is None and self.limit is None:
            raise OptionError(
                "without scatter every vertex is active for ever: give until= or limit="
            )
        if self.scatter is not None and self.sums:
            raise OptionError("sums= is for programs without scatter, in which all are active")
        if self.scatter is not None and _returns_nothing(self.apply):
            raise OptionError(
                f"apply={self.apply.__name__} returns nothing: have it return whether its vertex "
                "changed, which is when it scatters"
            )


def arguments(functor: Functor) -> int:
    """Return how many arguments a functor takes."""
    function = getattr(functor, "py_func", functor)
    return int(function.__code__.co_argcount)


def _returns_nothing(functor: Functor) -> bool:
    """Tell whether a functor returns None wherever it ends."""
    steps = list(dis.get_instructions(getattr(functor, "py_func", functor)))
    returned = [
        step if step.opname == "RETURN_CONST" else before
        for before, step in zip(steps, steps[1:], strict=False)
        if step.opname.startswith("RETURN_")
    ]
    return all(step.opname.endswith("CONST") and step.argval is None for step in returned)

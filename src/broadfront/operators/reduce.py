"""Reduce: for every vertex, what its neighbours offer, combined."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from broadfront.errors import OptionError
from broadfront.given import is_one_of
from broadfront.operators.checks import check_over, check_sums
from broadfront.operators.field import Field
from broadfront.operators.monoid import Monoid
from broadfront.operators.operator import Operator
from broadfront.operators.roles import (
    EDGE,
    IN_EDGE,
    NEAR,
    NUMBER,
    OWN,
    REAL,
    STATE,
    UNSIGNED,
    WHOLE,
    Call,
    Functor,
    ValueOf,
)

LAYOUTS = ("rows", "tiles")


@dataclass(frozen=True)
class Reduce(Operator):
    """For every vertex, or every one of the frontier, combine what neighbours offer, and apply it.

    Parameters
    ----------
    functor
        ``functor(neighbor, vertex, edge, state)`` returns what the neighbour offers. Where that
        depends on the neighbour alone, ``functor(neighbor, state)``: then every vertex is asked
        once, and all of them before anything is applied, so `apply` may overwrite what the offers
        were made from.
    apply
        ``apply(vertex, total, state)`` is handed the combined offers; it stores what it likes, and
        what it returns is added up where `sums` names fields.
    identity
        What a vertex without offers gets, and where combining starts. Where every vertex is asked
        once, the offers are real numbers if it is one, and integers of 64 bits if it is an integer.
        Offers of uint64 are asked for at each edge, and begin with an ``np.uint64(...)``.
        Of a `Monoid` it is that of the monoid.
    combine
        ``"sum"``, ``"min"``, ``"max"`` or a `Monoid`. A sum of real numbers is added in an order
        that depends on the graph alone: same bits for any number of threads.
    sums
        As in `Compute`.
    layout
        ``"rows"``: neighbours row by row. ``"tiles"``: edges sorted into squares whose two sides
        fit in a core's cache, a copy kept with the graph (about 4 bytes an arc), for a functor of
        the neighbour alone. None: tiles for such a functor where the phase repeats and the graph
        has more than 8,192 vertices.
    along
        ``"in"``: incoming neighbours offer, those from which arcs come. ``"out"``: outgoing ones;
        `edge` and ``state.weight[edge]`` are then those of the arc that leaves the vertex. Tiles
        are for ``"in"``.
    over
        ``"vertices"`` or ``"frontier"``; over the frontier the functor is one of edges, and totals
        are added up by a `Compute` after it.
    """

    functor: Functor
    apply: Functor
    identity: Any = None
    combine: str | Monoid = "sum"
    sums: tuple[str, ...] = ()
    layout: str | None = None
    along: str = "in"
    over: str = "vertices"

    def __post_init__(self) -> None:
        check_over(self.over)
        neutral: Any = 0.0
        if isinstance(self.combine, Monoid):
            self.combine.check()
            neutral = self.combine.identity
            if self.identity is not None and self.identity != neutral:
                raise OptionError(
                    f"identity={self.identity!r:.60} is not that of the Monoid: leave it out"
                )
        elif not is_one_of(self.combine, ("sum", "min", "max")):
            raise OptionError(f"combine={self.combine!r:.60}: expected 'sum', 'min' or 'max'")
        given = neutral if self.identity is None else self.identity
        object.__setattr__(self, "identity", _settled_identity(given))
        if isinstance(self.identity, (tuple, np.uint64)) and self.of_neighbor:
            what = "uint64" if isinstance(self.identity, np.uint64) else "several numbers"
            raise OptionError(
                f"offers of {what} are asked for at each edge: write the functor of the Reduce as "
                "functor(neighbor, vertex, edge, state)"
            )
        if self.layout is not None and not is_one_of(self.layout, LAYOUTS):
            raise OptionError(f"layout={self.layout!r}: expected one of {', '.join(LAYOUTS)}")
        if self.layout == "tiles" and not self.of_neighbor:
            raise OptionError("layout='tiles' needs a functor(neighbor, state)")
        if not is_one_of(self.along, ("in", "out")):
            raise OptionError(f"along={self.along!r}: expected 'in' or 'out'")
        if self.layout == "tiles" and self.along == "out":
            raise OptionError("layout='tiles' is for along='in': leave layout out")
        if self.over == "frontier" and self.of_neighbor:
            raise OptionError(
                "over='frontier' needs a functor(neighbor, vertex, edge, state): write it so"
            )
        if self.over == "frontier" and self.sums:
            raise OptionError("over='frontier' takes no sums: add them up by a Compute after it")

    @property
    def of_neighbor(self) -> bool:
        """Whether what a neighbour offers depends on the neighbour alone."""
        code = getattr(self.functor, "__code__", None)  # what has none is refused by the program
        return code is not None and bool(code.co_argcount == 2)

    def in_tiles(self, large: bool) -> bool:
        """Whether edges are gone through in tiles, on a graph that is `large` enough or not."""
        if self.along == "out":
            return False
        return self.layout == "tiles" or (self.layout is None and self.of_neighbor and large)

    @property
    def calls(self) -> list[Call]:
        """What offers, at each edge or once for each vertex, and what applies."""
        kind, sums = self._kind, self.sums
        terms = ValueOf(sums) if sums else None
        apply = Call(self.apply, (OWN, NUMBER, STATE), (kind,), terms, counts=bool(sums))
        if self.of_neighbor:
            return [Call(self.functor, (OWN, STATE), (), kind, apart=True), apply]
        edge = IN_EDGE if self.along == "in" else EDGE
        return [Call(self.functor, (NEAR, OWN, edge, STATE), weights=edge), apply]

    @property
    def _kind(self) -> str:
        if isinstance(self.identity, np.uint64):
            return UNSIGNED
        return WHOLE if isinstance(self.identity, int) else REAL

    @property
    def monoids(self) -> list[Call]:
        """What combines, if it is a `Monoid`."""
        if not isinstance(self.combine, Monoid):
            return []
        return [Call(self.combine.function, (NUMBER, NUMBER), (self._kind,) * 2, self._kind)]

    @property
    def takes_frontier(self) -> bool:
        """Whether it is over the frontier."""
        return self.over == "frontier"

    @property
    def totals(self) -> tuple[str, ...]:
        """The sums."""
        return self.sums

    def needs_in_edges(self, large: bool) -> bool:
        """Tell whether incoming arcs are gone through row by row."""
        return self.along == "in" and not self.in_tiles(large)

    def check(self, fields: Mapping[str, Field]) -> None:
        """Refuse fields that take no totals."""
        check_sums(self.sums, fields)


def _settled_identity(identity: Any) -> Any:
    """Return an identity as a number of Python's, or as a uint64 if it is unsigned."""
    if isinstance(identity, np.unsignedinteger):
        return np.uint64(identity)
    if isinstance(identity, (np.generic, bool)):
        identity = np.asarray(identity).item() + 0
    if isinstance(identity, int) and identity >= 1 << 63:
        if identity >= 1 << 64:
            raise OptionError(f"identity={identity} is beyond 64 bits")
        return np.uint64(identity)
    if isinstance(identity, int) and identity < -(1 << 63):
        raise OptionError(f"identity={identity} is beyond 64 bits")
    return identity

"""What a program can say: fields, and operators with the user's functors in them.

A functor is a plain Python function of numbers. It reads ``state``, which has an attribute for
every field, every parameter, ``weight`` (indexed by edge), ``offsets`` and ``targets`` (the rows of
the graph), ``in_offsets`` and ``in_targets`` (those of incoming arcs) and ``num_vertices``. It says
what it proposes; the field's `combine` decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from broadfront.errors import OptionError

Functor = Callable[..., Any]

COMBINES = ("min", "max", "sum", "any")


@dataclass(frozen=True)
class Field:
    """An array with an element for every vertex, or a few values shared by all.

    Parameters
    ----------
    dtype
        A NumPy dtype of real numbers.
    fill
        What every element is at the start.
    combine
        How proposals meet: ``min``, ``max``, ``sum``, or ``any`` (the first to arrive stays).
    length
        None for an element per vertex, or the number of shared values.
    """

    dtype: DTypeLike
    fill: Any = 0
    combine: str | None = None
    length: int | None = None

    def __post_init__(self) -> None:
        if self.combine is not None and self.combine not in COMBINES:
            raise OptionError(f"combine={self.combine!r}: expected one of {', '.join(COMBINES)}")
        if np.dtype(self.dtype).kind not in "iufb":
            raise OptionError(f"a field of dtype {np.dtype(self.dtype)}: expected real numbers")


@dataclass(frozen=True)
class Advance:
    """From every vertex of the frontier along its edges; who improves is the next frontier.

    Parameters
    ----------
    functor
        ``functor(source, neighbor, edge, state)`` returns a proposal for the neighbour.
    into
        The field that the proposals are for; its `combine` decides.
    while_
        ``while_(vertex, state)`` tells whether a vertex still wants proposals. With it the
        operator may also pull: vertices that want look for a neighbour in the frontier, and stop
        at the first that leaves them content.
    priority
        ``priority(vertex, state)`` returns a number; smaller goes first. With it the frontier is
        kept in buckets of width `width`, and the operator runs until all are empty.
    width
        The width of a bucket; None lets the graph decide.
    enters
        ``enters(vertex, before, after, state)`` tells whether a changed vertex joins the next
        frontier; by default every improved one does.
    direction
        ``"push"``, ``"pull"`` or None for whichever costs less in each iteration.
    balance
        How work is shared among threads: ``"by_vertex"``, ``"by_degree"``, ``"by_edges"``, or None
        for whichever suits the frontier.
    """

    functor: Functor
    into: str
    while_: Functor | None = None
    priority: Functor | None = None
    width: float | None = None
    enters: Functor | None = None
    direction: str | None = None
    balance: str | None = None


@dataclass(frozen=True)
class Compute:
    """Something for every vertex of the graph, or of the frontier.

    Parameters
    ----------
    functor
        ``functor(vertex, state)``; what it returns is added up where `sums` names a field.
    sums
        Fields of length 1 that take the total of what the functor returns (a number, or a tuple
        with one per field). Totals are added in a fixed order: same bits for any number of threads.
    over
        ``"vertices"`` or ``"frontier"``.
    """

    functor: Functor
    sums: tuple[str, ...] = ()
    over: str = "vertices"


@dataclass(frozen=True)
class Reduce:
    """For every vertex, combine what its incoming neighbours offer, and apply the outcome.

    Parameters
    ----------
    functor
        ``functor(neighbor, vertex, edge, state)`` returns what the neighbour offers.
    apply
        ``apply(vertex, total, state)`` is handed the combined offers; it stores what it likes, and
        what it returns is added up where `sums` names fields.
    start
        What a vertex without offers gets, and where combining starts.
    combine
        ``"sum"``, ``"min"`` or ``"max"``. A sum of real numbers is added in the order of the
        neighbours: same bits for any number of threads.
    sums
        As in `Compute`.
    """

    functor: Functor
    apply: Functor
    start: float = 0.0
    combine: str = "sum"
    sums: tuple[str, ...] = ()


@dataclass(frozen=True)
class Filter:
    """Keep the vertices of the frontier for which ``functor(vertex, state)`` is true."""

    functor: Functor


@dataclass(frozen=True)
class Once:
    """Something that one thread does alone: ``functor(state)``, while the others wait."""

    functor: Functor


Operator = Advance | Compute | Reduce | Filter | Once

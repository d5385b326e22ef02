"""What operators tell of their functors: the roles of their arguments, and what becomes of answers.

What a functor touches (`broadfront.execution.access`) follows from the roles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Functor = Callable[..., Any]

OWN, NEAR, ELSEWHERE = "own", "near", "elsewhere"
"""Whose place: the vertex that the functor is called for, a neighbour of it, or any other."""
EDGE, IN_EDGE, EITHER_EDGE = "edge", "in edge", "either edge"
"""Edges of the own vertex: among those that leave, those that come, or the one or the other."""
EDGES = (EDGE, IN_EDGE, EITHER_EDGE)
STATE = "state"
NUMBER = None

Roles = tuple[str | None, ...]

WHOLE, UNSIGNED, REAL = "whole", "unsigned", "real"
"""Kinds of numbers: an int64, a uint64, or a float64."""


class ValueOf(NamedTuple):
    """The kind of an element of a field; of several fields, that of a tuple of their elements."""

    fields: tuple[str, ...]


Kind = str | ValueOf | None
"""A kind of numbers; None stands for any."""


class Call(NamedTuple):
    """A functor of an operator, and how it is called."""

    functor: Functor
    roles: Roles
    numbers: tuple[Kind, ...] = ()
    """The kinds of the arguments that are numbers, in order."""
    returns: Kind = None
    """The kind of what it has to return."""
    counts: bool = True
    """Whether it matters what it returns."""
    weights: str = EDGE
    """To which edges ``state.weight`` belongs; `EITHER_EDGE` stands for that of the edge that it is
    handed alone, whatever its side."""
    apart: bool = False
    """Whether it is only called while no functor of the operator stores anything."""

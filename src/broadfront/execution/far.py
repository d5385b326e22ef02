"""Which arrays of the state need a look at every index, since an index may be outside.

The own vertex, a neighbour and an edge of these are always inside. Any other index comes from data
or arithmetic: pointer jumping, a histogram, `vertex - 1`. Functors see the arrays indexed so as
pointers that know their lengths (`broadfront.bounded`); an index outside, or below 0, raises
`BoundsError` on every back end.

Invariant: a program whose functors stay with their vertices, neighbours and edges is compiled as
if this file were not there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.execution.access import Access, access
from broadfront.execution.loops import made_once
from broadfront.execution.program import RESERVED, Program
from broadfront.operators.roles import EDGES, NEAR, OWN, STATE

OF_EDGES = ("weight", "targets", "in_targets", "in_weight")
OF_VERTICES = ("offsets", "in_offsets", "ids")


def far_names(program: Program) -> frozenset[str]:
    """Return the attributes of the state that are indexed by more than vertices and edges."""
    return made_once(program, far_names, lambda: frozenset(_far_names(program)))


def ids_where_kept(far: Collection[str], vertices: int) -> NDArray[Any] | None:
    """Return the ids of vertices that are their numbers: None, or an array to be looked up in."""
    return np.arange(vertices) if "ids" in far else None


def _far_names(program: Program) -> Iterator[str]:
    asked = [pair for step in program.operators for pair in step.roles]
    for functor, roles in [*asked, *((until, (STATE,)) for until in program.untils)]:
        try:
            touch = access(functor, roles)
        except OptionError:  # it gives its state away, and nothing is known
            yield from (*program.fields, *RESERVED)
            continue
        yield from _far_in(touch, program)


def _far_in(touch: Access, program: Program) -> Iterator[str]:
    for name, whose, always in touch.indexed:
        field = program.fields.get(name)
        if field is not None and field.length is not None:
            if always is None or not 0 <= always < field.length:
                yield name
        elif name in OF_EDGES or (field is not None and field.per == "edge"):
            if whose not in EDGES:
                yield name
        elif name in OF_VERTICES or field is not None:
            if whose not in (OWN, NEAR):
                yield name
        elif whose not in (OWN, NEAR, *EDGES):
            yield name

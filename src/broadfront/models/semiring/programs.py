"""Products of a vector and a matrix as programs of one operator each.

    sparse   Advance from the elements of the vector into `y`; with a mask or ``"any"`` it may pull
    dense    Reduce over all vertices, or over those that the mask names, into `y`

Invariant: a program depends on the semiring, dtypes and which side the vector is on, and is made
once for these, so that its loop is compiled once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from broadfront.execution.program import Phase, Program
from broadfront.models.meeting import meeting
from broadfront.models.semiring.rings import Semiring
from broadfront.operators.describe import Advance, Field, Functor, Reduce


class Kind(NamedTuple):
    """What the program of a product depends on, beside the semiring."""

    vector: str
    """The dtype of the vector."""
    product: str
    """That of products."""
    along: str
    """Along which arcs products go from the elements of the vector to those of the product."""
    left: bool
    """Whether the vector is on the left."""
    weighted: bool
    masked: bool
    tiled: bool = False


@lru_cache(maxsize=256)
def sparse_product(ring: Semiring, kind: Kind) -> Program:
    """Return the program of a product with a sparse vector, which begins as the frontier."""
    combine, zero = ring.add, ring.zero(kind.product)
    fields = {"y": Field(kind.product, fill=zero, combine=combine), **_given(ring, kind)}
    entry, value = _operands(ring, kind)
    multiply = _in_order(ring, kind.left)

    def propose(source, neighbor, edge, state):
        return multiply(entry(source, state), value(edge, state))

    cond = _wanting(kind.masked, combine == "any", zero)
    # Nothing reads `y` but to see whether any product is there: order makes no difference.
    advance = Advance(propose, into="y", cond=cond, along=kind.along, synchronous=False)
    return Program(fields, phases=[Phase([advance], limit=1)], name="product")


@lru_cache(maxsize=256)
def dense_product(ring: Semiring, kind: Kind) -> Program:
    """Return the program of a product with a dense vector; the frontier is the mask, if any."""
    zero = ring.zero(kind.product)
    fields = {"y": Field(kind.product, fill=zero), **_given(ring, kind._replace(masked=False))}
    entry, value = _operands(ring, kind)
    multiply, meet = _in_order(ring, kind.left), meeting(ring.add)

    def offer(neighbor, state):
        return multiply(entry(neighbor, state), 1)

    def offer_along(neighbor, vertex, edge, state):
        return multiply(entry(neighbor, state), value(edge, state))

    def accumulate(vertex, total, state):
        state.y[vertex] = meet(state.y[vertex], total)

    of_neighbor = value is _one and not kind.masked
    reduce = Reduce(
        offer if of_neighbor else offer_along, accumulate, zero, ring.add,
        along="in" if kind.along == "out" else "out",
        over="frontier" if kind.masked else "vertices",
        layout="tiles" if of_neighbor and kind.tiled else None,
    )  # fmt: skip
    return Program(fields, phases=[Phase([reduce])], name="product")


def needs_vector(ring: Semiring, kind: Kind) -> bool:
    """Tell whether products depend on the values of the vector."""
    return ring.reads[0 if kind.left else 1]


def _given(ring: Semiring, kind: Kind) -> dict[str, Field]:
    fields = {"x": Field(kind.vector)} if needs_vector(ring, kind) else {}
    return fields | ({"mask": Field(np.uint8)} if kind.masked else {})


def _operands(ring: Semiring, kind: Kind) -> tuple[Functor, Functor]:
    """Return what reads the element of the vector, and that of the matrix, if they are needed."""
    reads_matrix = ring.reads[1 if kind.left else 0]
    entry = _entry if needs_vector(ring, kind) else _one
    return entry, _value if kind.weighted and reads_matrix else _one


def _entry(vertex, state):
    return state.x[vertex]


def _value(edge, state):
    return state.weight[edge]


def _one(place, state):
    return 1


def _in_order(ring: Semiring, left: bool) -> Functor:
    """Return the product of an element of the vector and one of the matrix."""
    multiply = ring.multiply
    if left:
        return multiply

    def turned(entry, value):
        return multiply(value, entry)

    return turned


def _wanting(masked: bool, takes_any: bool, zero: float) -> Functor | None:
    """Return which elements still want products; None where all do."""

    def is_empty(vertex, state):
        return state.y[vertex] == zero

    def is_empty_in_mask(vertex, state):
        return (state.mask[vertex] != 0) & (state.y[vertex] == zero)  # `and` would be guessed wrong

    if takes_any:
        return is_empty_in_mask if masked else is_empty
    return _in_mask if masked else None


def _in_mask(vertex, state):
    return state.mask[vertex] != 0

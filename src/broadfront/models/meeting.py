"""How two totals meet, as a plain function that functors can call."""

from __future__ import annotations

from broadfront.operators.describe import Functor
from broadfront.operators.monoid import Monoid


def meeting(combine: str | Monoid) -> Functor:
    """Return the function by which two elements combine: ``"sum"``, ``"min"``, ``"max"``, own."""
    if isinstance(combine, Monoid):
        return combine.function
    return {"sum": _added, "min": _smaller, "max": _larger}[combine]


def _added(one, other):
    return one + other


def _smaller(one, other):
    return min(one, other)


def _larger(one, other):
    return max(one, other)

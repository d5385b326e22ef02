"""How proposals meet in an element: `min`, `max`, `sum`, `any`, `or`, as compiled functions.

`better(proposal, present)` tells whether a proposal would change anything; `settle(array, place,
proposal)` makes it count, whatever other threads do, and returns what was there before. A change
happened when the proposal was better than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from broadfront import atomics
from broadfront.kernel import inner


class Combine(NamedTuple):
    """The compiled functions of one way to combine."""

    better: Callable[..., Any]
    settle: Callable[..., Any]
    plainly: Callable[..., Any]
    """`plainly(proposal, present)` is the combined value, where only one thread writes."""


@inner
def _less(proposal, present):
    return proposal < present


@inner
def _more(proposal, present):
    return proposal > present


@inner
def _always(proposal, present):
    return True


@inner
def _adds_bits(proposal, present):
    return proposal & ~present != 0


@inner
def _take_bits(array, place, proposal):
    return atomics.bitwise_or(array, place, proposal)


@inner
def _with_bits(proposal, present):
    return present | proposal


@inner
def _take_minimum(array, place, proposal):
    return atomics.minimum(array, place, proposal)


@inner
def _take_maximum(array, place, proposal):
    return atomics.maximum(array, place, proposal)


@inner
def _take_sum(array, place, proposal):
    return atomics.add(array, place, proposal)


@inner
def _replace(proposal, present):
    return proposal


@inner
def _added(proposal, present):
    return present + proposal


def combining(name: str, fill: Any) -> Combine:
    """Return the functions of the combine called `name`, for a field filled with `fill`."""
    if name == "min":
        return Combine(_less, _take_minimum, _replace)
    if name == "max":
        return Combine(_more, _take_maximum, _replace)
    if name == "sum":
        return Combine(_always, _take_sum, _added)
    if name == "or":
        return Combine(_adds_bits, _take_bits, _with_bits)

    @inner
    def unset(proposal, present):
        return present == fill

    @inner
    def take_first(array, place, proposal):
        if atomics.compare_and_swap(array, place, fill, proposal):
            return fill
        return array[place]

    return Combine(unset, take_first, _replace)

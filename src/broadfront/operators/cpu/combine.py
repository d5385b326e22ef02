"""How proposals meet in an element: `min`, `max`, `sum`, `any`, `or`, a monoid; compiled functions.

`better(proposal, present)` tells whether a proposal would change anything; `settle(array, place,
proposal)` makes it count, whatever other threads do, and returns what was there before. A change
happened when the proposal was better than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.functors import compile_functor
from broadfront.kernel import inner
from broadfront.operators.describe import Field
from broadfront.operators.monoid import Monoid
from broadfront.swaps import alike, bits_at, put_if_still, value_of


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


def combining(field: Field) -> Combine:
    """Return the functions by which the proposals for a field, its dtype settled, meet."""
    name = field.combine
    if isinstance(name, Monoid):
        return _by_monoid(name)
    if name == "min":
        return Combine(_less, _take_minimum, _replace)
    if name == "max":
        return Combine(_more, _take_maximum, _replace)
    if name == "sum":
        return Combine(_always, _take_sum, _added)
    if name == "or":
        return Combine(_adds_bits, _take_bits, _with_bits)

    fill = np.dtype(field.dtype).type(field.fill)

    @inner
    def unset(proposal, present):
        return present == fill

    @inner
    def take_first(array, place, proposal):
        if atomics.compare_and_swap(array, place, fill, proposal):
            return fill
        return array[place]

    return Combine(unset, take_first, _replace)


def _by_monoid(monoid: Monoid) -> Combine:
    """Return the functions of a monoid; without an idempotent one every proposal counts."""
    function = compile_functor(monoid.function)

    @inner
    def merge(proposal, present):
        return alike(present, function(present, proposal))

    @inner
    def changes(proposal, present):
        return merge(proposal, present) != present

    better = changes if monoid.idempotent else _always

    @inner
    def swap_in(array, place, proposal):
        while True:
            bits = bits_at(array, place)
            before = value_of(array, bits)
            after = merge(proposal, before)
            if not better(proposal, before) or put_if_still(array, place, bits, after):
                return before

    return Combine(better, swap_in, merge)

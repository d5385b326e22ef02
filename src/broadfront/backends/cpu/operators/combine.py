"""How proposals meet in an element: `min`, `max`, `sum`, `any`, `or`, a monoid; compiled functions.

`better(proposal, present)` tells whether a proposal would change anything; `settle(array, place,
proposal)` makes it count, whatever other threads do, and returns what was there before. A change
happened when the proposal was better than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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
    if field.width is not None:
        return _each_by_itself(name or "min", field.width)
    if name == "min":
        return Combine(_less, _take_minimum, _replace)
    if name == "max":
        return Combine(_more, _take_maximum, _replace)
    if name == "sum":
        return Combine(_always, _take_sum, _added)
    if name == "or":
        return Combine(_adds_bits, _take_bits, _with_bits)

    fill = field.constant(field.fill)

    @inner
    def unset(proposal, present):
        return present == fill

    @inner
    def take_first(array, place, proposal):
        if atomics.compare_and_swap(array, place, fill, proposal):
            return fill
        return array[place]

    return Combine(unset, take_first, _replace)


def _each_by_itself(name: str, width: int) -> Combine:
    """Return the functions for elements of several values, each of which meets its like."""
    better, merge = _VALUES[name]
    settle = {
        "min": _take_minimum, "max": _take_maximum, "sum": _take_sum, "or": _take_bits
    }[name]  # fmt: skip
    some, merged = better, merge
    for place in range(width):
        some, merged = _and_value(place, better, merge, some, merged)
    return Combine(some, settle, merged)


def _and_value(
    place: int,
    better: Callable[..., Any],
    merge: Callable[..., Any],
    some: Callable[..., Any],
    merged: Callable[..., Any],
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return functions of the values up to a place, given those of the values before it."""
    if place == 0:

        @inner
        def first_is_better(proposal, present):
            return better(proposal[0], present[0])

        @inner
        def first_merged(proposal, present):
            return (merge(proposal[0], present[0]),)

        return first_is_better, first_merged

    @inner
    def some_is_better(proposal, present):
        return some(proposal, present) or better(proposal[place], present[place])

    @inner
    def all_merged(proposal, present):
        return merged(proposal, present) + (merge(proposal[place], present[place]),)  # noqa: RUF005

    return some_is_better, all_merged


@inner
def _smaller(proposal, present):
    return min(proposal, present)


@inner
def _larger(proposal, present):
    return max(proposal, present)


_VALUES = {
    "min": (_less, _smaller), "max": (_more, _larger), "sum": (_always, _added),
    "or": (_adds_bits, _with_bits),
}  # fmt: skip


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

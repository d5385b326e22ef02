"""Totals of what functors return: added up within blocks, then over blocks, in a fixed order.

A total of real numbers is of float64, one of whole numbers has all 64 bits of its field, so it is
exact. What blocks come to lies in words of 64 bits, whichever they are. Code that checks raises
`OverflowError` where a sum is beyond its field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import types
from numba.extending import intrinsic

from broadfront.atomics import element
from broadfront.bounded import Bounded
from broadfront.elements import refuse_cast
from broadfront.kernel import inner
from broadfront.ranges import refuse_sum, refuse_unfit
from broadfront.traffic import READ, WRITTEN


class Totals(NamedTuple):
    """The compiled functions that keep totals of a functor's answers."""

    begin: Callable[..., Any]
    """``begin(state)`` returns totals without any terms."""
    add: Callable[..., Any]
    """``add(totals, answer, state)`` returns them with those of an answer."""
    store: Callable[..., Any]
    """``store(partials, block, totals)`` keeps what a block comes to."""
    publish: Callable[..., Any]
    """``publish(partials, blocks, state)`` adds up the blocks, and sets the fields."""


def totals_of(places: tuple[int, ...]) -> Totals:
    """Return how totals are kept in the fields of length 1 at these places of the state."""
    if not places:
        return Totals(_begin_none, _add_none, _store_none, _publish_none)
    if len(places) == 1:
        return _one_total(*places)
    return _two_totals(*places)


def _one_total(first: int) -> Totals:
    @inner
    def begin(state):
        return (no_terms(state[first]),)

    @inner
    def add(totals, answer, state):
        return (with_term(state[first], totals[0], answer),)

    @inner
    def store(partials, block, totals):
        put_word(partials, block, totals[0])

    @inner
    def publish(partials, blocks, state):
        total = no_terms(state[first])
        for block in range(blocks):
            total = with_term(state[first], total, word_at(partials, block, state[first]))
        state[first][0] = total

    return Totals(begin, add, store, publish)


def _two_totals(first: int, second: int) -> Totals:
    @inner
    def begin(state):
        return no_terms(state[first]), no_terms(state[second])

    @inner
    def add(totals, answer, state):
        one = with_term(state[first], totals[0], answer[0])
        return one, with_term(state[second], totals[1], answer[1])

    @inner
    def store(partials, block, totals):
        put_word(partials, 2 * block, totals[0])
        put_word(partials, 2 * block + 1, totals[1])

    @inner
    def publish(partials, blocks, state):
        one, two = no_terms(state[first]), no_terms(state[second])
        for block in range(blocks):
            one = with_term(state[first], one, word_at(partials, 2 * block, state[first]))
            two = with_term(state[second], two, word_at(partials, 2 * block + 1, state[second]))
        state[first][0] = one
        state[second][0] = two

    return Totals(begin, add, store, publish)


@inner
def _begin_none(state):
    return ()


@inner
def _add_none(totals, answer, state):
    return totals


@inner
def _store_none(partials, block, totals):
    pass


@inner
def _publish_none(partials, blocks, state):
    pass


# ---------------------------------------------------------------------- numbers of 64 bits


def _kind_of(array: Any) -> Any:
    """Return the type of a total in an array: float64, or that of its integers."""
    return types.float64 if isinstance(array.dtype, types.Float) else array.dtype


@intrinsic
def no_terms(typing_context: Any, array: Any) -> Any:
    """Return the total of nothing, of the kind that an array takes."""
    kind = _kind_of(array)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_constant(kind, 0)

    return kind(array), generate


@intrinsic
def with_term(typing_context: Any, array: Any, total: Any, term: Any) -> Any:
    """Return a total in an array, and one more term; a real one of an integer total is refused."""
    refuse_cast(term, array.dtype, "a term of a total")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        added = context.cast(builder, arguments[2], term, total)
        if isinstance(total, types.Float):
            return builder.fadd(arguments[1], added)
        if isinstance(array, Bounded):
            refuse_unfit(context, builder, arguments[2], term, total, array.array)
            refuse_sum(context, builder, arguments[1], added, total, array.array)
        return builder.add(arguments[1], added)

    return total(array, total, term), generate


@intrinsic
def put_word(typing_context: Any, words: Any, place: Any, total: Any) -> Any:
    """Keep a total in a word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, words, arguments[0], place, arguments[1], WRITTEN)
        kept = context.get_value_type(total).as_pointer()
        builder.store(arguments[2], builder.bitcast(address, kept))
        return context.get_dummy_value()

    return types.void(words, place, total), generate


@intrinsic
def word_at(typing_context: Any, words: Any, place: Any, array: Any) -> Any:
    """Return the total that is kept in a word, of the kind that an array takes."""
    kind = _kind_of(array)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, words, arguments[0], place, arguments[1], READ)
        kept = context.get_value_type(kind).as_pointer()
        return builder.load(builder.bitcast(address, kept))

    return kind(words, place, array), generate

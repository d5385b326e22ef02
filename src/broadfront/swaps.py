"""Elements replaced as a whole: read their bits, compute, and put the outcome if nothing changed.

    while True:
        bits = bits_at(array, place)
        after = combined(value_of(array, bits))
        if put_if_still(array, place, bits, after):
            break

What is compared are bits and not values, so it ends for NaN, too.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from broadfront.atomics import element
from broadfront.elements import Bits, bits_of, refuse_cast, size_of, values_in
from broadfront.traffic import READ, WRITTEN


@intrinsic
def bits_at(typing_context: Any, array: Any, place: Any) -> Any:
    """Return the bits of an element, all from one moment."""
    kind = Bits(size_of(array.dtype))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, array, arguments[0], place, arguments[1], READ)
        whole = builder.bitcast(address, ir.IntType(8 * kind.size).as_pointer())
        return builder.load_atomic(whole, "monotonic", kind.size)

    return kind(array, place), generate


@intrinsic
def value_of(typing_context: Any, array: Any, bits: Any) -> Any:
    """Return the element of an array that has these bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return values_in(context, builder, arguments[1], array.dtype)

    return array.dtype(array, bits), generate


@intrinsic
def put_if_still(typing_context: Any, array: Any, place: Any, bits: Any, value: Any) -> Any:
    """Put a value where an element still has these bits; return whether it had."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, array, arguments[0], place, arguments[1], READ, WRITTEN)
        whole = builder.bitcast(address, ir.IntType(8 * bits.size).as_pointer())
        new = context.cast(builder, arguments[3], value, array.dtype)
        outcome = builder.cmpxchg(
            whole, arguments[2], bits_of(context, builder, new, array.dtype), "monotonic",
            "monotonic",
        )  # fmt: skip
        return builder.zext(
            builder.extract_value(outcome, 1), context.get_value_type(types.boolean)
        )

    return types.boolean(array, place, bits, value), generate


@intrinsic
def alike(typing_context: Any, model: Any, value: Any) -> Any:
    """Return a value in the type of another; what would be cut off is refused."""
    refuse_cast(value, model, "what the function of a Monoid returns")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[1], value, model)

    return model(model, value), generate

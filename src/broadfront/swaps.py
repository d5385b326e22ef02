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
from numba.core.errors import TypingError
from numba.extending import intrinsic

from broadfront.atomics import element


def _bits_type(dtype: Any) -> Any:
    return types.Integer.from_bitwidth(dtype.bitwidth, signed=False)


def _integer(kind: Any) -> Any:
    return ir.IntType(kind.bitwidth)


def _cast_number(context: Any, builder: Any, value: Any, kind: Any) -> Any:
    """Return a number of `kind` whose bits are those of another LLVM value."""
    return builder.bitcast(value, context.get_value_type(kind))


@intrinsic
def bits_at(typing_context: Any, array: Any, place: Any) -> Any:
    """Return the bits of an element, all from one moment."""
    kind = _bits_type(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, array, arguments[0], place, arguments[1])
        whole = builder.bitcast(address, _integer(kind).as_pointer())
        return builder.load_atomic(whole, "monotonic", kind.bitwidth // 8)

    return kind(array, place), generate


@intrinsic
def value_of(typing_context: Any, array: Any, bits: Any) -> Any:
    """Return the element of an array that has these bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _cast_number(context, builder, arguments[1], array.dtype)

    return array.dtype(array, bits), generate


@intrinsic
def put_if_still(typing_context: Any, array: Any, place: Any, bits: Any, value: Any) -> Any:
    """Put a value where an element still has these bits; return whether it had."""
    kind = _bits_type(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = element(context, builder, array, arguments[0], place, arguments[1])
        whole = builder.bitcast(address, _integer(kind).as_pointer())
        new = context.cast(builder, arguments[3], value, array.dtype)
        outcome = builder.cmpxchg(
            whole, arguments[2], _cast_number(context, builder, new, kind), "monotonic", "monotonic"
        )
        return builder.zext(
            builder.extract_value(outcome, 1), context.get_value_type(types.boolean)
        )

    return types.boolean(array, place, bits, value), generate


@intrinsic
def alike(typing_context: Any, model: Any, value: Any) -> Any:
    """Return a value in the type of another; a real number in place of an integer is refused."""
    refuse_cast(value, model, "a Monoid of elements of")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[1], value, model)

    return model(model, value), generate


def refuse_cast(value: Any, wanted: Any, what: str) -> None:
    """Refuse to compile what would make a number of something else, or cut it off."""
    if not isinstance(value, (types.Number, types.Boolean)):
        raise TypingError(f"{what} {wanted} must return a number, not {value}")
    if isinstance(value, (types.Float, types.Complex)) and isinstance(wanted, types.Integer):
        raise TypingError(f"{what} {wanted} must not return {value}")

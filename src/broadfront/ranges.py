"""Whole numbers that do not fit what takes them: refused in code that checks (`checked=True`).

Unchecked code keeps the low bits, as C does. What is checked is what goes into a field: a store, a
proposal, the outcome of an atomic addition.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from broadfront.checking import function_name
from broadfront.errors import RangeError

LONG = ir.IntType(64)


def refuse_unfit(
    context: Any, builder: Any, value: Any, given: Any, wanted: Any, what: str
) -> None:
    """Raise `RangeError` for a number, or a tuple of these, that a field of `wanted` cannot hold.

    `given` and `wanted` are Numba types, and `what` says into which field it goes.
    """
    if isinstance(wanted, types.BaseTuple) and isinstance(given, types.BaseTuple):
        for place, (one, other) in enumerate(zip(given, wanted, strict=True)):
            part = builder.extract_value(value, place)
            refuse_unfit(context, builder, part, one, other, what)
        return
    if not isinstance(given, types.Integer) or not isinstance(wanted, types.Integer):
        return
    number = _lengthened(builder, value, given)
    if (outside := _outside(builder, number, given, wanted)) is not None:
        with builder.if_then(outside, likely=False):
            context.call_conv.return_dynamic_user_exc(
                builder, RangeError, (function_name(builder), what, number, str(wanted)),
                (None, None, types.int64 if given.signed else types.uint64, None),
            )  # fmt: skip


def refuse_sum(context: Any, builder: Any, before: Any, added: Any, kind: Any, what: str) -> None:
    """Raise `OverflowError` where the sum of two numbers of a field is too large for it."""
    if not isinstance(kind, types.Integer):
        return
    add = builder.sadd_with_overflow if kind.signed else builder.uadd_with_overflow
    outcome = add(before, added)
    with builder.if_then(builder.extract_value(outcome, 1), likely=False):
        text = f"{function_name(builder)}: {what} cannot hold the sum: it is of {kind}"
        context.call_conv.return_user_exc(builder, OverflowError, (text,))


def _lengthened(builder: Any, value: Any, kind: Any) -> Any:
    if kind.bitwidth == 64:
        return value
    return builder.sext(value, LONG) if kind.signed else builder.zext(value, LONG)


def _outside(builder: Any, number: Any, given: Any, wanted: Any) -> Any:
    """Return the bit that tells whether a number is outside a type, or None if none can be."""
    if given.signed:
        bits = []
        if given.minval < wanted.minval:
            bits.append(builder.icmp_signed("<", number, LONG(wanted.minval)))
        if given.maxval > wanted.maxval:
            bits.append(builder.icmp_signed(">", number, LONG(wanted.maxval)))
        if len(bits) == 2:
            return builder.or_(*bits)
        return bits[0] if bits else None
    if given.maxval > wanted.maxval:
        return builder.icmp_unsigned(">", number, LONG(wanted.maxval))
    return None

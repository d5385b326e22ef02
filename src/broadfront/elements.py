"""Elements of several numbers: how they lie in memory, and how compiled code reads and writes them.

An element is a tuple in functors: the values of a record, or a few of one dtype. In memory they lie
as a C compiler lays out a structure, so each value is atomic by itself. An element of up to 16
bytes is filled up to a power of two and read and written as one integer, so that no thread sees
half of it; one of 16 bytes takes a compare-and-swap of 128 bits, which x86 has had since 2006, and
ARM of 64 bits always (`swaps_16_bytes`). A larger one is read value by value.

Messages are not aligned to 16 bytes, and nobody writes them while they are read: a loose pointer
reads and writes value by value there.

Invariant: what an element looks like follows from the types of its values alone.
"""

from __future__ import annotations

import operator
import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import errors
from numba.core.registry import cpu_target
from numba.extending import lower_builtin, models, register_model
from numba.np import numpy_support

from broadfront.records import WHOLE, layout


def element_kind(dtype: Any) -> Any:
    """Return the Numba type of what an array of a NumPy or Numba dtype holds for functors."""
    kind = numpy_support.from_dtype(dtype) if isinstance(dtype, np.dtype) else dtype
    if isinstance(kind, types.Record):
        return types.BaseTuple.from_types([field.type for field in kind.fields.values()])
    return kind


def swaps_16_bytes() -> bool:
    """Tell whether compiled code can compare and swap 128 bits here."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return "+cx16" in cpu_target.target_context.codegen()._tm_features
    return platform.machine().lower() in ("aarch64", "arm64")


class Elements(types.CPointer):  # type: ignore[misc]
    """The type of a pointer to elements of several numbers."""

    def __init__(self, dtype: Any, loose: bool = False) -> None:
        super().__init__(dtype)
        self.loose = loose
        self.name = f"Elements({dtype}{', loose' if loose else ''})"

    @property
    def key(self) -> Any:
        """What tells types of this class apart."""
        return self.dtype, self.loose


def pointer_kind(dtype: Any, loose: bool = False) -> Any:
    """Return the type of a pointer to what functors see as `dtype`."""
    if isinstance(dtype, types.BaseTuple):
        return Elements(dtype, loose)
    return types.CPointer(dtype)


def size_of(kind: Any) -> int:
    """Return the bytes of an element, a number or several."""
    if isinstance(kind, types.BaseTuple):
        return layout([value.bitwidth // 8 for value in kind])[1]
    return int(kind.bitwidth) // 8


@register_model(Elements)
class _ElementsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        octets = ir.ArrayType(ir.IntType(8), size_of(kind.dtype))
        super().__init__(manager, kind, octets.as_pointer())


class Bits(types.Type):  # type: ignore[misc]
    """The type of the bits of an element of so many bytes."""

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__(f"Bits({size})")


@register_model(Bits)
class _BitsModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(8 * kind.size))


# ---------------------------------------------------------------------- values and bits


def values_in(context: Any, builder: Any, bits: Any, kind: Any) -> Any:
    """Return the element, a number or several, that has these bits."""
    if not isinstance(kind, types.BaseTuple):
        return builder.bitcast(bits, context.get_value_type(kind))
    places, _ = layout([value.bitwidth // 8 for value in kind])
    values = []
    for value, place in zip(kind, places, strict=True):
        part = builder.lshr(bits, bits.type(8 * place)) if place else bits
        if value.bitwidth < bits.type.width:
            part = builder.trunc(part, ir.IntType(value.bitwidth))
        values.append(builder.bitcast(part, context.get_value_type(value)))
    return context.make_tuple(builder, kind, values)


def bits_of(context: Any, builder: Any, element: Any, kind: Any) -> Any:
    """Return the bits of an element; where it is filled up they are zero."""
    whole = ir.IntType(8 * size_of(kind))
    if not isinstance(kind, types.BaseTuple):
        return builder.bitcast(element, whole)
    places, _ = layout([value.bitwidth // 8 for value in kind])
    bits = whole(0)
    for number, (value, place) in enumerate(zip(kind, places, strict=True)):
        part = builder.bitcast(builder.extract_value(element, number), ir.IntType(value.bitwidth))
        if value.bitwidth < whole.width:
            part = builder.zext(part, whole)
        bits = builder.or_(bits, builder.shl(part, whole(8 * place)) if place else part)
    return bits


def value_addresses(context: Any, builder: Any, address: Any, kind: Any) -> list[Any]:
    """Return the addresses of the values of an element."""
    places, _ = layout([value.bitwidth // 8 for value in kind])
    octets = builder.bitcast(address, ir.IntType(8).as_pointer())
    return [
        builder.bitcast(
            builder.gep(octets, [ir.IntType(64)(place)]),
            context.get_value_type(value).as_pointer(),
        )
        for value, place in zip(kind, places, strict=True)
    ]


def _is_whole(pointer: Any) -> bool:
    return not pointer.loose and size_of(pointer.dtype) <= WHOLE


@lower_builtin(operator.getitem, Elements, types.Integer)
def _get(context, builder, sig, arguments):
    pointer, kind = sig.args[0], sig.args[0].dtype
    address = builder.gep(arguments[0], [arguments[1]])
    if _is_whole(pointer):
        size = size_of(kind)
        whole = builder.bitcast(address, ir.IntType(8 * size).as_pointer())
        return values_in(context, builder, builder.load_atomic(whole, "monotonic", size), kind)
    values = [
        builder.load(each, align=value.bitwidth // 8)
        for each, value in zip(value_addresses(context, builder, address, kind), kind, strict=True)
    ]
    return context.make_tuple(builder, kind, values)


@lower_builtin(operator.setitem, Elements, types.Integer, types.Any)
def _set(context, builder, sig, arguments):
    pointer, kind = sig.args[0], sig.args[0].dtype
    address = builder.gep(arguments[0], [arguments[1]])
    element = context.cast(builder, arguments[2], sig.args[2], kind)
    if _is_whole(pointer):
        size = size_of(kind)
        whole = builder.bitcast(address, ir.IntType(8 * size).as_pointer())
        bits = bits_of(context, builder, element, kind)
        builder.store_atomic(bits, whole, "monotonic", size)
        return context.get_dummy_value()
    for number, each in enumerate(value_addresses(context, builder, address, kind)):
        value = builder.extract_value(element, number)
        builder.store(value, each, align=kind[number].bitwidth // 8)
    return context.get_dummy_value()


# ---------------------------------------------------------------------- what goes into an element


SAID = "In a functor: "
"""How a message begins that is to be shown as it is."""


def refuse_cast(given: Any, wanted: Any, what: str) -> None:
    """Refuse to compile what would make an element of something else, or cut it off.

    `given` and `wanted` are Numba types, and `what` says whose.
    """
    if isinstance(wanted, types.BaseTuple):
        if not isinstance(given, types.BaseTuple) or len(given) != len(wanted):
            raise errors.TypingError(
                f"{SAID}{what} must be a tuple of {len(wanted)} numbers, not {given}"
            )
        for one, other in zip(given, wanted, strict=True):
            refuse_cast(one, other, what)
    elif not isinstance(given, (types.Number, types.Boolean)):
        raise errors.TypingError(f"{SAID}{what} must be a number, not {given}")
    elif isinstance(given, (types.Float, types.Complex)) and isinstance(wanted, types.Integer):
        raise errors.TypingError(
            f"{SAID}{what} is of {given}, which does not go into a field of {wanted}: write "
            "int(...) around it, or declare the field np.float64"
        )


def refuse_mixed_signs(total: Any, given: Any, what: str, remedy: str) -> None:
    """Refuse to compile where a uint64 and a signed number would be combined, as an int64.

    `total` and `given` are Numba types, and `what` says whose the second is.
    """
    kinds = types.unliteral(total), types.unliteral(given)
    unsigned = [kind == types.uint64 for kind in kinds]
    signed = [isinstance(kind, types.Integer) and kind.signed for kind in kinds]
    if any(unsigned) and any(signed):
        raise errors.TypingError(
            f"{SAID}{what} is of {kinds[1]}, and the total of {kinds[0]}: {remedy} offer "
            "np.uint64(...), or offer np.int64(...)"
        )

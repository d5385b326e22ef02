"""Raw pointers into arrays, for the inner loops of kernels.

A pointer indexes like its array but carries no length, no strides and no reference count, and an
index is taken as it is: that is worth a third of the time of a traversal. The array itself must be
kept alive by the caller, which every run does.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, overload, register_model
from numba.np.arrayobj import make_array

from broadfront.atomics import element
from broadfront.bounded import Bounded, bounded, checking, data_of


@intrinsic
def pointer(typing_context: Any, array: Any) -> Any:
    """Return a pointer to the first element of an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return make_array(array)(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def pointers(typing_context: Any, state: Any) -> Any:
    """Return a named tuple with a pointer for every array in `state`, the rest as it is.

    None becomes what indexes like an array in which every element is its own index, for nothing.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _values_of(context, builder, state, arguments[0], kinds)

    kinds = _kinds_of(state)
    return kinds(state), generate


class Same(types.Dummy):  # type: ignore[misc]
    """The kind of what stands for an array in which every element is its own index."""


register_model(Same)(models.OpaqueModel)
SAME = Same("same")


@overload(operator.getitem)
def _get_same(array, index):
    if isinstance(array, Same):
        return lambda array, index: index
    return None


STATE = "State__"
"""How the names of the classes begin whose fields functors see."""


def _kinds_of(kind: Any, field: str | None = None) -> Any:
    if kind == types.none:
        return SAME
    if isinstance(kind, types.Array):
        return types.CPointer(kind.dtype) if field is None else Bounded(kind.dtype, field)
    if isinstance(kind, types.BaseNamedTuple):
        parts = [
            _kinds_of(part, field)
            for part, field in zip(kind.types, _checked_fields(kind), strict=True)
        ]
        return types.NamedTuple(parts, kind.instance_class)
    return kind


def _checked_fields(kind: Any) -> tuple[str | None, ...]:
    """Return the names of a state's fields where indices are checked, and nothing elsewhere."""
    if checking() and kind.instance_class.__name__.startswith(STATE):
        return tuple(kind.fields)
    return (None,) * len(kind.types)


def _values_of(context: Any, builder: Any, kind: Any, value: Any, to: Any) -> Any:
    if kind == types.none:
        return context.get_dummy_value()
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder, value)
        if isinstance(to, Bounded):
            length = builder.extract_value(array.shape, 0)
            return bounded(context, builder, to, array.data, length)
        return array.data
    if not isinstance(kind, types.BaseNamedTuple):
        return value
    parts = [_values_of(context, builder, part, builder.extract_value(value, place), to_part)
             for place, (part, to_part) in enumerate(zip(kind.types, to.types, strict=True))
             ]  # fmt: skip
    return context.make_tuple(builder, to, parts)


@intrinsic
def at(typing_context: Any, address: Any, like: Any) -> Any:
    """Return the pointer to an address given as an integer, of the kind of `like`."""
    pointed = types.CPointer(like.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = context.cast(builder, arguments[0], address, types.intp)
        return builder.inttoptr(number, context.get_value_type(pointed))

    return pointed(address, like), generate


@intrinsic
def recast(typing_context: Any, address: Any, like: Any) -> Any:
    """Return the same pointer as one of the kind of `like`."""
    pointed = types.CPointer(like.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(pointed))

    return pointed(address, like), generate


@intrinsic
def shifted(typing_context: Any, address: Any, count: Any) -> Any:
    """Return a pointer `count` elements further on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [context.cast(builder, arguments[1], count, types.intp)])

    return address(address, count), generate


@intrinsic
def at_row(typing_context: Any, state: Any, row: Any, lengths: Any) -> Any:
    """Return `state` with its first pointers moved on by `row` rows of the given lengths."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = [builder.extract_value(arguments[0], place) for place in range(len(state.types))]
        for place in range(len(lengths)):
            length = builder.extract_value(arguments[2], place)
            kind, shift = state.types[place], builder.mul(arguments[1], length)
            if isinstance(kind, Bounded):
                data = builder.gep(data_of(builder, parts[place]), [shift])
                parts[place] = bounded(context, builder, kind, data, length)
            else:
                parts[place] = builder.gep(parts[place], [shift])
        return context.make_tuple(builder, state, parts)

    return state(state, row, lengths), generate


@intrinsic
def prefetch(typing_context: Any, address: Any, index: Any) -> Any:
    """Ask for the cache line of an element; harmless wherever it points."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = element(context, builder, address, arguments[0], index, arguments[1])
        octets, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [octets, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [builder.bitcast(place, octets), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(address, index), generate


@intrinsic
def as_element(typing_context: Any, array: Any, value: Any) -> Any:
    """Return `value` in the dtype of `array`; a real number for an integer field is refused."""
    dtype = array.dtype
    if not isinstance(value, (types.Number, types.Boolean)):
        raise TypingError(f"a proposal must be a number, not {value}")
    if isinstance(value, (types.Float, types.Complex)) and isinstance(dtype, types.Integer):
        raise TypingError(f"a proposal of {value} does not go into a field of {dtype}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[1], value, dtype)

    return dtype(array, value), generate

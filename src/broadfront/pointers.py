"""Raw pointers into arrays, for the inner loops of kernels.

A pointer indexes like its array but carries no length, no strides and no reference count, and an
index is taken as it is: that is worth a third of the time of a traversal. The array itself must be
kept alive by the caller, which every run does.

In code that checks indices (`broadfront.checking`) pointers know their lengths: those of arrays,
and those of memory that grows, which ends where the last allocation did. Not checked are pointers
made of a plain number: only `broadfront.backends.cpu.field_io` makes such.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model
from numba.np.arrayobj import make_array

from broadfront.atomics import element
from broadfront.bounded import Address, Bounded, bounded, ending, fitted, item_size, moved, parts_of
from broadfront.checking import ALWAYS, checking
from broadfront.elements import element_kind, pointer_kind, refuse_cast, refuse_mixed_signs
from broadfront.sites import UNKNOWN
from broadfront.traffic import COUNTED, is_counting


def _pointer_to(array: Any, checked: bool, counted: str = "") -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _values_of(context, builder, array, arguments[0], kind)

    kind = _kinds_of(array, checked, counted + UNKNOWN, counted)
    return kind(array), generate


@intrinsic
def pointer(typing_context: Any, array: Any) -> Any:
    """Return a pointer to the first element of an array."""
    return _pointer_to(array, ALWAYS)


@intrinsic
def bounded_pointer(typing_context: Any, array: Any) -> Any:
    """Return a pointer that knows its length."""
    return _pointer_to(array, True)


@intrinsic
def pointers(typing_context: Any, state: Any) -> Any:
    """Return a named tuple with a pointer for every array in `state`, the rest as it is.

    None becomes what indexes like an array in which every element is its own index, for nothing.
    """
    return _pointer_to(state, ALWAYS)


@intrinsic
def bounded_pointers(typing_context: Any, state: Any) -> Any:
    """Do as `pointers` with pointers that know their lengths."""
    return _pointer_to(state, True)


@intrinsic
def counted_pointer(typing_context: Any, array: Any) -> Any:
    """Return a pointer that knows its length, and whose accesses are counted."""
    return _pointer_to(array, True, COUNTED)


@intrinsic
def counted_pointers(typing_context: Any, state: Any) -> Any:
    """Do as `pointers` with pointers whose accesses are counted."""
    return _pointer_to(state, True, COUNTED)


def makers() -> tuple[Any, Any]:
    """Return `pointer` and `pointers`, for a function that is made now."""
    if is_counting():
        return counted_pointer, counted_pointers
    return (bounded_pointer, bounded_pointers) if checking() else (pointer, pointers)


class Same(types.Dummy):  # type: ignore[misc]
    """The kind of what stands for an array in which every element is its own index."""


register_model(Same)(models.OpaqueModel)
SAME = Same("same")


@overload(operator.getitem)
def _get_same(array, index):
    if isinstance(array, Same):
        return lambda array, index: index
    return None


class Lines(types.NamedTuple):  # type: ignore[misc]
    """A named tuple of pointers, which functions hand on as one value.

    Numba hands on every member by itself: a chain of functions would be little but taking tuples
    apart and putting them together again, for which LLVM and Numba take longer than for the rest.
    """


@register_model(Lines)
class _WholeModel(models.TupleModel):  # type: ignore[misc]
    def get_argument_type(self) -> Any:
        return self.get_value_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        return value


STATE = "State__"
"""How the names of the classes begin whose fields functors see."""


def _kinds_of(kind: Any, checked: bool = ALWAYS, name: str = "", counted: str = "") -> Any:
    if kind == types.none:
        return SAME
    if isinstance(kind, types.Array):
        dtype = element_kind(kind.dtype)
        return Bounded(dtype, (name,)) if checked else pointer_kind(dtype)
    if isinstance(kind, types.BaseNamedTuple):
        whole = kind.instance_class.__name__
        whole = "state" if whole.startswith(STATE) else whole.lower()
        some = getattr(kind.instance_class, "checked", ())
        parts = [
            _kinds_of(part, checked or field in some, f"{counted}{whole}.{field}", counted)
            for part, field in zip(kind.types, kind.fields, strict=True)
        ]
        return Lines(parts, kind.instance_class)
    return kind


def _values_of(context: Any, builder: Any, kind: Any, value: Any, to: Any) -> Any:
    if kind == types.none:
        return context.get_dummy_value()
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder, value)
        if isinstance(to, Bounded):
            return bounded(context, builder, to, array.data, array.nitems)
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
    if isinstance(address, Address):
        return _at_known(address, like)
    pointed = pointer_kind(like.dtype, loose=True)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = context.cast(builder, arguments[0], address, types.intp)
        return builder.inttoptr(number, context.get_value_type(pointed))

    return pointed(address, like), generate


def _at_known(address: Any, like: Any) -> Any:
    pointed = Bounded(like.dtype, address.names, loose=True)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        begin, end = (builder.extract_value(arguments[0], place) for place in range(2))
        data = builder.inttoptr(begin, context.get_value_type(pointed.pointer))
        size = begin.type(item_size(like.dtype))
        length = builder.sdiv(builder.sub(end, begin), size)
        return bounded(context, builder, pointed, data, length)

    return pointed(address, like), generate


@intrinsic
def address_in(typing_context: Any, table: Any, place: Any) -> Any:
    """Return the address at a place of a table, in which its capacity in bytes comes next.

    Where the table is checked, the address knows where its memory ends.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        entry = element(context, builder, table, arguments[0], place, arguments[1])
        begin = builder.load(entry)
        if not isinstance(table, Bounded):
            return begin
        end = builder.add(begin, builder.load(builder.gep(entry, [begin.type(1)])))
        return ending(context, builder, kind, begin, end)

    known = isinstance(table, Bounded)
    kind = Address((f"memory of {table.array}",)) if known else table.dtype
    return kind(table, place), generate


@intrinsic
def reaching_back(typing_context: Any, address: Any, place: Any) -> Any:
    """Return a pointer; one that is checked may reach back by as much as an element says."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not isinstance(address, Bounded):
            return arguments[0]
        data, length, _ = parts_of(builder, arguments[0])
        entry = element(context, builder, address, arguments[0], place, arguments[1])
        return bounded(context, builder, address, data, length, builder.neg(builder.load(entry)))

    return address(address, place), generate


@intrinsic
def recast(typing_context: Any, address: Any, like: Any) -> Any:
    """Return the same pointer as one of the kind of `like`."""
    if isinstance(address, Bounded):
        return _recast_bounded(address, like)
    pointed = pointer_kind(like.dtype, loose=True)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(pointed))

    return pointed(address, like), generate


def _recast_bounded(address: Any, like: Any) -> Any:
    pointed = Bounded(like.dtype, address.names, loose=True)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, length, _ = parts_of(builder, arguments[0])
        old, new = (length.type(item_size(kind.dtype)) for kind in (address, like))
        data = builder.bitcast(data, context.get_value_type(pointed.pointer))
        length = builder.sdiv(builder.mul(length, old), new)
        return bounded(context, builder, pointed, data, length)

    return pointed(address, like), generate


@intrinsic
def shifted(typing_context: Any, address: Any, count: Any) -> Any:
    """Return a pointer `count` elements further on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        distance = context.cast(builder, arguments[1], count, types.intp)
        if isinstance(address, Bounded):
            return moved(context, builder, address, arguments[0], distance)
        return builder.gep(arguments[0], [distance])

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
                whole = moved(context, builder, kind, parts[place], shift)
                data, left, _ = parts_of(builder, whole)
                least = builder.select(builder.icmp_signed("<", left, length), left, length)
                parts[place] = bounded(context, builder, kind, data, least)
            else:
                parts[place] = builder.gep(parts[place], [shift])
        return context.make_tuple(builder, state, parts)

    return state(state, row, lengths), generate


@intrinsic
def with_counters(typing_context: Any, state: Any, iteration: Any, frontier_size: Any) -> Any:
    """Return `state` with these numbers for the two that it ends with."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        parts = [builder.extract_value(arguments[0], place) for place in range(len(state.types))]
        for place, kind in ((-2, iteration), (-1, frontier_size)):
            parts[place] = context.cast(builder, arguments[place], kind, state.types[place])
        return context.make_tuple(builder, state, parts)

    return state(state, iteration, frontier_size), generate


@intrinsic
def prefetch(typing_context: Any, address: Any, index: Any) -> Any:
    """Ask for the cache line of an element; harmless wherever it points."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, base = address, arguments[0]
        if isinstance(address, Bounded):
            kind, base = address.pointer, parts_of(builder, base)[0]
        elif isinstance(address, types.Array):
            kind, base = (
                pointer_kind(address.dtype),
                make_array(address)(context, builder, base).data,
            )
        place = element(context, builder, kind, base, index, arguments[1])
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
    refuse_cast(value, dtype, "a proposal")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if isinstance(array, Bounded):
            return fitted(context, builder, array, arguments[1], value)
        return context.cast(builder, arguments[1], value, dtype)

    return dtype(array, value), generate


@intrinsic
def as_offer(typing_context: Any, total: Any, value: Any) -> Any:
    """Return `value`, an offer that meets `total`; what has a sign meets nothing that has none."""
    refuse_mixed_signs(total, value, "an offer", "give the Reduce identity=np.uint64(...) and")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return arguments[1]

    return value(total, value), generate


@intrinsic
def as_kept(typing_context: Any, array: Any, word: Any) -> Any:
    """Return the element of an array of integers that was kept as an integer of 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[1], word, array.dtype)

    return array.dtype(array, word), generate


@intrinsic
def any_element(typing_context: Any, array: Any) -> Any:
    """Return an element of no meaning, of the kind that an array holds."""
    dtype = array.dtype

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_constant_null(dtype)

    return dtype(array), generate

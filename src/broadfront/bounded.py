"""Pointers and addresses that know how far they reach, for code that checks every index.

Compiled loops see arrays as pointers, which know no length (`broadfront.pointers`). In code with
checks (`broadfront.checking`) they see a pointer, a length and, in the type, the name of the array;
an index outside raises `BoundsError`. So does a negative index, but for what lies before a pointer
and is known to belong to it. Where one of several arrays is meant, the name has all of them.

Memory that grows has addresses for names. An address that knows where its memory ends is a number
to which offsets can be added, and a pointer made from it knows its length.

Invariant: without checks nothing here is compiled.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, register_model

from broadfront.checking import refuse_outside
from broadfront.elements import pointer_kind, size_of
from broadfront.ranges import refuse_unfit
from broadfront.traffic import READ, WRITTEN, note


class Bounded(types.Type):  # type: ignore[misc]
    """The type of a pointer with a length, and of what it is called."""

    def __init__(self, dtype: Any, names: tuple[str, ...], loose: bool = False) -> None:
        self.dtype = dtype
        self.names = tuple(sorted(set(names)))
        self.pointer = pointer_kind(dtype, loose)
        """The type of the pointer alone."""
        super().__init__(f"Bounded({self.pointer}, {self.array})")

    @property
    def array(self) -> str:
        """The name of the array, or names of several."""
        return " or ".join(self.names)

    @property
    def of_state(self) -> bool:
        """Whether it is what functors see, and no memory of the loop's own."""
        return all(name.startswith("state.") for name in self.names)

    def unify(self, typing_context: Any, other: Any) -> Any:
        """Return the type of what may be one or the other."""
        if isinstance(other, Bounded) and other.pointer == self.pointer:
            loose = getattr(self.pointer, "loose", False)
            return Bounded(self.dtype, self.names + other.names, loose)
        return None

    def can_convert_to(self, typing_context: Any, other: Any) -> Any:
        """Tell how well this serves as another type."""
        if isinstance(other, Bounded) and other.pointer == self.pointer:
            return Conversion.promote
        return Conversion.unsafe if other == self.pointer else None


class Address(types.Type):  # type: ignore[misc]
    """The type of an address that knows where its memory ends."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(f"Address({', '.join(names)})")


@register_model(Bounded)
class _BoundedModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("data", kind.pointer), ("length", types.intp), ("before", types.intp)]
        super().__init__(manager, kind, members)


@register_model(Address)
class _AddressModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("begin", types.intp), ("end", types.intp)])


def bounded(context: Any, builder: Any, kind: Any, data: Any, length: Any, before: Any = 0) -> Any:
    """Return the value of a bounded pointer."""
    proxy = cgutils.create_struct_proxy(kind)(context, builder)
    proxy.data, proxy.length = data, length
    proxy.before = length.type(before) if isinstance(before, int) else before
    return proxy._getvalue()


def ending(context: Any, builder: Any, kind: Any, begin: Any, end: Any) -> Any:
    """Return the value of an address that knows where its memory ends."""
    proxy = cgutils.create_struct_proxy(kind)(context, builder)
    proxy.begin, proxy.end = begin, end
    return proxy._getvalue()


def parts_of(builder: Any, value: Any) -> tuple[Any, Any, Any]:
    """Return the pointer, the length and what lies before, of a bounded pointer."""
    return tuple(builder.extract_value(value, place) for place in range(3))


def element_within(
    context: Any, builder: Any, kind: Any, value: Any, offset: Any, *ways: int
) -> Any:
    """Return the address of an element; raise `BoundsError` where there is none.

    `ways` are those in which it is about to be used, for `broadfront.traffic`.
    """
    data, length, before = parts_of(builder, value)
    refuse_outside(context, builder, kind.array, offset, length, before)
    note(builder, kind.names, item_size(kind.dtype), ways)
    return builder.gep(data, [offset])


def fitted(context: Any, builder: Any, kind: Any, value: Any, given: Any) -> Any:
    """Return a value as an element; raise `RangeError` if an element of a field cannot hold it."""
    if kind.of_state:
        refuse_unfit(context, builder, value, given, kind.dtype, kind.array)
    return context.cast(builder, value, given, kind.dtype)


def moved(context: Any, builder: Any, kind: Any, value: Any, count: Any) -> Any:
    """Return a bounded pointer `count` elements further on, and as much shorter."""
    data, length, _ = parts_of(builder, value)
    return bounded(
        context, builder, kind, builder.gep(data, [count]), builder.sub(length, count)
    )  # fmt: skip


def item_size(dtype: Any) -> int:
    """Return the bytes of an element."""
    return size_of(dtype)


@lower_cast(Bounded, Bounded)
def _as_one_of_several(context, builder, kind, to, value):
    return bounded(context, builder, to, *parts_of(builder, value))


@lower_cast(Bounded, types.CPointer)
def _as_pointer(context, builder, kind, to, value):
    return parts_of(builder, value)[0]


# ---------------------------------------------------------------------- elements


@infer_global(operator.getitem)
class _Get(AbstractTemplate):  # type: ignore[misc]
    def generic(self, given, named):
        if isinstance(given[0], Bounded) and isinstance(given[1], types.Integer):
            return signature(given[0].dtype, given[0], types.intp)
        return None


@infer_global(operator.setitem)
class _Set(AbstractTemplate):  # type: ignore[misc]
    def generic(self, given, named):
        if isinstance(given[0], Bounded) and isinstance(given[1], types.Integer):
            return signature(types.none, given[0], types.intp, types.unliteral(given[2]))
        return None


@lower_builtin(operator.getitem, Bounded, types.Integer)
def _get(context, builder, sig, arguments):
    kind, zero = sig.args[0], arguments[1].type(0)
    place = element_within(context, builder, kind, *arguments, READ)
    plain = signature(kind.dtype, kind.pointer, types.intp)
    return context.get_function(operator.getitem, plain)(builder, (place, zero))


@lower_builtin(operator.setitem, Bounded, types.Integer, types.Any)
def _set(context, builder, sig, arguments):
    kind, zero = sig.args[0], arguments[1].type(0)
    place = element_within(context, builder, kind, *arguments[:2], WRITTEN)
    value = fitted(context, builder, kind, arguments[2], sig.args[2])
    plain = signature(types.none, kind.pointer, types.intp, kind.dtype)
    return context.get_function(operator.setitem, plain)(builder, (place, zero, value))


# ---------------------------------------------------------------------- addresses


@infer_global(operator.add)
@infer_global(operator.iadd)
class _Add(AbstractTemplate):  # type: ignore[misc]
    def generic(self, given, named):
        if isinstance(given[0], Address) and isinstance(given[1], types.Integer):
            return signature(given[0], given[0], types.intp)
        return None


@infer_global(operator.ne)
class _Differs(AbstractTemplate):  # type: ignore[misc]
    def generic(self, given, named):
        if isinstance(given[0], Address) and isinstance(given[1], types.Integer):
            return signature(types.boolean, given[0], types.intp)
        return None


@lower_builtin(operator.add, Address, types.Integer)
@lower_builtin(operator.iadd, Address, types.Integer)
def _add(context, builder, sig, arguments):
    further = builder.add(builder.extract_value(arguments[0], 0), arguments[1])
    return builder.insert_value(arguments[0], further, 0)


@lower_builtin(operator.ne, Address, types.Integer)
def _differs(context, builder, sig, arguments):
    return builder.icmp_unsigned("!=", builder.extract_value(arguments[0], 0), arguments[1])

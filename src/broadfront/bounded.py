"""Fields with their lengths, for runs that check every index: ``NUMBA_BOUNDSCHECK=1``.

Functors see fields as pointers, which know no length. With the switch they see a pointer and a
length, and an index outside raises `IndexError`, which names the field. So does a negative index.

Invariant: without the switch nothing here is compiled.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic, models, overload, register_model


class Bounded(types.Type):  # type: ignore[misc]
    """The type of a pointer with a length."""

    def __init__(self, dtype: Any, field: str) -> None:
        self.dtype = dtype
        self.field = field
        super().__init__(f"Bounded({dtype}, {field})")


@register_model(Bounded)
class _Model(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("data", types.CPointer(kind.dtype)), ("length", types.intp)]
        super().__init__(manager, kind, members)


def checking() -> bool:
    """Tell whether indices are to be checked."""
    return bool(config.BOUNDSCHECK)


def bounded(context: Any, builder: Any, kind: Any, data: Any, length: Any) -> Any:
    """Return the value of a bounded pointer."""
    proxy = cgutils.create_struct_proxy(kind)(context, builder)
    proxy.data, proxy.length = data, length
    return proxy._getvalue()


def data_of(builder: Any, value: Any) -> Any:
    """Return the pointer in the value of a bounded one."""
    return builder.extract_value(value, 0)


def element_within(context: Any, builder: Any, kind: Any, value: Any, offset: Any) -> Any:
    """Return the address of an element; raise `IndexError` where there is none."""
    text = f"an index is outside state.{kind.field}"
    length = builder.extract_value(value, 1)
    with builder.if_then(builder.icmp_unsigned(">=", offset, length), likely=False):
        context.call_conv.return_user_exc(builder, IndexError, (text,))
    return builder.gep(data_of(builder, value), [offset])


@intrinsic
def _length(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_value(arguments[0], 1)

    return types.intp(array), generate


@intrinsic
def _pointer(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return data_of(builder, arguments[0])

    return types.CPointer(array.dtype)(array), generate


@overload(operator.getitem)
def _get(array, index):
    if not isinstance(array, Bounded) or not isinstance(index, types.Integer):
        return None
    text = f"outside state.{array.field}: index, length"

    def get(array, index):
        if index < 0 or index >= _length(array):
            raise IndexError(text, index, _length(array))
        return _pointer(array)[index]

    return get


@overload(operator.setitem)
def _set(array, index, value):
    if not isinstance(array, Bounded) or not isinstance(index, types.Integer):
        return None
    text = f"outside state.{array.field}: index, length"

    def set_(array, index, value):
        if index < 0 or index >= _length(array):
            raise IndexError(text, index, _length(array))
        _pointer(array)[index] = value

    return set_

"""Machine instructions that Python has no word for, for use inside kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np import arrayobj

_BIT = ir.IntType(1)
_WORD = ir.IntType(64)
_DOUBLE_WORD = ir.IntType(128)
_OF_A_WORD = types.uint64(types.uint64)


def _generator(emit: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any, Any], Any]:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return emit(builder, arguments)

    return generate


@intrinsic
def leading_zeros(typing_context: Any, value: Any) -> Any:
    """Return how many of the 64 bits of `value`, from the highest, are zero."""
    return _OF_A_WORD, _generator(lambda to, given: to.ctlz(given[0], ir.Constant(_BIT, 0)))


@intrinsic
def trailing_zeros(typing_context: Any, value: Any) -> Any:
    """Return how many of the 64 bits of `value`, from the lowest, are zero."""
    return _OF_A_WORD, _generator(lambda to, given: to.cttz(given[0], ir.Constant(_BIT, 0)))


@intrinsic
def count_ones(typing_context: Any, value: Any) -> Any:
    """Return how many of the 64 bits of `value` are one."""
    return _OF_A_WORD, _generator(lambda to, given: to.ctpop(given[0]))


@intrinsic
def wide_product(typing_context: Any, left: Any, right: Any) -> Any:
    """Return the upper and the lower 64 bits of the product of two 64-bit numbers."""

    def emit(to: Any, given: Any) -> Any:
        product = to.mul(*(to.zext(factor, _DOUBLE_WORD) for factor in given))
        upper = to.trunc(to.lshr(product, ir.Constant(_DOUBLE_WORD, 64)), _WORD)
        return cgutils.pack_array(to, [upper, to.trunc(product, _WORD)])

    return types.UniTuple(types.uint64, 2)(types.uint64, types.uint64), _generator(emit)


@intrinsic
def word_at(typing_context: Any, octets: Any, position: Any) -> Any:
    """Return the 8 bytes from `position` on, the first lowest; all must lie in the array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = arrayobj.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        return builder.load(builder.bitcast(place, _WORD.as_pointer()), align=1)

    return types.uint64(octets, types.uint64), generate

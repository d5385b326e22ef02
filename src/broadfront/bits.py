"""Machine instructions that Python has no word for, for use inside kernels."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_WORD = ir.IntType(64)
_DOUBLE_WORD = ir.IntType(128)


@intrinsic
def leading_zeros(typing_context: Any, value: Any) -> Any:
    """Return how many of the 64 bits of `value`, from the highest, are zero."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic
def wide_product(typing_context: Any, left: Any, right: Any) -> Any:
    """Return the upper and the lower 64 bits of the product of two 64-bit numbers."""
    pair = types.UniTuple(types.uint64, 2)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = [builder.zext(argument, _DOUBLE_WORD) for argument in arguments]
        product = builder.mul(*wide)
        upper = builder.trunc(builder.lshr(product, ir.Constant(_DOUBLE_WORD, 64)), _WORD)
        return cgutils.pack_array(builder, [upper, builder.trunc(product, _WORD)])

    return pair(types.uint64, types.uint64), generate

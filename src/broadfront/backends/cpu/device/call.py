"""Calling a compiled function by its address, so that loops need not be compiled for each."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def call(typing_context: Any, address: Any, argument: Any) -> Any:
    """Call the function at an address, of one integer, as C does; return its integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [word]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], kind), [arguments[1]])

    return types.int64(types.int64, types.int64), generate


def address_of(function: Any) -> int:
    """Return the address of a `called_by_address` kernel of one integer, compiled for it."""
    function.compile((types.int64,))
    compiled = function.overloads[(types.int64,)]
    name = compiled.fndesc.llvm_cfunc_wrapper_name
    address = int(compiled.library.get_pointer_to_function(name))
    if address == 0:
        raise LookupError(f"{function.__name__} has no address: is it `called_by_address`?")
    return address

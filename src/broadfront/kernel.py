"""How every kernel is compiled: in one place, so that one place decides.

A kernel is a plain Python function over NumPy arrays, compiled by Numba on first use, without the
interpreter lock, and kept on disk so that the next process only loads it. Kernels are serial:
`broadfront.threads` runs one kernel on many pieces of work at once, and a device's team runs one
loop on all of its threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from broadfront.compiled import kept_on_disk
from broadfront.finished import finished
from broadfront.unfinished import part

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
ONLY_FROM_KERNELS = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""What Python itself never calls needs no door to it, and is finished by whoever calls it."""


def kernel(function: Function) -> Function:
    """Compile `function` on first call, and keep it on disk by what it means."""
    return cast(Function, kept_on_disk(finished(function, **OPTIONS)))


def called_by_address(function: Function) -> Function:
    """Compile `function` as a kernel that has an address, by which compiled code can call it."""
    return cast(Function, kept_on_disk(finished(function, **OPTIONS | {"no_cfunc_wrapper": False})))


def inner(function: Function) -> Function:
    """Compile `function` as a part of the kernels that call it, and not by itself."""
    return cast(Function, part(function, **ONLY_FROM_KERNELS))


def inlined(function: Function) -> Function:
    """Compile `function` into the body of whoever calls it: for the innermost loops."""
    return cast(Function, part(function, **ONLY_FROM_KERNELS, forceinline=True))

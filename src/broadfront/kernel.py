"""How every kernel is compiled: in one place, so that one place decides.

A kernel is a plain Python function over NumPy arrays, compiled by Numba on first use, without the
interpreter lock, and kept on disk so that the next process only loads it. Kernels are serial:
`broadfront.threads` runs one kernel on many pieces of work at once, and a device's team runs one
loop on all of its threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from broadfront.digest import kept_on_disk
from broadfront.unfinished import UnfinishedCompiler

Function = TypeVar("Function", bound=Callable[..., Any])

OPTIONS = {"nogil": True, "error_model": "numpy"}
ONLY_FROM_KERNELS = {
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": UnfinishedCompiler,
}
"""What Python itself never calls needs no door to it, and is finished by whoever calls it."""


def kernel(function: Function) -> Function:
    """Compile `function` on first call, and keep it on disk."""
    compiled: Function = numba.njit(cache=True, **OPTIONS)(function)  # noqa: TID251
    return compiled


def inner(function: Function) -> Function:
    """Compile `function` as a part of the kernels that call it, and not by itself."""
    compiled: Function = numba.njit(**OPTIONS, **ONLY_FROM_KERNELS)(function)  # noqa: TID251
    return compiled


def inlined(function: Function) -> Function:
    """Compile `function` into the body of whoever calls it: for the innermost loops."""
    options = {**OPTIONS, **ONLY_FROM_KERNELS, "forceinline": True}
    compiled: Function = numba.njit(**options)(function)  # noqa: TID251
    return compiled


def loop(function: Function) -> Function:
    """Compile `function`, which closes over others, and keep it on disk by what it means."""
    compiled: Function = kept_on_disk(numba.njit(**OPTIONS)(function))  # noqa: TID251
    return compiled

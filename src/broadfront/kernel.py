"""How every kernel is compiled: one decorator, so that one place decides.

A kernel is a plain Python function over NumPy arrays, compiled by Numba on first use, without the
interpreter lock, and kept on disk so that the next process only loads it. Kernels are serial:
`broadfront.threads` runs one kernel on many pieces of work at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile `function` on first call; it runs without the interpreter lock."""
    compiled: Function = numba.njit(nogil=True, cache=True, error_model="numpy")(function)  # noqa: TID251
    return compiled

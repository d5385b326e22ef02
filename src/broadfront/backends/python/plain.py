"""Functors as Python runs them, with all functions that they call.

A functor may call functions that Numba has compiled, and those of the library that only compiled
code can call. Python gets their bodies, and plain reads and writes for atomics.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from broadfront.backends.python.alone import without_atomics
from broadfront.functors import is_known, rebuilt


def plain(functor: Any, made: dict[Any, Any]) -> Any:
    """Return a function with nothing compiled in it; `made` has those that are plain already."""
    function = getattr(functor, "py_func", functor)
    if not isinstance(function, FunctionType) or is_known(function):
        return without_atomics(functor)
    if function not in made:
        made[function] = function  # should it call itself
        made[function] = rebuilt(function, lambda value: plain(value, made))
    return made[function]

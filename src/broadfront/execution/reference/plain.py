"""Functors as Python runs them, with all functions that they call.

A functor may call functions that Numba has compiled, and those of the library that only compiled
code can call. Python gets their bodies: the functor is made anew, over a copy of its globals and
closure in which every function is a plain one. Its code is the same, so debuggers find their way.
"""

from __future__ import annotations

from types import CellType, CodeType, FunctionType
from typing import Any

from broadfront.digest import BY_NAME


def plain(functor: Any, made: dict[Any, Any]) -> Any:
    """Return a function with nothing compiled in it; `made` has those that are plain already."""
    function = getattr(functor, "py_func", functor)
    home = (getattr(function, "__module__", None) or "").partition(".")[0]
    if not isinstance(function, FunctionType) or home in BY_NAME:
        return functor
    if function not in made:
        scope = dict(function.__globals__)
        cells = tuple(CellType() for _ in function.__closure__ or ())
        made[function] = FunctionType(
            function.__code__, scope, function.__name__, function.__defaults__, cells
        )
        made[function].__kwdefaults__ = function.__kwdefaults__
        for name in _names(function.__code__) & scope.keys():
            scope[name] = plain(scope[name], made)
        for cell, given in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = plain(given.cell_contents, made)
    return made[function]


def _names(code: CodeType) -> set[str]:
    inside = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_names, inside))

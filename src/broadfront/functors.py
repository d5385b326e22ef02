"""Functors of users, and the plain functions that they call.

A functor may call functions as they come: those that Numba knows nothing of are compiled along. For
that the functor is made anew, over a copy of its globals and closure in which they are parts of the
loop. Its code is the same, and so are its name and lines in messages.

Invariant: a functor that calls no such function is compiled as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher, cpu_target

from broadfront.arithmetic import functor_part
from broadfront.errors import FunctorError
from broadfront.versions import has_version

Swap = Callable[[Any], Any]


def check_functor(functor: object, where: str) -> None:
    """Refuse what is no plain function; `where` says what it was given for."""
    function = getattr(functor, "py_func", functor)
    if not isinstance(function, FunctionType):
        raise FunctorError(f"{where} is {functor!r:.60}: {_instead_of(functor)}")
    if function.__code__.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
        raise FunctorError(f"{where} is {function.__name__}, which yields or waits: use return")


def _instead_of(functor: object) -> str:
    """Return what to write in place of something that is no plain function."""
    if isinstance(functor, partial):
        return (
            "write a function in place of a partial, def functor(...): return "
            f"{getattr(functor.func, '__name__', 'function')}(..., number)"
        )
    if isinstance(functor, MethodType):
        return (
            "a functor has no self: write a function, which may use numbers and arrays from around "
            "it, or give them as parameters"
        )
    if callable(functor):
        return "expected a function: write def functor(...) in place of an object that is called"
    return "expected a function"


def compile_functor(functor: Any) -> Any:
    """Return a functor as a part of the loop that calls it, with all that it calls."""
    return _along(getattr(functor, "py_func", functor), {})


def _along(function: FunctionType, made: dict[Any, Any]) -> Any:
    def swap(value: Any) -> Any:
        if type(value) is CPUDispatcher and not is_known(value.py_func):
            value = value.py_func  # compiled by its author: here it is a part, like the others
        if not isinstance(value, FunctionType) or is_known(value) or _has_type(value):
            return value
        if value not in made:
            made[value] = value  # should it call itself
            made[value] = _along(value, made)
        return made[value]

    whole = rebuilt(function, swap)
    return functor_part(whole, any(isinstance(value, np.ndarray) for value in mentioned(function)))


def mentioned(function: FunctionType) -> Iterator[Any]:
    """Return the values of the globals and cells that a function names."""
    scope = function.__globals__
    for name in sorted(_names(function.__code__) & scope.keys()):
        yield scope[name]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # it is empty
            yield cell.cell_contents


def is_known(function: Any) -> bool:
    """Tell whether a function belongs to Python, NumPy or Numba."""
    return has_version(getattr(function, "__module__", None))


def _has_type(function: FunctionType) -> bool:
    """Tell whether Numba knows what to do with a function, as it does with overloaded ones."""
    try:
        cpu_target.typing_context.resolve_value_type(function)
    except (NumbaError, ValueError):
        return False
    return True


def rebuilt(function: FunctionType, swap: Swap) -> FunctionType:
    """Return a function with other values for the globals and cells that it names.

    Where none of them changes, it is the same function.
    """
    scope, cells = function.__globals__, function.__closure__ or ()
    swapped = {name: swap(scope[name]) for name in sorted(_names(function.__code__) & scope.keys())}
    inside = [_swapped_cell(cell, swap) for cell in cells]
    if all(swapped[name] is scope[name] for name in swapped) and all(
        new is old for new, old in zip(inside, cells, strict=True)
    ):
        return function
    made = FunctionType(
        function.__code__, {**scope, **swapped}, function.__name__, function.__defaults__,
        tuple(inside),
    )  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    return made


def _swapped_cell(cell: CellType, swap: Swap) -> CellType:
    try:
        value = swap(cell.cell_contents)
    except ValueError:  # it is empty
        return cell
    return cell if value is cell.cell_contents else CellType(value)


def _names(code: CodeType) -> set[str]:
    inside = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_names, inside))

"""What functors name: so what of the state a program reads, and what need not be there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from broadfront.digest import names_of
from broadfront.errors import FunctorError
from broadfront.operators.describe import Advance, Functor
from broadfront.versions import has_version

COUNTERS = ("iteration", "frontier_size")
"""Numbers of the state that change from one iteration to the next, there where a functor asks."""


def mentioned(function: FunctionType) -> Iterator[Any]:
    """Return what a function may call: from its closure, its globals, and modules among these."""
    names, loaded = names_of(function.__code__)
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # of an empty one, which the compiler will tell
            yield cell.cell_contents
    for found in (function.__globals__.get(name) for name in sorted(loaded)):
        yield found
        if isinstance(found, ModuleType):
            yield from (vars(found).get(name) for name in sorted(names))


def is_well_known(function: FunctionType) -> bool:
    """Tell whether a function is of a package that knows nothing of programs."""
    return has_version(function.__module__)


def names_in(functor: Functor) -> set[str]:
    """Return the names that a function uses, and those that the functions it calls use."""
    return _names(functor, set())


def _names(functor: Any, seen: set[Any]) -> set[str]:
    function = getattr(functor, "py_func", functor)
    if not isinstance(function, FunctionType) or function in seen or is_well_known(function):
        return set()
    seen.add(function)
    names = set(_names_in(function.__code__))
    return names.union(*(_names(other, seen) for other in mentioned(function)))


@lru_cache(maxsize=1 << 12)
def _names_in(code: CodeType) -> frozenset[str]:
    """Return the names in a code, those given to `getattr` as a text included."""
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    texts = {constant for constant in code.co_consts if isinstance(constant, str)}
    return frozenset(texts.union(code.co_names, *map(_names_in, inner)))


def check_counting(operator: Advance) -> None:
    """Refuse counters where vertices are served by priority, or asked once for all iterations."""
    for functor in filter(callable, vars(operator).values()):
        for name in sorted(names_in(functor).intersection(COUNTERS)):
            code = getattr(functor, "py_func", functor).__code__
            reads = (
                f"{code.co_filename}, line {code.co_firstlineno}: functor {code.co_name} reads "
                f"state.{name}"
            )
            if operator.priority is not None:
                raise FunctorError(
                    f"{reads}, which has no meaning while vertices are served by priority: "
                    "leave priority out, or count in a field"
                )
            if operator.may_pull and functor is operator.cond:
                raise FunctorError(
                    f"{reads}, and a vertex that wants no proposals is not asked again where they "
                    "are pulled: give the Advance direction='push'"
                )

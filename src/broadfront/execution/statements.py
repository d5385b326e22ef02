"""The statements of a functor, as Numba's front end sees them.

What follows meanings through a functor (`broadfront.execution.access`) reads them with these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba.core import ir
from numba.core.compiler import run_frontend
from numba.core.dispatcher import Dispatcher
from numba.core.ssa import reconstruct_ssa

from broadfront.execution.faults import COMPILE_ERRORS, does_not_compile
from broadfront.execution.meanings import OTHER, Meanings


def blocks_of(function: Any) -> Iterable[Any]:
    """Return the blocks of a function as Numba's front end sees them, variables assigned once."""
    try:
        return reconstruct_ssa(run_frontend(function)).blocks.values()  # type: ignore[no-any-return]
    except COMPILE_ERRORS as error:
        raise does_not_compile(function, error) from error


class Held:
    """A value found in the globals of a function, compared by identity, and its name there."""

    def __init__(self, value: Any, name: str) -> None:
        self.value, self.name = value, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Held) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def names_read(statement: Any) -> set[str]:
    """Return the variables whose values a statement uses."""
    if isinstance(statement, ir.Del):
        return set()
    used = statement.value if isinstance(statement, ir.Assign) else statement
    if isinstance(used, ir.Var):
        return {used.name}
    return {variable.name for variable in used.list_vars()} if hasattr(used, "list_vars") else set()


def constants_in(statements: Iterable[Any]) -> dict[str, float]:
    """Return the variables that hold the same number whenever they are assigned, and the number."""
    assigned = [line for line in statements if isinstance(line, ir.Assign)]
    varying = {
        line.target.name for line in assigned
        if not isinstance(line.value, (ir.Const, ir.Global, ir.FreeVar, ir.Var))
        and getattr(line.value, "op", "") != "cast"
    }  # fmt: skip
    sources: dict[str, set[Any]] = {}
    for line in assigned:
        value = line.value.value if getattr(line.value, "op", "") == "cast" else line.value
        known = value.name if isinstance(value, ir.Var) else repr(value)
        sources.setdefault(line.target.name, set()).add(known)
    varying |= {name for name, values in sources.items() if len(values) > 1}
    while more := {name for name, values in sources.items() if values & varying} - varying:
        varying |= more
    held = {line.target.name: line.value for line in assigned if line.target.name not in varying}
    return {name: number for name in held if (number := _number_in(name, held)) is not None}


def _number_in(name: str, held: dict[str, Any]) -> float | None:
    """Return the number that a variable holds, if it is one."""
    value: Any = held.get(name)
    value = value.value if getattr(value, "op", "") == "cast" else value
    if isinstance(value, ir.Var):
        return _number_in(value.name, held)
    number = getattr(value, "value", None)
    return float(number) if isinstance(number, (int, float, np.integer, np.floating)) else None


def in_order(
    function: Any, given: tuple[Meanings, ...], named: dict[str, Meanings]
) -> tuple[Meanings, ...]:
    """Return the arguments of a call in the order of the function's own."""
    plain = function.py_func if isinstance(function, Dispatcher) else function
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    rest = [named.get(name, OTHER) for name in names[len(given) :]]
    return (*given, *rest)


def index_of(statement: Any) -> Any:
    """Return the variable that is the index of a statement or an expression."""
    if isinstance(statement, ir.StaticSetItem) or getattr(statement, "op", "") == "static_getitem":
        return statement.index_var
    return statement.index

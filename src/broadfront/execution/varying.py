"""Which stores of a functor differ from call to call, where it is called for each edge of a vertex.

What such a functor stores at its own vertex is stored by the calls for all edges of that vertex, in
no order. That is right where all of them store the same: a number made of the vertex' own values.

Method: a variable varies if it is made of an argument that does, of an element that the functor
stores itself, or if a branch decides what it is and the condition varies. Helpers are followed.

Invariant: when in doubt, a store varies.
"""

from __future__ import annotations

from collections.abc import Collection
from types import FunctionType
from typing import Any

from numba.core import ir
from numba.core.dispatcher import Dispatcher

from broadfront.execution.statements import blocks_of
from broadfront.functors import is_known
from broadfront.operators.describe import Functor
from broadfront.operators.roles import OWN, STATE, Roles


def varying_stores(functor: Functor, roles: Roles, stored: Collection[str]) -> set[str]:
    """Return file and line of the stores whose values differ from edge to edge.

    `stored` are the names of the fields that the functor sets.
    """
    reader = _Reader(frozenset(stored))
    reader.follow(functor, tuple(role not in (OWN, STATE) for role in roles), False)
    return reader.places


class _Reader:
    """Follows functions, and notes the stores of values that vary."""

    def __init__(self, stored: frozenset[str]) -> None:
        self.places: set[str] = set()
        self._stored = stored
        self._known: dict[Any, bool] = {}

    def follow(self, function: Any, arguments: tuple[bool, ...], decided: bool) -> bool:
        """Return whether what a call returns varies; a branch that does has `decided` on it."""
        plain = function.py_func if isinstance(function, Dispatcher) else function
        key = (plain, arguments, decided)
        if key in self._known:
            return self._known[key]
        self._known[key] = True  # should it call itself
        statements = [line for block in blocks_of(plain) for line in block.body]
        varying: set[str] = set()
        before = -1
        while len(varying) != before:
            before = len(varying)
            for line in statements:
                if isinstance(line, ir.Assign) and self._varies(
                    line.value, varying, statements, arguments
                ):
                    varying.add(line.target.name)
        branches = decided or _decides(statements, varying)
        for line in statements:
            if isinstance(line, (ir.SetItem, ir.StaticSetItem)) and line.value.name in varying:
                self.places.add(f"{plain.__code__.co_filename}, line {line.loc.line}")
        returned = [line.value.name for line in statements if isinstance(line, ir.Return)]
        several = len(returned) > 1 and branches
        self._known[key] = several or not varying.isdisjoint(returned)
        return self._known[key]

    def _varies(
        self, value: Any, varying: set[str], statements: list[Any], arguments: tuple[bool, ...]
    ) -> bool:
        if isinstance(value, ir.Arg):
            return bool(value.index >= len(arguments) or arguments[value.index])
        if isinstance(value, ir.Expr):
            if value.op == "phi" and _decides(statements, varying):
                return True
            if value.op == "getattr" and value.attr in self._stored:
                return True
            if value.op == "call":
                return self._call_varies(value, varying, statements)
            return any(variable.name in varying for variable in value.list_vars())
        return isinstance(value, ir.Var) and value.name in varying

    def _call_varies(self, call: Any, varying: set[str], statements: list[Any]) -> bool:
        given = tuple(argument.name in varying for argument in call.args)
        named = [argument.name in varying for _, argument in call.kws]
        called = _value_of(call.func.name, statements)
        if isinstance(called, (FunctionType, Dispatcher)) and not named and call.vararg is None:
            home = getattr(called, "py_func", called)
            if not is_known(home):
                return self.follow(called, given, _decides(statements, varying))
        return any(given) or any(named) or call.vararg is not None


def _decides(statements: list[Any], varying: set[str]) -> bool:
    """Tell whether a branch goes by something that varies."""
    return any(isinstance(line, ir.Branch) and line.cond.name in varying for line in statements)


def _value_of(name: str, statements: list[Any]) -> Any:
    """Return the global that a variable stands for, or None."""
    for line in statements:
        if isinstance(line, ir.Assign) and line.target.name == name:
            value = line.value
            if isinstance(value, (ir.Global, ir.FreeVar)):
                return value.value
            if isinstance(value, ir.Var):
                return _value_of(value.name, statements)
            if getattr(value, "op", "") == "getattr":
                return getattr(_value_of(value.value.name, statements), value.attr, None)
    return None

"""What a functor touches: which fields it reads and writes, and at whose place.

On many devices a field of another device's vertex is a copy, and somebody must keep it right. Who,
and when, follows from what functors touch: their own vertex, a neighbour, or anything else. That is
read off the functor itself, as Numba's front end sees it, helpers included; nothing is declared
twice.

Method: every variable stands for a set of meanings (a vertex, the state, the array of a field, a
function), and meanings flow along assignments until nothing changes. Branches are not told apart.

Invariant: when in doubt, an access counts as ``"elsewhere"``, which costs bytes or is refused, but
is never wrong. So whatever is computed, or read from a field, means elsewhere if it is an index.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba.core import ir
from numba.core.compiler import run_frontend
from numba.core.dispatcher import Dispatcher

from broadfront import atomics
from broadfront.draws import random
from broadfront.errors import OptionError
from broadfront.execution.faults import COMPILE_ERRORS, does_not_compile
from broadfront.execution.roles import DERIVED, EDGE, ELSEWHERE, LOCAL, NEAR, NUMBER, OWN, STATE
from broadfront.operators.describe import Functor

Meaning = tuple[str, Any]
Meanings = frozenset[Meaning]
NOTHING: Meanings = frozenset()
"""What a variable means before anything is known of it."""
OTHER: Meanings = frozenset({("at", ELSEWHERE)})
ONE: Meanings = frozenset({("one", None)})
VERTICES: Meanings = frozenset({("at", OWN), ("at", NEAR)})
ELEMENTS = {"targets": NEAR, "in_targets": NEAR, "offsets": EDGE, "in_offsets": EDGE}
"""What the rows of the graph hold."""
ATOMICS = (
    atomics.add, atomics.minimum, atomics.maximum, atomics.bitwise_or, atomics.exchange,
    atomics.compare_and_swap, atomics.load, atomics.store, atomics.arrive,
)  # fmt: skip
DRAWN = ".random"
"""Stands, among arrays that a functor closes over, for `broadfront.random`."""
CASTS = (int, np.int32, np.int64, np.uint32, np.uint64, np.intp)


@dataclass(frozen=True)
class Access:
    """Pairs of a field's name and whose place in it is meant.

    Attributes
    ----------
    local
        Pairs of a field, or of an array that the functor closes over (its name then begins with a
        dot), and the kind of number that is its index, where that differs from device to device.
    keeps
        Fields in which the functor stores the number of a vertex.
    tells
        Whether it may return one.
    """

    reads: frozenset[tuple[str, str]]
    writes: frozenset[tuple[str, str]]
    local: frozenset[tuple[str, str]] = frozenset()
    keeps: frozenset[str] = frozenset()
    tells: bool = False

    def __or__(self, other: Access) -> Access:
        return Access(
            self.reads | other.reads, self.writes | other.writes, self.local | other.local,
            self.keeps | other.keeps, self.tells or other.tells,
        )  # fmt: skip


UNTOUCHED = Access(frozenset(), frozenset())


def touched(functors: Iterable[tuple[Functor | None, Sequence[str | None]]]) -> Access:
    """Return what functors touch together, each given with the roles of its arguments."""
    together = UNTOUCHED
    for functor, roles in functors:
        if functor is not None:
            together |= access(functor, tuple(roles))
    return together


@lru_cache(maxsize=4096)
def access(functor: Functor, roles: tuple[str | None, ...]) -> Access:
    """Return what a functor touches whose arguments have `roles`."""
    reader = _Reader()
    returned = reader.note(functor, tuple(map(_meaning_of, roles)))
    return Access(
        frozenset(reader.reads), frozenset(reader.writes), frozenset(reader.local),
        frozenset(reader.keeps), not returned.isdisjoint(VERTICES),
    )  # fmt: skip


def _meaning_of(role: str | None) -> Meanings:
    if role is NUMBER:
        return OTHER
    return frozenset({(STATE, None) if role == STATE else ("at", role)})


class _Reader:
    """Follows functions, and notes what they touch."""

    def __init__(self) -> None:
        self.reads: set[tuple[str, str]] = set()
        self.writes: set[tuple[str, str]] = set()
        self.local: set[tuple[str, str]] = set()
        self.keeps: set[str] = set()
        self._returns: dict[Any, Meanings] = {}
        self._notes = False
        self._unheard: list[Any] = []

    def note(self, functor: Functor, arguments: tuple[Meanings, ...]) -> Meanings:
        """Note what a functor touches; return what it may return."""
        self._notes = True
        return self.follow(functor, arguments)

    def follow(self, function: Callable[..., Any], arguments: tuple[Meanings, ...]) -> Meanings:
        """Return what a call may return, and note what it touches if that is on."""
        plain = function.py_func if isinstance(function, Dispatcher) else function
        key = (plain, arguments, self._notes)
        if key in self._returns:
            return self._returns[key]
        self._returns[key] = NOTHING
        statements = [line for block in _blocks(plain) for line in block.body]
        heard = {name for line in statements for name in _names_read(line)}
        self._unheard += [
            line.value for line in statements
            if isinstance(line, ir.Assign) and line.target.name not in heard
        ]  # fmt: skip
        known: dict[str, Meanings] = {}
        noting, self._notes = self._notes, False
        changed = True
        while changed:
            changed = any([self._step(line, known, arguments, key) for line in statements])  # noqa: C419
        self._notes = noting
        if noting:
            for line in statements:
                self._step(line, known, arguments, key)
        return self._returns[key]

    def _step(
        self, statement: Any, known: dict[str, Meanings], arguments: tuple[Meanings, ...], key: Any
    ) -> bool:
        match statement:
            case ir.Assign():
                name = statement.target.name
                meaning = known.get(name, NOTHING) | self._value(statement.value, known, arguments)
                if meaning == known.get(name, NOTHING):
                    return False
                known[name] = meaning
                return True
            case ir.SetItem() | ir.StaticSetItem():
                self._touch(self.writes, statement.target, _index(statement), known)
                if self._notes and not self._meaning(statement.value, known).isdisjoint(VERTICES):
                    into = self._meaning(statement.target, known)
                    self.keeps |= {name for kind, name in into if kind == "array"}
            case ir.Return():
                returned = self._returns[key] | known.get(statement.value.name, NOTHING)
                changed = returned != self._returns[key]
                self._returns[key] = returned
                return changed
        return False

    def _value(
        self, value: Any, known: dict[str, Meanings], arguments: tuple[Meanings, ...]
    ) -> Meanings:
        match value:
            case ir.Arg():
                return arguments[value.index] if value.index < len(arguments) else OTHER
            case ir.Global() | ir.FreeVar():
                return frozenset({("value", _Held(value.value, value.name))})
            case ir.Const(value=1):
                return ONE
            case ir.Var():
                return known.get(value.name, NOTHING)
            case ir.Expr():
                return self._expression(value, known)
        return OTHER

    def _expression(self, value: Any, known: dict[str, Meanings]) -> Meanings:
        match value.op:
            case "cast" | "phi":
                sources = value.incoming_values if value.op == "phi" else [value.value]
                return frozenset().union(*(self._meaning(source, known) for source in sources))
            case "getattr":
                return self._attribute(self._meaning(value.value, known), value.attr)
            case "getitem" | "static_getitem":
                self._touch(self.reads, value.value, _index(value), known)
                return self._element(self._meaning(value.value, known))
            case "build_tuple":
                items = [self._meaning(item, known) for item in value.items]
                return frozenset({("tuple", frozenset().union(*items))})
            case "exhaust_iter" | "getiter" | "iternext":
                return self._meaning(value.value, known)
            case "pair_first":
                return self._element(self._meaning(value.value, known))
            case "binop" | "inplace_binop":
                left, right = self._meaning(value.lhs, known), self._meaning(value.rhs, known)
                if not left or not right:
                    return NOTHING
                own = frozenset({("at", OWN)})
                if value.fn in _ADDITIONS and (left, right) in ((own, ONE), (ONE, own)):
                    return frozenset({("at", "own and one")})
                local = any(kind == "at" and what != ELSEWHERE for kind, what in left | right)
                return frozenset({("at", DERIVED)}) if local else OTHER
            case "call":
                return self._call(value, known)
        return OTHER

    @staticmethod
    def _element(holders: Meanings) -> Meanings:
        """Return what an element of an array or a tuple may be."""
        found: Meanings = NOTHING
        for kind, what in holders:
            if kind == "tuple":
                found |= what
            elif kind == "array" and what in ELEMENTS:
                found |= frozenset({("at", ELEMENTS[what])})
            else:
                found |= OTHER
        return found

    def _attribute(self, owners: Meanings, name: str) -> Meanings:
        found: set[Meaning] = set()
        for kind, what in owners:
            if kind == "state":
                found.add(("array", name))
            elif kind == "value" and hasattr(what.value, name):
                found.add(("value", _Held(getattr(what.value, name), name)))
        return frozenset(found)

    def _call(self, call: Any, known: dict[str, Meanings]) -> Meanings:
        given = tuple(self._meaning(argument, known) for argument in call.args)
        named = {name: self._meaning(argument, known) for name, argument in call.kws}
        called = self._meaning(call.func, known)
        if not called:
            return NOTHING
        returned: Meanings = NOTHING
        for function in [what.value if kind == "value" else None for kind, what in called]:
            if any(function is operation for operation in ATOMICS) and len(call.args) > 1:
                if not any(call is unheard for unheard in self._unheard):
                    self._touch(self.reads, call.args[0], call.args[1], known)
                if function is not atomics.load:
                    self._touch(self.writes, call.args[0], call.args[1], known)
                returned |= OTHER
            elif function is random:
                self._draw((*given, *named.values()))
                returned |= OTHER
            elif isinstance(function, (types.FunctionType, Dispatcher)) and call.vararg is None:
                returned |= self.follow(function, _in_order(function, given, named))
            elif function in CASTS and given:
                returned |= given[0]
            elif function is range:
                returned |= frozenset({("tuple", frozenset().union(*given))})
            else:
                extra = [call.vararg] if call.vararg is not None else []
                rest = (self._meaning(argument, known) for argument in extra)
                self._escape((*given, *named.values(), *rest), function)
                returned |= OTHER
        return returned

    def _draw(self, given: tuple[Meanings, ...]) -> None:
        """Note numbers that differ from device to device, and a random number with them."""
        for kind, what in frozenset().union(*given) if self._notes else ():
            if kind == "at" and what != ELSEWHERE:
                self.local.add((DRAWN, what if what in LOCAL else DERIVED))

    def _escape(self, given: tuple[Meanings, ...], function: Any) -> None:
        """Count arrays that are given to a function unknown as touched anywhere."""
        for kind, what in frozenset().union(*given) if self._notes else ():
            if kind == "tuple":
                self._escape((what,), function)
            elif kind == STATE:
                name = getattr(function, "__name__", function)
                raise OptionError(
                    f"a functor gives its state to {name}, of which nothing is known: on several "
                    "devices give it to functions under broadfront.kernel.inner alone"
                )
            elif kind == "array":
                self.reads.add((what, ELSEWHERE))
                self.writes.add((what, ELSEWHERE))

    def _touch(
        self, where: set[tuple[str, str]], array: Any, index: Any, known: dict[str, Meanings]
    ) -> None:
        if not self._notes:
            return
        meant = self._meaning(index, known)
        places = {what if kind == "at" else ELSEWHERE for kind, what in meant}
        local = {place if place in LOCAL else DERIVED for place in places - {ELSEWHERE}}
        for kind, name in self._meaning(array, known):
            if kind == "value" and isinstance(name.value, np.ndarray):
                self.local |= {(f".{name.name}", place) for place in local}
            if kind != "array":
                continue
            self.local |= {(name, place) for place in local}
            if name in ("offsets", "in_offsets") and places == {"own and one"}:
                places = {OWN}
            where |= {(name, place if place in (OWN, NEAR) else ELSEWHERE)
                      for place in places or {ELSEWHERE}}  # fmt: skip

    @staticmethod
    def _meaning(variable: Any, known: dict[str, Meanings]) -> Meanings:
        return known.get(variable.name, NOTHING) if isinstance(variable, ir.Var) else NOTHING


def _blocks(function: Any) -> Iterable[Any]:
    """Return the blocks of a function as Numba's front end sees them."""
    try:
        return run_frontend(function).blocks.values()  # type: ignore[no-any-return]
    except COMPILE_ERRORS as error:
        raise does_not_compile(function, error) from error


class _Held:
    """A value found in the globals of a function, compared by identity, and its name there."""

    def __init__(self, value: Any, name: str) -> None:
        self.value, self.name = value, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _names_read(statement: Any) -> set[str]:
    """Return the variables whose values a statement uses."""
    if isinstance(statement, ir.Del):
        return set()
    used = statement.value if isinstance(statement, ir.Assign) else statement
    if isinstance(used, ir.Var):
        return {used.name}
    return {variable.name for variable in used.list_vars()} if hasattr(used, "list_vars") else set()


def _in_order(
    function: Any, given: tuple[Meanings, ...], named: dict[str, Meanings]
) -> tuple[Meanings, ...]:
    """Return the arguments of a call in the order of the function's own."""
    plain = function.py_func if isinstance(function, Dispatcher) else function
    names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
    rest = [named.get(name, OTHER) for name in names[len(given) :]]
    return (*given, *rest)


def _index(statement: Any) -> Any:
    if isinstance(statement, ir.StaticSetItem) or getattr(statement, "op", "") == "static_getitem":
        return statement.index_var
    return statement.index


_ADDITIONS = {ir.BINOPS_TO_OPERATORS["+"], ir.INPLACE_BINOPS_TO_OPERATORS["+="]}

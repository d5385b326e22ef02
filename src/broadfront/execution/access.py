"""What a functor touches: the fields it reads and writes, at whose place, and the numbers it uses.

On many devices a field of another device's vertex is a copy, and somebody must keep it right. Who,
and when, follows from what functors touch: their own vertex, a neighbour, or anything else. The
numbers of vertices and edges differ there, so it matters what becomes of them. All of it is read
off the functor itself, as Numba's front end sees it, helpers included; nothing is declared twice.

Method: every variable stands for a set of meanings (`broadfront.execution.meanings`), which flow
along assignments until nothing changes. Where branches meet, so do the meanings.

Invariant: when in doubt, an access counts as ``"elsewhere"``, and a number as one that differs.
That costs bytes or is refused, but is never wrong.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba.core import ir
from numba.core.dispatcher import Dispatcher

from broadfront import atomics
from broadfront.draws import random
from broadfront.errors import FunctorError, OptionError
from broadfront.execution.meanings import (
    COMPARISONS,
    NOTHING,
    ONE,
    OTHER,
    Meaning,
    Meanings,
    compared_as,
    computed,
    derived_from,
    elements_of,
    flat,
    in_range,
    meaning_of,
    numbers_in,
    whose,
)
from broadfront.execution.outside import refuse_changed, refuse_unsteady
from broadfront.execution.statements import (
    Held,
    blocks_of,
    constants_in,
    in_order,
    index_of,
    names_read,
)
from broadfront.operators.describe import Functor
from broadfront.operators.roles import ELSEWHERE, STATE, Roles

ATOMICS = {
    name: getattr(atomics, name)
    for name in ("add", "minimum", "maximum", "bitwise_or", "exchange", "compare_and_swap", "load",
                 "store", "arrive")
}  # fmt: skip
CASTS = (int, np.int32, np.int64, np.uint32, np.uint64, np.intp)
MOST = 1000
"""Attributes of globals that are followed: more there are only where one leads to another."""
PLAIN, CONSTANT = "plain", "constant"
"""How an element is set, where it is not by an atomic."""
INDEXED, STORED, RETURNED = "indexed", "stored", "returned"
COMPARED, DRAWN = "compared", "drawn"
"""What a functor may do with a number that differs from device to device."""


class Use(NamedTuple):
    """What a functor does with a number that differs from device to device."""

    what: str
    name: str
    """The array that is indexed by it, or that takes it; a dot first if it is none of the state."""
    number: str
    """`OWN`, `NEAR`, an edge, or what is derived from them (`broadfront.execution.meanings`)."""
    place: str
    """File and line."""


class Store(NamedTuple):
    """An element that a functor sets."""

    name: str
    whose: str
    """Whose place it is."""
    how: str
    """`PLAIN`, `CONSTANT` where the same number is stored always, or the name of an atomic."""
    place: str
    """File and line."""
    number: float | None = None
    """The number that is stored always."""


@dataclass(frozen=True)
class Access:
    """Pairs of a field's name and whose place in it is meant, and what becomes of numbers.

    `places` has the file and line of each pair; `indexed` has the pairs with the index, if that is
    always the same number; `walks` is that of a loop over the edges of a vertex, if there is one.
    """

    reads: frozenset[tuple[str, str]]
    writes: frozenset[tuple[str, str]]
    uses: frozenset[Use] = frozenset()
    stores: frozenset[Store] = frozenset()
    walks: str = ""
    indexed: frozenset[tuple[str, str, float | None]] = frozenset()
    places: dict[tuple[str, str], str] = field(default_factory=dict, compare=False)

    def __or__(self, other: Access) -> Access:
        return Access(
            self.reads | other.reads, self.writes | other.writes, self.uses | other.uses,
            self.stores | other.stores, self.walks or other.walks, self.indexed | other.indexed,
            self.places | other.places,
        )  # fmt: skip


def touched(functors: Iterable[tuple[Functor | None, Sequence[str | None]]]) -> Access:
    """Return what functors touch together, each given with the roles of its arguments."""
    together = Access(frozenset(), frozenset())
    for functor, roles in functors:
        if functor is not None:
            together |= access(functor, tuple(roles))
    return together


@lru_cache(maxsize=4096)
def access(functor: Functor, roles: Roles) -> Access:
    """Return what a functor touches whose arguments have `roles`."""
    reader = _Reader()
    reader.note(functor, tuple(map(meaning_of, roles)))
    return Access(
        frozenset(reader.reads), frozenset(reader.writes), frozenset(reader.uses),
        frozenset(reader.stores), reader.walks, frozenset(reader.indexed), reader.places,
    )  # fmt: skip


class _Reader:
    """Follows functions, and notes what they touch."""

    def __init__(self) -> None:
        self.reads: set[tuple[str, str]] = set()
        self.writes: set[tuple[str, str]] = set()
        self.uses: set[Use] = set()
        self.stores: set[Store] = set()
        self.walks = ""
        self.indexed: set[tuple[str, str, float | None]] = set()
        self.places: dict[tuple[str, str], str] = {}
        self._returns: dict[Any, Meanings] = {}
        self._notes = False
        self._place = ""
        self._unheard: list[Any] = []
        self._constants: dict[str, float] = {}
        self._attributes: dict[tuple[Held, str], Held] = {}

    def note(self, functor: Functor, arguments: tuple[Meanings, ...]) -> None:
        """Note what a functor touches, and what it returns."""
        self._notes = True
        returned = self.follow(functor, arguments)
        self._use(RETURNED, "", numbers_in(returned))

    def follow(self, function: Callable[..., Any], arguments: tuple[Meanings, ...]) -> Meanings:
        """Return what a call may return, and note what it touches if that is on."""
        plain = function.py_func if isinstance(function, Dispatcher) else function
        key = (plain, arguments, self._notes)
        if key in self._returns:
            return self._returns[key]
        self._returns[key] = NOTHING
        statements = [line for block in blocks_of(plain) for line in block.body]
        heard = {name for line in statements for name in names_read(line)}
        self._unheard += [
            line.value for line in statements
            if isinstance(line, ir.Assign) and line.target.name not in heard
        ]  # fmt: skip
        outside, self._constants = self._constants, constants_in(statements)
        known: dict[str, Meanings] = {}
        noting, self._notes = self._notes, False
        changed = True
        while changed:
            changed = any([self._step(line, known, arguments, key) for line in statements])  # noqa: C419
        self._notes = noting
        if noting:
            for line in statements:
                self._step(line, known, arguments, key)
        self._constants = outside
        return self._returns[key]

    def _step(
        self, statement: Any, known: dict[str, Meanings], arguments: tuple[Meanings, ...], key: Any
    ) -> bool:
        self._place = f"{key[0].__code__.co_filename}, line {statement.loc.line}"
        match statement:
            case ir.Assign():
                name = statement.target.name
                meaning = known.get(name, NOTHING) | self._value(statement.value, known, arguments)
                if meaning == known.get(name, NOTHING):
                    return False
                known[name] = meaning
                return True
            case ir.SetItem() | ir.StaticSetItem():
                number = self._constants.get(statement.value.name)
                how = PLAIN if number is None else CONSTANT
                self._touch(self.writes, statement.target, index_of(statement), known, how, number)
                self._store(statement.target, self._meaning(statement.value, known), known)
            case ir.SetAttr():
                meant = self._meaning(statement.target, known)
                if self._notes and any(kind == STATE for kind, _ in meant):
                    raise FunctorError(
                        f"{self._place}: state.{statement.attr} cannot be set as a whole: set "
                        "single elements of it"
                    )
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
                return frozenset({("value", Held(value.value, value.name))})
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
                self._touch(self.reads, value.value, index_of(value), known)
                return elements_of(self._meaning(value.value, known))
            case "build_tuple":
                items = [self._meaning(item, known) for item in value.items]
                return frozenset({("tuple", frozenset().union(*items))})
            case "exhaust_iter" | "getiter" | "iternext":
                return self._meaning(value.value, known)
            case "pair_first":
                return elements_of(self._meaning(value.value, known))
            case "pair_second":
                return OTHER
            case "binop" | "inplace_binop":
                return self._binary(value, known)
            case "call":
                return self._call(value, known)
            case "make_function":
                raise OptionError(
                    f"{self._place or 'a functor'}: a function or a comprehension inside a functor "
                    "is not followed: write it outside, or as a loop"
                )
        return derived_from(*(self._meaning(variable, known) for variable in value.list_vars()))

    def _binary(self, value: Any, known: dict[str, Meanings]) -> Meanings:
        left, right = self._meaning(value.lhs, known), self._meaning(value.rhs, known)
        if not left or not right:
            return NOTHING
        if value.fn in COMPARISONS:
            self._use(COMPARED, "", compared_as(value.fn, left, right))
            return OTHER
        return computed(value.fn, left, right)

    def _attribute(self, owners: Meanings, name: str) -> Meanings:
        found: set[Meaning] = set()
        for kind, what in owners:
            if kind == "state":
                found.add(("array", name))
            elif kind == "value" and len(self._attributes) < MOST and hasattr(what.value, name):
                found.add(("value", self._attribute_of(what, name)))
            else:
                found |= derived_from(frozenset({(kind, what)}))
        return frozenset(found)

    def _attribute_of(self, owner: Held, name: str) -> Held:
        """Return an attribute of a global: the same each time, as methods never are."""
        if (owner, name) not in self._attributes:
            self._attributes[owner, name] = Held(getattr(owner.value, name), name)
        return self._attributes[owner, name]

    def _call(self, call: Any, known: dict[str, Meanings]) -> Meanings:
        given = tuple(self._meaning(argument, known) for argument in call.args)
        named = {name: self._meaning(argument, known) for name, argument in call.kws}
        called = self._meaning(call.func, known)
        if not called:
            return NOTHING
        returned: Meanings = NOTHING
        for function in [what.value if kind == "value" else None for kind, what in called]:
            refuse_unsteady(function, self._place)
            if any(function is operation for operation in ATOMICS.values()) and len(call.args) > 1:
                returned |= self._atomic(function, call, known)
            elif function is random:
                self._use(DRAWN, "", numbers_in(frozenset().union(*given, *named.values())))
                returned |= OTHER
            elif isinstance(function, (types.FunctionType, Dispatcher)) and call.vararg is None:
                place = self._place
                returned |= self.follow(function, in_order(function, given, named))
                self._place = place
            elif function is len and any(kind == "array" for kind, _ in frozenset().union(*given)):
                returned |= OTHER  # which does not compile
            elif function in CASTS and given:
                returned |= given[0]
            elif function is range and not named and call.vararg is None:
                held, lengths = in_range(given)
                self._use(COMPARED, "", lengths)
                if any(kind == "edge" for kind, _ in held):
                    self.walks = self.walks or self._place
                returned |= frozenset({("tuple", held)})
            else:
                everything = (*given, *named.values(), self._meaning(call.vararg, known))
                self._escape(everything, function)
                returned |= derived_from(*everything)
        return returned

    def _atomic(self, function: Any, call: Any, known: dict[str, Meanings]) -> Meanings:
        array, index, *values = call.args
        if not any(call is unheard for unheard in self._unheard):
            self._touch(self.reads, array, index, known)
        if function is not atomics.load:
            how = next(name for name, atomic in ATOMICS.items() if atomic is function)
            self._touch(self.writes, array, index, known, how)
        for value in values:
            self._store(array, self._meaning(value, known), known)
        return OTHER

    def _escape(self, given: tuple[Meanings, ...], function: Any) -> None:
        """Count what is given to a function unknown as touched anywhere, numbers as compared."""
        if not self._notes:
            return
        together = frozenset().union(*given)
        self._use(COMPARED, "", numbers_in(together))
        for kind, what in flat(together):
            if kind == STATE:
                name = getattr(function, "__name__", function)
                raise OptionError(
                    f"{self._place}: a functor gives its state to {name}, of which nothing is "
                    "known: on several devices give it to plain functions alone"
                )
            if kind == "array":
                self.indexed.add((what, ELSEWHERE, None))
                self.reads.add((what, ELSEWHERE))
                self.writes.add((what, ELSEWHERE))

    def _use(self, what: str, name: str, numbers: Iterable[str]) -> None:
        if self._notes:
            self.uses |= {Use(what, name, number, self._place) for number in numbers}

    def _store(self, array: Any, value: Meanings, known: dict[str, Meanings]) -> None:
        for kind, name in self._meaning(array, known):
            self._use(STORED, name if kind == "array" else ".", numbers_in(value))

    def _touch(
        self,
        where: set[tuple[str, str]],
        array: Any,
        index: Any,
        known: dict[str, Meanings],
        how: str = "",
        number: float | None = None,
    ) -> None:
        if not self._notes:
            return
        meant = self._meaning(index, known)
        for kind, name in self._meaning(array, known):
            if kind != "array":
                called = name.name if kind == "value" else ""
                self._use(INDEXED, f".{called}", numbers_in(meant))
                if called and where is self.writes:
                    refuse_changed(called, self._place)
                continue
            self._use(INDEXED, name, numbers_in(meant))
            always = self._constants.get(getattr(index, "name", ""))
            for pair in {(name, whose(one, name)) for one in meant or OTHER}:
                where.add(pair)
                self.indexed.add((*pair, always))
                if how:
                    self.stores.add(Store(*pair, how, self._place, number))
                self.places.setdefault(pair, self._place)

    @staticmethod
    def _meaning(variable: Any, known: dict[str, Meanings]) -> Meanings:
        return known.get(variable.name, NOTHING) if isinstance(variable, ir.Var) else NOTHING

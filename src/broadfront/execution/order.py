"""Whether the order in which the proposals of an `Advance` arrive can be told from its answer.

An operator sees what was there before it, and nothing of what it does itself. To take proposals as
they come is quicker, and the same where the order does not matter. Three kinds of functors let that
be proven:

``STATIC``
    The functor and `cond` read nothing that the `Advance` writes. Each iteration is the same.
``LEVEL``
    `cond` is true where the field has its fill, and the proposal is computed from the source's
    value of the field and from what all vertices share. If the values of a frontier are all the
    same, so are all proposals, a vertex takes one at most, and nobody in the frontier takes any:
    each iteration is the same, and leaves such a frontier.
``MONOTONE``
    A better value of the source never makes the proposal worse, and taking a proposal twice
    changes nothing. Then iterations differ, and the fixed point does not (chaotic iteration).

Method: an abstract interpretation of the functor as Numba's front end sees it. For every variable
it knows on what it depends; these sets grow along assignments until nothing changes. What decides a
branch counts as part of all that the function returns.

Invariant: what is not understood is not proven. It then costs time, and the answer is right.

References
----------
Chazan, Miranker: Chaotic relaxation (Linear Algebra and its Applications 1969); for monotone
functions Cousot: Asynchronous iterative methods for solving a fixed point system (1977).
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Collection, Mapping
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba.core import ir
from numba.core.compiler import run_frontend
from numba.core.dispatcher import Dispatcher

from broadfront import atomics
from broadfront.execution.access import ATOMICS
from broadfront.execution.faults import COMPILE_ERRORS
from broadfront.execution.names import COUNTERS
from broadfront.functors import is_known
from broadfront.operators.describe import Advance, Field

STATIC, LEVEL, MONOTONE = "static", "level", "monotone"

VALUE, TANGLED, WRITTEN, CLOCK, PLACE = "value", "tangled", "written", "clock", "place"
"""What a number may depend on: the source's value of the field, only growing with it or in any way;
anything else that the `Advance` writes; the iteration; the vertex or edge that it is for."""
ORDERED = ("min", "max", "or")
"""Ways to combine with an order in which values improve that is known here. An idempotent `Monoid`
has one, too, and a value that is handed on as it is grows with itself in any."""
WHOLE = (int, bool, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
         np.uint64, np.intp)  # fmt: skip
CASTS = (*WHOLE, float, np.float32, np.float64)
MIXING = ("unary", "build_tuple", "getiter", "iternext", "pair_first", "pair_second",
          "exhaust_iter")  # fmt: skip
LEAST_OR_MOST = (min, max, np.minimum, np.maximum)

NO_BETTER = "no better than"

Depends = frozenset[str]
NOTHING: Depends = frozenset()


class Known(NamedTuple):
    """What is known of a variable: on what it depends, and what it is, where that matters."""

    depends: Depends
    what: tuple[Any, ...] | None = None


STATE, SOURCE, UNSET = ("state",), ("source",), ("unset",)
LOST = Known(frozenset({WRITTEN}))


class _LostError(Exception):
    """The functor does something that is not understood."""


def order_of(
    operator: Advance, fields: Mapping[str, Field], numbers: Collection[str]
) -> str | None:
    """Return of which kind an `Advance` is, or None; `numbers` are those that a state holds."""
    written = {name for name in (operator.into, operator.record_source) if name is not None}
    while True:
        reader = _Reader(operator, fields, numbers, written)
        try:
            proposal, wants = reader.propose(), reader.asks()
        except (_LostError, *COMPILE_ERRORS):
            return None
        if reader.writes <= written:
            break
        written |= reader.writes
    if not reader.writes.isdisjoint((operator.into, operator.record_source)):
        return None
    if not reader.reads_written:
        return STATIC
    return None if reader.writes else _kind(proposal, wants, fields[operator.into])


def never_improves(
    operator: Advance, fields: Mapping[str, Field], numbers: Collection[str]
) -> bool:
    """Tell whether a proposal is certain to be no better than the value of its source."""
    reader = _Reader(operator, fields, numbers, {operator.into})
    return reader.propose().what in (("value of", operator.into), (NO_BETTER, operator.into))


def _kind(proposal: Known, wants: Known | None, field: Field) -> str | None:
    """Return the kind of functors that read what they propose for, and write nothing."""
    handed_on = proposal.what is not None and proposal.what[0] == "value of"
    if field.combine not in ORDERED and (field.adds_up or field.combine == "any" or not handed_on):
        return None
    if wants is not None and wants.what == UNSET and proposal.depends <= {VALUE, TANGLED, CLOCK}:
        return LEVEL
    asks_alike = wants is None or wants.depends <= {PLACE}
    return MONOTONE if asks_alike and proposal.depends <= {VALUE, PLACE} else None


def _tangled(depends: Depends) -> Depends:
    return (depends - {VALUE}) | {TANGLED} if VALUE in depends else depends


def _join(one: Known | None, other: Known) -> Known:
    if one is None or one == other:
        return other
    if one.what != other.what and (_refers(one) or _refers(other)):
        raise _LostError
    return Known(one.depends | other.depends, one.what if one.what == other.what else None)


def _refers(known: Known) -> bool:
    """Tell whether something is an array, a function or the state, and not a number."""
    kinds = ("state", "array", "object")
    return known.what is not None and known.what[0] in kinds and _number(known) is None


class _Reader:
    """Follows the functors of one `Advance`."""

    def __init__(
        self,
        operator: Advance,
        fields: Mapping[str, Field],
        numbers: Collection[str],
        written: set[str],
    ) -> None:
        self._operator, self._field = operator, fields[operator.into]
        self._shared = {name for name, field in fields.items() if field.length is not None}
        self._numbers, self._written = numbers, written
        self.writes: set[str] = set()
        self.reads_written = False
        self._returns: dict[Any, Known | None] = {}

    def propose(self) -> Known:
        """Return on what a proposal depends."""
        place = Known(frozenset({PLACE}))
        source = Known(frozenset({PLACE}), SOURCE)
        given = (source, place, place, Known(NOTHING, STATE))
        return self._follow(self._operator.functor, given) or LOST

    def asks(self) -> Known | None:
        """Return on what `cond` depends, None without one."""
        if self._operator.cond is None:
            return None
        vertex = Known(frozenset({PLACE}), SOURCE)
        return self._follow(self._operator.cond, (vertex, Known(NOTHING, STATE))) or LOST

    def _follow(self, function: Any, given: tuple[Known, ...]) -> Known | None:
        """Return what a call returns; None while that is being found out."""
        plain = getattr(function, "py_func", function)
        key = (plain, given)
        if key in self._returns:
            return self._returns[key]
        if not isinstance(plain, FunctionType) or plain.__code__.co_argcount != len(given):
            raise _LostError
        self._returns[key] = None
        statements = [line for block in run_frontend(plain).blocks.values() for line in block.body]
        known: dict[str, Known] = {}
        while True:
            before = dict(known), self._returns[key]
            for line in statements:
                self._step(line, known, given, key)
            if before == (known, self._returns[key]):
                break
        control = [known[line.cond.name].depends for line in statements
                   if isinstance(line, ir.Branch) and line.cond.name in known]  # fmt: skip
        returned = self._returns[key]
        if returned is not None and control:
            depends = returned.depends.union(*map(_tangled, control))
            self._returns[key] = Known(depends, returned.what if _refers(returned) else None)
        return self._returns[key]

    def _step(self, line: Any, known: dict[str, Known], given: tuple[Known, ...], key: Any) -> None:
        match line:
            case ir.Assign():
                value = self._value(line.value, known, given)
                if value is not None:
                    known[line.target.name] = _join(known.get(line.target.name), value)
            case ir.Return():
                if line.value.name in known:
                    self._returns[key] = _join(self._returns[key], known[line.value.name])
            case ir.SetItem() | ir.StaticSetItem():
                self._write(known.get(line.target.name))
            case ir.Del() | ir.Jump() | ir.Branch() | ir.Raise() | ir.StaticRaise():
                pass
            case _:
                raise _LostError

    def _write(self, array: Known | None) -> None:
        if array is None:
            return
        if array.what is None or array.what[0] != "array":
            raise _LostError
        self.writes.add(array.what[1])

    def _value(self, value: Any, known: dict[str, Known], given: tuple[Known, ...]) -> Known | None:
        match value:
            case ir.Arg():
                argument: Known = given[value.index]
                return argument
            case ir.Global() | ir.FreeVar() | ir.Const():
                return Known(NOTHING, ("object", _Same(value.value)))
            case ir.Var():
                return known.get(value.name)
            case ir.Expr():
                parts = [known.get(part.name) for part in value.list_vars()]
                if any(part is None for part in parts):
                    return None
                return self._expression(value, known)
        raise _LostError

    def _expression(self, value: Any, known: dict[str, Known]) -> Known | None:
        match value.op:
            case "cast":
                return known[value.value.name]
            case "getattr":
                return self._attribute(known[value.value.name], value.attr)
            case "getitem" | "static_getitem":
                index = value.index_var if value.op == "static_getitem" else value.index
                place = None if index is None else known[index.name]
                return self._element(known[value.value.name], place)
            case "binop" | "inplace_binop":
                return self._combined(value.fn, known[value.lhs.name], known[value.rhs.name])
            case "call" if value.vararg is None:
                arguments = [known[argument.name] for argument in value.args]
                named = [known[argument.name] for _, argument in value.kws]
                return self._call(known[value.func.name], arguments, named)
        if value.op in MIXING:
            return self._mixed([known[part.name] for part in value.list_vars()])
        raise _LostError

    def _attribute(self, owner: Known, name: str) -> Known:
        match owner.what:
            case ("state",) if name in COUNTERS:
                return Known(frozenset({CLOCK}))
            case ("state",) if name in self._numbers:
                return Known(NOTHING)
            case ("state",):
                return Known(NOTHING, ("array", name))
            case ("object", _Same(value=ModuleType() as module)) if hasattr(module, name):
                return Known(NOTHING, ("object", _Same(getattr(module, name))))
        raise _LostError

    def _element(self, array: Known, index: Known | None) -> Known:
        match array.what:
            case ("array", name) if name in self._written:
                self.reads_written = True
                if name == self._operator.into and index is not None and index.what == SOURCE:
                    return Known(frozenset({VALUE}), ("value of", name))
                return LOST
            case ("array", name):
                near = NOTHING if name in self._shared else frozenset({PLACE})
                return Known(near | _tangled(index.depends if index else NOTHING))
            case ("object", _Same(value=np.ndarray())) | None:
                return Known(_tangled(array.depends | (index.depends if index else NOTHING)))
        raise _LostError

    def _combined(self, function: Any, one: Known, other: Known) -> Known:
        if self._is_unset(function, one, other) or self._is_unset(function, other, one):
            return Known(_tangled(one.depends | other.depends), UNSET)
        both = self._mixed([one, other])
        either = Known(one.depends | other.depends)
        if self._field.combine == "or":
            shifts = function in (operators.lshift, operators.rshift) and VALUE not in other.depends
            return either if shifts or function in (operators.or_, operators.and_) else both
        if function in (operators.add, operators.iadd):
            return Known(either.depends, self._worse(one, other) or self._worse(other, one))
        if function in (operators.sub, operators.isub):
            return Known(one.depends | _tangled(other.depends))
        if function in (operators.mul, operators.imul) and (_is_factor(one) or _is_factor(other)):
            return either
        if function in (operators.truediv, operators.floordiv) and _is_factor(other, above=True):
            return either
        return both

    def _worse(self, value: Known, added: Known) -> tuple[Any, ...] | None:
        """Return what a value is with a number added to it: if it is certain, no better."""
        into, number = self._operator.into, _number(added)
        if number is None or value.what not in (("value of", into), (NO_BETTER, into)):
            return None
        worse = {"min": number >= 0, "max": number <= 0}.get(str(self._field.combine), False)
        return (NO_BETTER, into) if worse else None

    def _is_unset(self, function: Any, value: Known, constant: Known) -> bool:
        """Tell whether a comparison asks if the vertex' own value is the fill of the field."""
        if function is not operators.eq or value.what != ("value of", self._operator.into):
            return False
        number = _number(constant)
        fill = np.dtype(self._field.on(np.dtype(np.int64)).dtype).type(self._field.fill)
        return number is not None and bool(fill == number)

    def _mixed(self, parts: list[Known]) -> Known:
        """Return what depends on all parts, in any way."""
        if any(part.what is not None and part.what[0] in ("state", "array") for part in parts):
            raise _LostError
        return Known(_tangled(NOTHING.union(*(part.depends for part in parts))))

    def _call(self, called: Known, given: list[Known], named: list[Known]) -> Known | None:
        if called.what is None or called.what[0] != "object":
            raise _LostError
        function: Callable[..., Any] = called.what[1].value
        if any(function is each for each in ATOMICS.values()) and given and not named:
            if function is not atomics.load:
                self._write(given[0])
            return self._element(given[0], None)
        if isinstance(function, (FunctionType, Dispatcher)) and not is_known(function):
            if named:
                raise _LostError
            return self._follow(function, tuple(given))
        keep = WHOLE if self._field.combine == "or" else (*CASTS, *LEAST_OR_MOST)
        if any(function is each for each in keep) and not named:
            self._mixed(given)
            return Known(NOTHING.union(*(part.depends for part in given)))
        return self._mixed([*given, *named])


def _is_factor(known: Known, above: bool = False) -> bool:
    number = _number(known)
    return number is not None and (number > 0 if above else number >= 0)


def _number(known: Known) -> int | float | None:
    match known.what:
        case ("object", _Same(value=int() | float() | np.number() as number)):
            return number  # type: ignore[return-value]
    return None


class _Same:
    """A constant of a function, compared by identity."""

    __match_args__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

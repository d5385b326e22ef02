"""What operators ask of the fields that they name, and of their functors."""

from __future__ import annotations

import dis
from collections.abc import Mapping
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np

from broadfront.errors import FunctorError, OptionError
from broadfront.given import is_one_of
from broadfront.operators.field import Field
from broadfront.operators.operator import Operator
from broadfront.operators.roles import EDGES, NEAR, OWN, STATE, Functor, Roles

Fields = Mapping[str, Field]


def check_over(over: object) -> None:
    """Refuse what an operator cannot be about."""
    if not is_one_of(over, ("vertices", "frontier")):
        raise OptionError(f"over={over!r}: expected 'vertices' or 'frontier'")


def field_called(name: str, fields: Fields) -> Field:
    """Return a field; refuse the name of none."""
    if name not in fields:
        raise OptionError(f"no field {name!r}; there are {', '.join(fields)}")
    return fields[name]


def field_per_vertex(name: str, fields: Fields) -> Field:
    """Return a field; refuse one that has not an element per vertex."""
    field = field_called(name, fields)
    if field.length is not None:
        raise OptionError(
            f"field {name!r} has length={field.length}; here it needs an element per vertex, "
            "so leave length out"
        )
    if field.per != "vertex":
        raise OptionError(f"field {name!r} is per edge; here it needs an element per vertex")
    return field


def number_per_vertex(name: str, fields: Fields) -> np.dtype[Any]:
    """Return the dtype of a field per vertex; refuse one whose elements are several numbers."""
    field = field_per_vertex(name, fields)
    if field.several:
        raise OptionError(f"field {name!r} has several numbers per vertex; here it needs one")
    return _dtype(field)


def check_vertices(name: str, fields: Fields) -> None:
    """Refuse a field that cannot hold the id of a vertex for each vertex."""
    if number_per_vertex(name, fields) not in (np.int32, np.int64):
        raise OptionError(f"field {name!r} takes ids; it must be Field('vertex')")


def check_sums(sums: object, fields: Fields) -> None:
    """Refuse what is no tuple of fields that can take totals."""
    if not isinstance(sums, tuple):
        raise OptionError(f"sums={sums!r}: expected a tuple, as ('total',)")
    if len(sums) > 2:
        raise OptionError(f"{len(sums)} sums; an operator keeps at most 2")
    for name in sums:
        check_total(name, fields)


def check_total(name: str, fields: Fields) -> None:
    """Refuse a field that cannot take a total."""
    field = field_called(name, fields)
    if field.length != 1:
        raise OptionError(f"field {name!r} takes a total; it must have length=1")
    dtype = _dtype(field, np.int32)
    if dtype.kind != "f" and dtype.itemsize < 8:
        raise OptionError(
            f"field {name!r} takes a total, for which {dtype} may be too small: "
            "use np.int64 or np.float64"
        )


def check_arguments(operator: Operator) -> None:
    """Refuse functors that do not take the arguments that they are called with."""
    for functor, roles in operator.roles:
        check_takes(functor, roles, _part(operator, functor))


def check_all_answers(operator: Operator) -> None:
    """Refuse functors that may end without an answer where it counts."""
    for call in operator.calls:
        if call.counts:
            check_answers(call.functor, _part(operator, call.functor))


def _part(operator: Operator, functor: Functor) -> str:
    """Return what an operator was given a functor for."""
    names = {id(value): name for name, value in vars(operator).items() if callable(value)}
    return f"{type(operator).__name__}({names[id(functor)]}=...)"


def check_answers(functor: Functor, where: str) -> None:
    """Refuse a functor that ends without an answer on some way; `where` says who needs one."""
    code = getattr(functor, "py_func", functor).__code__
    steps = list(dis.get_instructions(code))
    for before, step in pairwise([*steps[:1], *steps]):
        nothing = step.opname == "RETURN_CONST" or before.opname == "LOAD_CONST"
        told = step if step.opname == "RETURN_CONST" else before
        if step.opname in ("RETURN_CONST", "RETURN_VALUE") and nothing and told.argval is None:
            line = step.positions and step.positions.lineno
            raise FunctorError(
                f"{code.co_filename}, line {line or code.co_firstlineno}: functor {code.co_name} "
                f"may end here without an answer, and {where} needs one: return a value on every "
                "way, such as one that changes nothing, or False"
            )


def check_takes(functor: Functor, roles: Roles, where: str) -> None:
    """Refuse a functor that does not take these arguments; `where` says what it was given for."""
    function = getattr(functor, "py_func", functor)
    taken = signature(function)
    try:
        taken.bind(*roles)
    except TypeError:
        code = function.__code__
        raise FunctorError(
            f"{code.co_filename}, line {code.co_firstlineno}: {where} calls functor "
            f"{function.__name__}{taken} with ({', '.join(map(_called, roles))})"
        ) from None


def _called(role: str | None) -> str:
    if role in EDGES:
        return "edge"
    return {OWN: "vertex", NEAR: "neighbor", STATE: "state"}.get(role or "", "number")


def _dtype(field: Field, vertex: Any = np.int64) -> np.dtype[Any]:
    return np.dtype(field.on(np.dtype(vertex)).dtype)

"""From Numba's account of what went wrong to one line that names the functor.

Functors compile as parts of a loop, so an error in one surfaces as an error in all. Here each
functor is compiled alone, with the types it would have met; the one that fails is named, with its
file and line.
"""

from __future__ import annotations

from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from broadfront.elements import element_kind, refuse_cast
from broadfront.errors import FunctorError
from broadfront.execution.program import Program
from broadfront.execution.wording import line_of, worded
from broadfront.functors import compile_functor
from broadfront.operators.describe import (
    Advance,
    Compute,
    Filter,
    Functor,
    Intersect,
    Levels,
    Once,
    Operator,
    Reduce,
    Unite,
)
from broadfront.operators.monoid import Monoid
from broadfront.pointers import _kinds_of

Use = tuple[Functor, Any, Any]

COMPILE_ERRORS = (NumbaError, UnsupportedBytecodeError)
"""What Numba raises for a functor that it cannot compile."""
INTEGER = types.int64
REAL = types.float64


def explained(error: Exception, program: Program, state: Any) -> FunctorError:
    """Return the error to raise for `error`, naming the functor at fault."""
    kind = _kinds_of(numba.typeof(state))
    for name, field in program.fields.items():
        if isinstance(field.combine, Monoid):
            element = element_kind(_dtype(program, name))
            if fault := _fault(field.combine.function, (element, element), element):
                return fault
    for until in program.untils:
        if fault := _fault(until, (kind,), None):
            return fault
    for phase in program.all_phases:
        for operator in phase.step:
            for functor, arguments, field in _uses(operator, program, kind):
                if fault := _fault(functor, arguments, field):
                    return fault
    return FunctorError(worded(error))


def _uses(operator: Operator, program: Program, state: Any) -> list[Use]:
    """Return each functor of an operator with the types of its arguments and of its field."""
    match operator:
        case Advance():
            field = element_kind(_dtype(program, operator.into))
            uses: list[Use] = [(operator.functor, (INTEGER, INTEGER, INTEGER, state), field)]
            for asked in (operator.cond, operator.priority):
                if asked is not None:
                    uses.append((asked, (INTEGER, state), None))
            if operator.goal is not None:
                uses.append((operator.goal, (state,), INTEGER))
            if operator.activate is not None:
                uses.append((operator.activate, (INTEGER, field, field, state), None))
            return uses
        case Compute():
            return [(operator.functor, (INTEGER, state), _terms(operator, program))]
        case Filter():
            return [(operator.functor, (INTEGER, state), None)]
        case Reduce():
            kind = numba.typeof(operator.identity)
            kind = kind if isinstance(kind, types.Integer) else REAL
            meeting: list[Use] = []
            if isinstance(operator.combine, Monoid):
                meeting = [(operator.combine.function, (kind, kind), kind)]
            if operator.of_neighbor:
                return [*meeting, (operator.functor, (INTEGER, state), kind),
                        (operator.apply, (INTEGER, kind, state), _terms(operator, program))
                        ]  # fmt: skip
            return [
                *meeting,
                (operator.functor, (INTEGER, INTEGER, INTEGER, state), None),
                (operator.apply, (INTEGER, kind, state), _terms(operator, program)),
            ]
        case Levels():
            uses = [(operator.gather, (INTEGER, INTEGER, INTEGER, state), REAL),
                    (operator.apply, (INTEGER, REAL, state), None)]  # fmt: skip
            if operator.when is not None:
                uses.append((operator.when, (state,), None))
            if operator.instead is not None:
                uses.append((operator.instead, (INTEGER, state), REAL))
            return uses
        case Intersect():
            if operator.functor is None:
                return []
            numbers = {"edge": 4, "triangle": 3, "vertex": 2}[operator.each]
            return [(operator.functor, (*[INTEGER] * numbers, state), None)]
        case Unite():
            if operator.functor is None:
                return []
            return [(operator.functor, (INTEGER, INTEGER, INTEGER, state), INTEGER)]
        case Once():
            return [(operator.functor, (state,), None)]


def _terms(operator: Compute | Reduce, program: Program) -> Any:
    """Return the type of the terms that a functor returns for totals, or None."""
    kinds = [element_kind(_dtype(program, name)) for name in operator.sums]
    if len(kinds) < 2:
        return kinds[0] if kinds else None
    return types.BaseTuple.from_types(kinds)


def _dtype(program: Program, name: str) -> Any:
    import numpy as np

    return program.fields[name].on(np.dtype(np.int64)).storage


def _fault(functor: Functor, arguments: Any, field: Any) -> FunctorError | None:
    compiled: Any = compile_functor(functor)
    try:
        compiled.compile(arguments)
    except (*COMPILE_ERRORS, TypeError) as error:
        return does_not_compile(functor, error)
    answer = compiled.nopython_signatures[-1].return_type
    if field is None:
        return None
    if isinstance(field, types.BaseTuple):
        try:
            refuse_cast(answer, field, "what it returns")
        except NumbaError as error:
            return does_not_compile(functor, error)
        return None
    if not isinstance(answer, (types.Number, types.Boolean)):
        return FunctorError(f"{place_of(functor)} must return a number, not {answer}")
    if isinstance(answer, (types.Float, types.Complex)) and isinstance(field, types.Integer):
        return FunctorError(
            f"{place_of(functor)} returns {answer}, which does not go into a field of {field}: "
            "write int(...) around it, or declare the field np.float64"
        )
    return None


def does_not_compile(functor: Functor, error: BaseException) -> FunctorError:
    """Return the error that names a functor which Numba cannot compile, and the line at fault."""
    place = place_of(functor)
    if (line := line_of(error)) is not None:
        place = f"{line}: functor {_written(functor).__name__}"
    return FunctorError(f"{place} does not compile: {worded(error)}")


def place_of(functor: Functor) -> str:
    """Return where a functor is, and its name."""
    written = _written(functor)
    code = written.__code__
    return f"{code.co_filename}, line {code.co_firstlineno}: functor {written.__name__}"


def _written(functor: Functor) -> Any:
    """Return a functor as it was written; who stands for another names it."""
    asked = getattr(functor, "asks", functor)
    return getattr(asked, "py_func", asked)

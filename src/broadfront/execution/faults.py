"""From Numba's account of what went wrong to one line that names the functor.

Functors compile as parts of a loop, so an error in one surfaces as an error in all. Here each
functor is compiled alone, with the types it would have met; the one that fails is named, with its
file and line.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numba
from numba import types
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from broadfront.elements import element_kind, refuse_cast
from broadfront.errors import FunctorError
from broadfront.execution.program import Program
from broadfront.execution.wording import line_of, worded
from broadfront.functors import compile_functor
from broadfront.operators.describe import Functor, Operator
from broadfront.operators.monoid import Monoid
from broadfront.operators.roles import NUMBER, REAL, STATE, UNSIGNED, WHOLE, Kind, ValueOf
from broadfront.pointers import _kinds_of

Use = tuple[Functor, Any, Any]

COMPILE_ERRORS = (NumbaError, UnsupportedBytecodeError)
"""What Numba raises for a functor that it cannot compile."""
INTEGER = types.int64
REALS = types.float64


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


def _uses(operator: Operator, program: Program, state: Any) -> Iterator[Use]:
    """Give each functor of an operator with the types of its arguments and of its answer."""
    for call in (*operator.monoids, *operator.calls):
        numbers = iter(call.numbers)
        arguments = tuple(
            state if role == STATE else INTEGER if role is not NUMBER
            else _type_of(next(numbers), program) for role in call.roles
        )  # fmt: skip
        yield call.functor, arguments, _type_of(call.returns, program)


def _type_of(kind: Kind, program: Program) -> Any:
    """Return the type of a kind of numbers; None where any will do."""
    if not isinstance(kind, ValueOf):
        return {WHOLE: INTEGER, UNSIGNED: types.uint64, REAL: REALS, None: None}[kind]
    kinds = [element_kind(_dtype(program, name)) for name in kind.fields]
    return kinds[0] if len(kinds) == 1 else types.BaseTuple.from_types(kinds)


def _dtype(program: Program, name: str) -> Any:
    import numpy as np

    return program.fields[name].on(np.dtype(np.int64)).storage


def _fault(functor: Functor, arguments: Any, field: Any) -> FunctorError | None:
    compiled: Any = compile_functor(functor)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the error says it in other words
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

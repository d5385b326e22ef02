"""The loops of a program: each made once, and whether its functors have loops of their own.

A functor without a loop ends by itself, and the caller can run it. One with a loop may not, and
nothing can stop it; so the caller has other threads run it and only waits.

Invariant: a loop is found or made whole, whatever interrupts the caller.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, TypeVar
from zlib import crc32

import numpy as np

from broadfront.apart import apart
from broadfront.checking import checks
from broadfront.clock import loading
from broadfront.execution.names import is_well_known, mentioned
from broadfront.execution.program import Program
from broadfront.operators.monoid import Monoid
from broadfront.traffic import is_counting, making

Made = TypeVar("Made")
Scope = tuple[Mapping[str, Any], Sequence[str], tuple[Any, ...]]
"""The globals of a function, those of them that it names, and its cells."""

LOOKED_INTO = 1 << 22
"""Bytes of an array whose content is compared; of larger ones it is not noticed if it changes."""


def made_once(
    program: Program, key: Hashable, make: Callable[[], Made], checked: bool = False
) -> Made:
    """Return what is kept with a program under `key`; make it if it is not there.

    `checked` asks for one that checks every index, `broadfront.traffic` for one that counts. What
    functors close over is compiled in, so it is made anew when that has changed.
    """
    wanted: tuple[Any, ...] = (key, checked, is_counting(), _closed_over(program))
    kept = program._loops
    if wanted not in kept:
        apart(lambda: _make(kept, wanted, make))
    made: Made = kept[wanted]
    return made


def _make(kept: dict[Any, Any], wanted: tuple[Any, ...], make: Callable[[], Any]) -> None:
    with loading(), checks(wanted[1]), making(counted=wanted[2]):
        kept.setdefault(wanted, make())


def _closed_over(program: Program) -> tuple[Any, ...]:
    """Return the values of all globals and cells that the functors name, comparable with later."""
    kept, nothing = program._loops, (list[Scope](), None)
    scopes, before = kept.get(_closed_over, nothing)
    now = _stamps(scopes)
    if now != before:  # functions may name others now
        reached: dict[Any, None] = {}
        for functor in _functors(program):
            _reach(functor, reached)
        scopes = [
            (function.__globals__, names, function.__closure__ or ())
            for function in reached
            if (names := sorted(set(function.__code__.co_names) & function.__globals__.keys()))
            or function.__closure__
        ]
        now = _stamps(scopes)
        program.look_again()
        kept.pop(may_not_end, None)
        kept[_closed_over] = scopes, now
    return now


def _stamps(scopes: Iterable[Scope]) -> tuple[Any, ...]:
    return tuple(
        _stamp(value)
        for scope, names, cells in scopes
        for value in (*map(scope.get, names), *cells)
    )


def _reach(functor: Any, reached: dict[Any, None]) -> None:
    """Add a function to those that are reached, and all that it may call."""
    function = getattr(functor, "py_func", functor)
    if not isinstance(function, FunctionType) or function in reached:
        return
    if is_well_known(function) or (function.__module__ or "").partition(".")[0] == "broadfront":
        return  # what does not change while a process runs
    reached[function] = None
    for other in mentioned(function):
        _reach(other, reached)


def _stamp(value: Any) -> Any:
    """Return what equals the stamp of another value only if that is compiled to the same."""
    if isinstance(value, CellType):
        try:
            return _stamp(value.cell_contents)
        except ValueError:  # it is empty, which the compiler will tell
            return None
    if isinstance(value, np.ndarray):
        known = value.nbytes <= LOOKED_INTO
        content = crc32(value.tobytes()) if known else id(value)
        return value.dtype.str, value.shape, known, content
    if isinstance(value, (bool, int, float, complex, str, bytes, np.generic, type(None))):
        return type(value), repr(value)
    return id(value)


def may_not_end(program: Program) -> bool:
    """Tell whether a functor of the program, or a function that it calls, has a loop."""
    kept = program._loops
    if may_not_end not in kept:
        seen: set[Any] = set()
        kept[may_not_end] = any(_loops(functor, seen) for functor in _functors(program))
    answer: bool = kept[may_not_end]
    return answer


def _functors(program: Program) -> Iterator[Any]:
    for field in program.fields.values():
        if isinstance(field.combine, Monoid):
            yield field.combine.function
    yield from program.untils
    for phase in program.all_phases:
        for operator in phase.step:
            yield from filter(callable, vars(operator).values())
            yield from (call.functor for call in operator.monoids)


def _loops(functor: Any, seen: set[Any]) -> bool:
    function = getattr(functor, "py_func", functor)
    if not isinstance(function, FunctionType) or function in seen or is_well_known(function):
        return False
    seen.add(function)
    return _jumps_back(function.__code__) or any(
        _loops(other, seen) for other in mentioned(function)
    )


def _jumps_back(code: CodeType) -> bool:
    jumps = {*dis.hasjrel, *dis.hasjabs}
    if any(
        step.opcode in jumps and step.argval < step.offset for step in dis.get_instructions(code)
    ):
        return True
    return any(_jumps_back(inside) for inside in code.co_consts if isinstance(inside, CodeType))

"""The loops of a program: each made once, and whether its functors have loops of their own.

A functor without a loop ends by itself, and the caller can run it. One with a loop may not, and
nothing can stop it; so the caller has other threads run it and only waits.

Invariant: a loop is found or made whole, whatever interrupts the caller.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Hashable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

from broadfront.apart import apart
from broadfront.checking import checks
from broadfront.clock import loading
from broadfront.digest import BY_NAME
from broadfront.execution.program import Program

Made = TypeVar("Made")


def made_once(
    program: Program, key: Hashable, make: Callable[[], Made], checked: bool = False
) -> Made:
    """Return what is kept with a program under `key`; make it if it is not there.

    `checked` asks for one that checks every index.
    """
    kept, wanted = program._loops, (key, checked)
    if wanted not in kept:
        apart(lambda: _make(kept, wanted, make))
    made: Made = kept[wanted]
    return made


def _make(kept: dict[Any, Any], wanted: tuple[Hashable, bool], make: Callable[[], Any]) -> None:
    with loading(), checks(wanted[1]):
        kept.setdefault(wanted, make())


def may_not_end(program: Program) -> bool:
    """Tell whether a functor of the program, or a function that it calls, has a loop."""
    kept = program._loops
    if may_not_end not in kept:
        seen: set[Any] = set()
        kept[may_not_end] = any(_loops(functor, seen) for functor in _functors(program))
    answer: bool = kept[may_not_end]
    return answer


def _functors(program: Program) -> Iterator[Any]:
    for phase in program.all_phases:
        yield phase.until
        for operator in phase.step:
            yield from filter(callable, vars(operator).values())


def _loops(functor: Any, seen: set[Any]) -> bool:
    function = getattr(functor, "py_func", functor)
    if not isinstance(function, FunctionType) or function in seen:
        return False
    seen.add(function)
    if (function.__module__ or "").partition(".")[0] in BY_NAME:
        return False
    return _jumps_back(function.__code__) or any(
        _loops(other, seen) for other in _mentioned(function)
    )


def _jumps_back(code: CodeType) -> bool:
    jumps = {*dis.hasjrel, *dis.hasjabs}
    if any(
        step.opcode in jumps and step.argval < step.offset for step in dis.get_instructions(code)
    ):
        return True
    return any(_jumps_back(inside) for inside in code.co_consts if isinstance(inside, CodeType))


def _mentioned(function: FunctionType) -> Iterator[Any]:
    """Return what a function may call: from its closure, its globals, and modules among these."""
    names = function.__code__.co_names
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # empty
            continue
    for found in (function.__globals__.get(name) for name in names):
        yield found
        if isinstance(found, ModuleType):
            yield from (getattr(found, name, None) for name in names)

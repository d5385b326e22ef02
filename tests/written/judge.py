"""Whether a program means the same wherever it runs: the reference against compiled devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.errors import BoundsError, FunctorError, OptionError
from broadfront.execution.plan import planned
from broadfront.execution.program import Program
from broadfront.execution.refusals import needs_ids
from broadfront.execution.synchronous import choices

REFUSALS = (OptionError, FunctorError)
SAME, REFUSED, FAILED = "same", "refused on several devices", "raised by the reference"
BY_ALL = "refused by all"
Run = Callable[..., Any]
LONGEST = 120
"""Seconds after which a run of a drawn program hangs; a loop may have to be compiled, too."""


def refusal(program: Program, vertex: np.dtype[Any]) -> str | None:
    """Return why several devices refuse a program, or None; nothing is compiled for it.

    Raises `OptionError` where everybody refuses it.
    """
    settled = choices(program).strict.program.on(vertex)
    try:
        planned(settled, settled.state_names, not needs_ids(settled))
    except REFUSALS as error:
        return str(error)
    return None


def differences(expected: Any, found: Any, program: Program) -> list[str]:
    """Return where two answers differ: integers must be equal, reals to 1e-9."""
    wrong = []
    for name in program.fields:
        left, right = expected[name], found[name]
        if left.dtype.kind == "f":
            same = np.allclose(left, right, rtol=1e-9, atol=1e-9, equal_nan=True)
        else:
            same = np.array_equal(left, right)
        if not same:
            wrong.append(f"{name}: {left.tolist()} in Python, {right.tolist()} here")
    if not np.array_equal(expected.frontier, found.frontier):
        left, right = expected.frontier.tolist(), found.frontier.tolist()
        wrong.append(f"frontier: {left} in Python, {right} here")
    return wrong


def judged(run: Run, program: Program, several: dict[str, Any], refused: str | None) -> str:
    """Run a program on the reference, one device and several; return what came of it.

    Raises AssertionError where they do not agree.
    """
    try:
        expected = run(devices="python", checked=True)  # which tries out promises, too
    except BoundsError as error:
        _raises_too(run, {"threads": 1}, BoundsError, error)
        return FAILED
    except ArithmeticError as error:
        _raises_too(run, {"threads": 1, "checked": True}, ArithmeticError, error)
        return FAILED
    except REFUSALS as error:
        _refused_too(run, {"threads": 1}, error)
        _refused_too(run, several, error)
        return BY_ALL
    for where in ({"threads": 1}, {"threads": 2}):
        compare(expected, run(**where), program, where)
    try:
        found = run(**several)
    except REFUSALS:
        if refused is None:
            raise
        return REFUSED
    assert refused is None, f"runs on {several}, and was to be refused: {refused}"
    compare(expected, found, program, several)
    return SAME


def _raises_too(run: Run, where: dict[str, Any], kind: type[Exception], error: Exception) -> None:
    """Have another back end raise what the reference does while it runs."""
    try:
        run(**where)
    except kind:
        return
    raise AssertionError(f"runs on {where}, and the reference raises: {error}")


def _refused_too(run: Run, where: dict[str, Any], error: Exception) -> None:
    """Have another back end refuse what the reference does."""
    try:
        run(**where)
    except REFUSALS:
        return
    raise AssertionError(f"runs on {where}, and the reference refuses it: {error}")


def compare(expected: Any, found: Any, program: Program, where: dict[str, Any]) -> None:
    wrong = differences(expected, found, program)
    assert not wrong, f"on {where}: " + "; ".join(wrong)


class Tally(Counter[str]):
    """How many programs came to what."""

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self.items()))
        return f"{sum(self.values())} programs: {counts}"

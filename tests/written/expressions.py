"""Numbers and conditions as Python source, drawn from the names that a functor may use.

Constants are small, nothing is multiplied but by them, and reals are halved at most: so numbers
stay exact in every dtype, and comparisons go the same way wherever sums are added in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st

CONSTANTS = ("0", "1", "2", "5", "-1", "-3")
WHOLE = (
    "({0} + {1})", "({0} - {1})", "min({0}, {1})", "max({0}, {1})", "({0} if {p} else {1})",
    "({0} * 2)", "({0} // 2)", "({0} % 3)", "abs({0})",
)  # fmt: skip
REAL = ("({0} / 2)", "({0} * 0.5)")
CONDITIONS = ("{0} < {1}", "{0} <= {1}", "{0} == {1}", "{0} != {1}")
JOINED = ("({p} and {q})", "({p} or {q})", "not ({p})")


class Atoms(NamedTuple):
    """What a functor may name: whole numbers, and real ones."""

    whole: tuple[str, ...] = ()
    real: tuple[str, ...] = ()

    def __add__(self, other: Atoms) -> Atoms:  # type: ignore[override]
        return Atoms(self.whole + other.whole, self.real + other.real)


@st.composite
def numbers(draw: st.DrawFn, atoms: Atoms, real: bool = False, depth: int = 2) -> str:
    """Draw a number; one that is not `real` is made of whole ones alone."""
    names: Sequence[str] = atoms.whole + (atoms.real if real else ())
    if depth == 0 or not draw(st.booleans()):
        return draw(st.sampled_from((*names, *names, *CONSTANTS)))
    form = draw(st.sampled_from(WHOLE + (REAL if real else ())))
    return form.format(
        draw(numbers(atoms, real, depth - 1)),
        draw(numbers(atoms, real, depth - 1)) if "{1}" in form else "",
        p=draw(conditions(atoms, depth - 1)) if "{p}" in form else "",
    )


@st.composite
def conditions(draw: st.DrawFn, atoms: Atoms, depth: int = 1) -> str:
    """Draw a condition."""
    if depth > 0 and draw(st.integers(0, 3)) == 3:
        form = draw(st.sampled_from(JOINED))
        return form.format(
            p=draw(conditions(atoms, depth - 1)),
            q=draw(conditions(atoms, depth - 1)) if "{q}" in form else "",
        )
    form = draw(st.sampled_from(CONDITIONS))
    return form.format(draw(numbers(atoms, True, depth)), draw(numbers(atoms, True, depth)))

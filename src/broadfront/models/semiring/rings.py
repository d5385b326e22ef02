"""Semirings: how products are made, and how they meet.

`add` is a `combine` of the library, so products meet on threads and devices as proposals do; what
an element is where nothing was added follows from it and from the dtype. ``"any"`` takes whichever
product comes first, and lets a vertex stop looking. `multiply` is a function of yours.
"""

from __future__ import annotations

import dis
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from broadfront.errors import OptionError
from broadfront.given import is_one_of
from broadfront.operators.monoid import Monoid

ADDS = ("sum", "min", "max", "or", "any")


def _expect_numbers(dtype: DTypeLike) -> None:
    try:
        kind: str = np.dtype(dtype).kind
    except (TypeError, ValueError):
        kind = ""
    if kind not in ("i", "u", "f"):
        raise OptionError(f"dtype={dtype!r:.60}: expected one of numbers")


@dataclass(frozen=True)
class Semiring:
    """How two elements are multiplied, and how products add up.

    Parameters
    ----------
    add
        ``"sum"``, ``"min"``, ``"max"``, ``"or"`` (of bits), ``"any"`` (one of them, whichever), or
        a `broadfront.Monoid` of numbers.
    multiply
        ``multiply(left, right)``: an element of the vector and one of the matrix, in the order in
        which they stand in the product. Matrices without values have 1.
    dtype
        That of products; None for what NumPy makes of the two.

    Examples
    --------
    >>> import numpy as np
    >>> from broadfront import semiring
    >>> most_reliable = semiring.Semiring("max", lambda chance, edge: chance * edge)
    >>> most_reliable.zero(np.float64)
    -inf
    """

    add: str | Monoid
    multiply: Callable[[Any, Any], Any]
    dtype: DTypeLike | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.add, Monoid) and not is_one_of(self.add, ADDS):
            raise OptionError(f"add={self.add!r:.60}: expected {', '.join(ADDS)}, or a Monoid")
        if self.dtype is not None:
            _expect_numbers(self.dtype)
        function = getattr(self.multiply, "py_func", self.multiply)
        if not hasattr(function, "__code__") or function.__code__.co_argcount != 2:
            raise OptionError(f"multiply={self.multiply!r:.60}: expected a function of two")

    @cached_property
    def reads(self) -> tuple[bool, bool]:
        """Whether `multiply` looks at its left element, and at its right one."""
        code = getattr(self.multiply, "py_func", self.multiply).__code__
        loaded = {
            name
            for step in dis.get_instructions(code) if step.opname.startswith("LOAD_FAST")
            for name in (step.argval if isinstance(step.argval, tuple) else (step.argval,))
        }  # fmt: skip
        captured = set(code.co_cellvars)
        left, right = (name in loaded | captured for name in code.co_varnames[:2])
        return left, right

    def zero(self, dtype: DTypeLike) -> Any:
        """Return what an element is to which nothing was added.

        Of ``"any"`` it is the smallest number of the dtype, which no product should be, or 0 of
        unsigned ones.
        """
        kind = np.dtype(dtype)
        if isinstance(self.add, Monoid):
            return self.add.identity
        if self.add in ("sum", "or"):
            return 0.0 if kind.kind == "f" else 0
        if kind.kind == "f":
            infinite = np.inf if self.add == "min" else -np.inf
            return float(infinite)
        bounds = np.iinfo(kind)
        return int(bounds.max if self.add == "min" else bounds.min)


def _times(left, right):
    return left * right


def _plus(left, right):
    return left + right


def _first(left, right):
    return left


def _second(left, right):
    return right


def _pair(left, right):
    return 1


def _smaller(left, right):
    return min(left, right)


def _both(left, right):
    return 1 if left != 0 and right != 0 else 0


plus_times = Semiring("sum", _times)
min_plus = Semiring("min", _plus)
max_plus = Semiring("max", _plus)
max_min = Semiring("max", _smaller)
min_first = Semiring("min", _first)
min_second = Semiring("min", _second)
plus_first = Semiring("sum", _first)
plus_second = Semiring("sum", _second)
plus_pair = Semiring("sum", _pair, np.int64)
any_pair = Semiring("any", _pair, np.uint8)
any_first = Semiring("any", _first)
or_and = Semiring("or", _both, np.uint8)

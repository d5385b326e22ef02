"""A way of one's own to combine: a function of two elements, and its neutral element.

    longest = Monoid(lambda one, other: max(one, other), identity=-1, idempotent=True)

Proposals meet in any order and in any groups, on threads and on devices, so the function must be
associative and commutative. Where it is idempotent (an element with itself is that element) a
proposal that changes nothing is dropped, and copies on other devices may lag behind. Where it is
not, every proposal counts once, as in a sum: copies begin at the identity, and what they gather
goes to the owner.

The laws are tried out on the identity, the fill and a few elements with which a run begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np

from broadfront.errors import FunctorError, OptionError


@dataclass(frozen=True)
class Monoid:
    """How elements meet.

    Parameters
    ----------
    function
        ``function(one, other)`` returns the two combined: a plain function of two elements,
        associative and commutative.
    identity
        The element that leaves any other as it is; fields begin with it unless they say otherwise.
    idempotent
        Whether ``function(one, one)`` is ``one`` for every element, as in a minimum.
    """

    function: Callable[[Any, Any], Any]
    identity: Any
    idempotent: bool = False

    def __post_init__(self) -> None:
        function = getattr(self.function, "py_func", self.function)
        if not isinstance(function, FunctionType):
            raise FunctorError(f"Monoid(function={self.function!r:.60}): expected a function")
        if function.__code__.co_argcount != 2:
            raise FunctorError(f"{self.place} takes other than two elements")
        if not isinstance(self.idempotent, bool):
            raise OptionError(f"idempotent={self.idempotent!r:.60}: expected True or False")
        identity = self.identity
        object.__setattr__(
            self, "identity", identity.item() if isinstance(identity, np.generic) else identity
        )

    @property
    def place(self) -> str:
        """Where the function is, and its name."""
        code = getattr(self.function, "py_func", self.function).__code__
        return f"{code.co_filename}, line {code.co_firstlineno}: function {code.co_name}"

    def check(self, elements: Sequence[Any] = ()) -> None:
        """Refuse a function that breaks a law for the identity or some elements of a run."""
        function = getattr(self.function, "py_func", self.function)
        try:
            function(self.identity, self.identity)
        except Exception as error:
            raise FunctorError(
                f"{self.place} of the identity {self.identity} with itself raises {error!r:.80}"
            ) from error
        said = None
        with suppress(Exception):  # of elements that may never meet
            said = next(_broken(function, (self.identity, *elements), self.idempotent), None)
        if said is not None:
            raise OptionError(f"{self.place} {said}")


def _broken(
    function: Callable[[Any, Any], Any], elements: Sequence[Any], idempotent: bool
) -> Iterator[str]:
    """Say which laws do not hold for some elements, of which the first is the identity."""
    identity = elements[0]
    for one in elements:
        for left, right in ((identity, one), (one, identity)):
            if not same(met := function(left, right), one):
                yield (
                    f"makes {met!r:.60} of {left!r:.60} and {right!r:.60}: with the identity "
                    f"{identity!r:.60} an element must stay as it is"
                )
        if idempotent and not same(met := function(one, one), one):
            yield (
                f"makes {met!r:.60} of {one!r:.60} with itself, which must stay as it is, or leave "
                "idempotent=True out"
            )
    for one, other in product(elements, repeat=2):
        if not same(met := function(one, other), turned := function(other, one)):
            yield (
                f"makes {met!r:.60} of {one!r:.60} and {other!r:.60}, and {turned!r:.60} of these "
                "the other way around: proposals meet in any order"
            )
    for one, other, third in product(elements, repeat=3):
        first = function(function(one, other), third)
        if not same(first, last := function(one, function(other, third))):
            yield (
                f"makes {first!r:.60} or {last!r:.60} of {one!r:.60}, {other!r:.60} and "
                f"{third!r:.60}, by which two meet first: proposals meet in any groups"
            )


def same(one: Any, other: Any) -> bool:
    """Tell whether two elements are equal, real numbers but for rounding."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) or isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-6, atol=1e-12, equal_nan=True))
    return bool(one == other)

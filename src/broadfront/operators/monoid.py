"""A way of one's own to combine: a function of two elements, and its neutral element.

    longest = Monoid(lambda one, other: max(one, other), identity=-1, idempotent=True)

Proposals meet in any order and in any groups, on threads and on devices, so the function must be
associative and commutative. Where it is idempotent (an element with itself is that element) a
proposal that changes nothing is dropped, and copies on other devices may lag behind. Where it is
not, every proposal counts once, as in a sum: copies begin at the identity, and what they gather
goes to the owner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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

    def check(self) -> None:
        """Refuse a function for which the identity is none, as far as that shows at once."""
        function = getattr(self.function, "py_func", self.function)
        try:
            met = function(self.identity, self.identity)
        except Exception as error:
            raise FunctorError(
                f"{self.place} of the identity {self.identity} with itself raises {error!r:.80}"
            ) from error
        if self.identity == self.identity and met != self.identity:  # NaN equals nothing
            raise OptionError(
                f"{self.place} makes {met!r:.60} of the identity {self.identity} with itself, "
                "which must stay as it is"
            )

"""The fields of a program: what there is for every vertex, and how proposals for it meet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from broadfront.errors import OptionError
from broadfront.given import count, numbers
from broadfront.operators.monoid import Monoid

COMBINES = ("min", "max", "sum", "any", "or")


@dataclass(frozen=True)
class Field:
    """An array with an element for every vertex, or a few values shared by all.

    Parameters
    ----------
    dtype
        A NumPy dtype of integers, float32, float64, or ``"vertex"`` for that of the graph's vertex
        ids.
    fill
        What every element is at the start: 0, or the identity of a `Monoid`, if it is left out.
    combine
        How proposals meet: ``min``, ``max``, ``sum``, ``or`` (bits of integers add up), ``any``
        (the first to arrive stays), or a `Monoid` of your own.
    length
        None for an element per vertex, or the number of shared values.
    """

    dtype: DTypeLike
    fill: Any = None
    combine: str | Monoid | None = None
    length: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.combine, Monoid | None) and self.combine not in COMBINES:
            raise OptionError(
                f"combine={self.combine!r:.60}: expected {', '.join(COMBINES)}, or a Monoid"
            )
        if isinstance(self.combine, Monoid) and self.length is not None:
            raise OptionError(
                "a Monoid combines elements of vertices; of shared values (length=) use "
                "combine='min', 'max', 'sum' or 'or'"
            )
        if self.fill is None:
            object.__setattr__(self, "fill", self.neutral)
        if self.length is not None:
            count(self.length, "length")
        if self.dtype != "vertex":
            dtype = _checked(self.dtype)
            if np.shape(numbers(self.fill, dtype, "fill")):
                raise OptionError(f"fill={self.fill!r:.60} is not one number")
            if self.combine == "or" and dtype.kind == "f":
                raise OptionError(f"combine='or' is of bits of integers; the field is of {dtype}")
            if isinstance(self.combine, Monoid):
                if np.shape(numbers(self.combine.identity, dtype, "the identity of a Monoid")):
                    raise OptionError(f"identity={self.combine.identity!r:.60} is not one number")
                self.combine.check()

    @property
    def neutral(self) -> Any:
        """What a copy begins with whose proposals all count: it leaves other elements as they are.

        Of use where `adds_up` is true.
        """
        return self.combine.identity if isinstance(self.combine, Monoid) else 0

    @property
    def adds_up(self) -> bool:
        """Whether each proposal counts once, so that none may be heard twice."""
        if isinstance(self.combine, Monoid):
            return not self.combine.idempotent
        return self.combine == "sum"

    def on(self, vertex: np.dtype[Any]) -> Field:
        """Return the field with the dtype it has where vertex ids are of dtype `vertex`."""
        return replace(self, dtype=vertex) if self.dtype == "vertex" else self


def _checked(wanted: DTypeLike) -> np.dtype[Any]:
    """Return the dtype of a field; refuse what functors cannot compute with."""
    try:
        dtype = np.dtype(wanted)
    except TypeError as error:
        raise OptionError(f"a field of {wanted!r}: {error}") from None
    if dtype.kind == "b":
        raise OptionError("a field of bool: use np.uint8, with 0 and 1")
    if dtype.kind not in "iuf":
        raise OptionError(f"a field of dtype {dtype}: expected real numbers")
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        raise OptionError(f"a field of {dtype}: use np.float32 or np.float64")
    if not dtype.isnative:
        raise OptionError(f"a field of {dtype}, bytes swapped: use np.{dtype.newbyteorder('=')}")
    return dtype

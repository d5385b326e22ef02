"""The fields of a program: what there is for every vertex or edge, and how proposals meet.

An element is a number, or a few: a record, or `width` values of one dtype. Functors see several as
a tuple.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from broadfront.errors import OptionError
from broadfront.given import count, is_one_of, is_word
from broadfront.operators.monoid import Monoid
from broadfront.records import WHOLE, answered, constant, held, storage_of

COMBINES = ("min", "max", "sum", "any", "or")


@dataclass(frozen=True)
class Field:
    """An array with an element for every vertex or edge, or a few values shared by all.

    Parameters
    ----------
    dtype
        A NumPy dtype of integers, float32, float64, or ``"vertex"`` for that of the graph's vertex
        ids. Or one with names, of up to 16 bytes, for a record: a tuple in functors.
    fill
        What every element is at the start: 0, or the identity of a `Monoid`, if it is left out.
    combine
        How proposals meet: ``min``, ``max``, ``sum``, ``or`` (bits of integers add up), ``any``
        (the first to arrive stays), or a `Monoid` of your own.
    length
        None for an element per vertex, or the number of shared values.
    width
        Several values per vertex, a tuple in functors: so many, of up to 48 bytes together. Each
        is combined by itself, but for a `Monoid`, which takes tuples of up to 16 bytes.
    per
        ``"vertex"``, or ``"edge"`` for a number per edge, which functors read and set at their own
        outgoing edge, as ``state.flow[edge] = 1.5``. The answer has one for each of
        ``graph.targets``.
    """

    dtype: DTypeLike
    fill: Any = None
    combine: str | Monoid | None = None
    length: int | None = None
    width: int | None = None
    per: str = "vertex"

    def __post_init__(self) -> None:
        if not isinstance(self.combine, Monoid | None) and not is_one_of(self.combine, COMBINES):
            raise OptionError(
                f"combine={self.combine!r:.60}: expected {', '.join(COMBINES)}, or a Monoid"
            )
        if isinstance(self.combine, Monoid) and self.length is not None:
            raise OptionError(
                "a Monoid combines elements of vertices; of shared values (length=) use "
                "combine='min', 'max', 'sum' or 'or'"
            )
        if not is_word(self.per, "vertex"):
            self._check_per_edge()
        for given, name in ((self.length, "length"), (self.width, "width")):
            if given is not None:
                count(given, name)
        if is_word(self.dtype, "vertex"):
            if self.width is not None:
                raise OptionError("width= is of numbers; of ids use Field(np.int64, width=...)")
            if self.fill is None:
                object.__setattr__(self, "fill", self.neutral)
            return
        dtype = _checked(self.dtype)
        if self.several:
            self._check_several(dtype)
        if self.fill is None:
            object.__setattr__(self, "fill", self.neutral)
        elif self.width is not None and np.isscalar(self.fill):
            object.__setattr__(self, "fill", (self.fill,) * self.width)
        self._check_element(self.fill, "fill")
        if self.combine == "or" and dtype.kind == "f":
            raise OptionError(f"combine='or' is of bits of integers; the field is of {dtype}")
        if isinstance(self.combine, Monoid):
            self._check_element(self.combine.identity, "identity")
            self.combine.check((self.held(self.fill).tolist(),))

    def _check_several(self, dtype: np.dtype[Any]) -> None:
        """Refuse a record, or a width, that there cannot be."""
        if self.length is not None:
            raise OptionError("shared values (length=) are single numbers: use a field for each")
        if dtype.names is not None:
            if self.width is not None:
                raise OptionError("width= is of numbers, and the field is of records")
            if self.combine is not None and not isinstance(self.combine, Monoid):
                raise OptionError(
                    f"combine={self.combine!r} is of numbers, and the field is of records: use a "
                    "Monoid"
                )
        elif self.combine == "any":
            raise OptionError(
                "combine='any' is of single numbers: use a Monoid, or leave width out"
            )
        size = self.storage.itemsize
        if size > WHOLE and (dtype.names is not None or isinstance(self.combine, Monoid)):
            raise OptionError(
                f"an element of {size} bytes: a record, or what a Monoid combines, has at most "
                f"{WHOLE}, with each value at a multiple of its own size"
            )

    def _check_per_edge(self) -> None:
        if not is_word(self.per, "edge"):
            raise OptionError(f"per={self.per!r:.60}: expected 'vertex' or 'edge'")
        if self.combine is not None:
            raise OptionError(
                "combine= is of proposals, which are for vertices; a field per edge has none"
            )
        if self.length is not None or self.several:
            raise OptionError("a field per edge has a number for each: leave length and width out")

    def _check_element(self, given: Any, what: str) -> None:
        if np.shape(held(given, self.storage, what)):
            one = "one element" if self.several else "one number"
            raise OptionError(f"{what}={given!r:.60} is not {one}")

    @cached_property
    def several(self) -> bool:
        """Whether an element is a tuple."""
        return self.width is not None or (
            self.dtype != "vertex" and np.dtype(self.dtype).names is not None
        )

    @property
    def per_vertex(self) -> bool:
        """Whether there is an element per vertex."""
        return self.length is None and self.per == "vertex"

    def places(self, vertices: int, edges: int) -> int:
        """Return how many elements there are where there are so many vertices and edges."""
        if self.length is not None:
            return self.length
        return vertices if self.per == "vertex" else edges

    @cached_property
    def storage(self) -> np.dtype[Any]:
        """The dtype in which elements are held, that of vertices being settled."""
        return storage_of(np.dtype(self.dtype), self.width)

    @cached_property
    def filling(self) -> Any:
        """What every element is at the start, as arrays hold it."""
        return self.held(self.fill)

    def held(self, element: Any) -> Any:
        """Return one element as arrays hold it."""
        return held(element, self.storage, "an element")[()]

    def constant(self, element: Any) -> Any:
        """Return one element as compiled code takes it: a NumPy number, or a tuple of these."""
        return constant(held(element, self.storage, "an element"))

    def answered(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return elements as an answer has them: records, or with a dimension for the width."""
        return answered(array, np.dtype(self.dtype), self.width)

    @property
    def neutral(self) -> Any:
        """What a copy begins with whose proposals all count: it leaves other elements as they are.

        Of use where `adds_up` is true.
        """
        if isinstance(self.combine, Monoid):
            return self.combine.identity
        return (0,) * len(self.storage.names or ()) if self.several else 0

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
    except (TypeError, ValueError) as error:
        raise OptionError(f"a field of {wanted!r:.60}: {error}") from None
    if dtype.kind == "b":
        raise OptionError("a field of bool: use np.uint8, with 0 and 1")
    if dtype.names == ():
        raise OptionError("a field of records without values")
    if dtype.names is not None:
        for name in dtype.names:
            _checked(dtype[name])
        return dtype
    if dtype.kind not in "iuf":
        raise OptionError(f"a field of dtype {dtype}: expected real numbers")
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        raise OptionError(f"a field of {dtype}: use np.float32 or np.float64")
    if not dtype.isnative:
        raise OptionError(f"a field of {dtype}, bytes swapped: use np.{dtype.newbyteorder('=')}")
    return dtype

"""The user's names of vertices: from names to positions, and back.

Names are integers, strings or other objects. Integers that follow one another, as in files that
count from 1, are two numbers and no array.

Invariant: ``labels.values[labels.position(name)] == name`` for every name.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import VertexError
from broadfront.given import is_integer
from broadfront.graph.build import index_dtype

Array = NDArray[Any]

MOST_VERTICES = 1 << 48


class Labels:
    """The names of vertices ``0 .. n - 1``."""

    first: int | None = None
    """The name of vertex 0 where names rise by one from vertex to vertex."""

    def __init__(self, values: Array) -> None:
        self.values = frozen(values)

    def __reduce__(self) -> tuple[object, ...]:
        return Labels, (self.values,)

    @property
    def kind(self) -> str:
        """``integer``, ``string`` or ``object``."""
        if self.values.dtype.kind in "iu":
            return "integer"
        if all(isinstance(value, str) for value in self.values[:100].tolist()):
            return "string"
        return "object"

    @property
    def nbytes(self) -> int:
        """Bytes held, of objects the references alone."""
        return int(self.values.nbytes)

    def of(self, positions: Array) -> Array:
        """Return the names of the vertices at these positions."""
        names: Array = self.values[positions]
        return names

    def position(self, name: object) -> int:
        """Return the vertex called `name`."""
        if self.values.dtype.kind in "iu":
            found = self._integer_position(name)
        else:
            try:
                found = self._positions.get(name, -1)
            except TypeError:
                found = -1
        if found < 0:
            ends = (self.values[0], self.values[-1]) if len(self.values) else ()
            raise unknown(name, *ends)
        return found

    @cached_property
    def _positions(self) -> dict[object, int]:
        return {value: place for place, value in enumerate(self.values.tolist())}

    @cached_property
    def _order(self) -> Array | None:
        """The positions by increasing integer; None when they increase by themselves."""
        if np.all(self.values[1:] > self.values[:-1]):
            return None
        order: Array = np.argsort(self.values)
        return order

    def _integer_position(self, name: object) -> int:
        if not is_integer(name):
            return -1
        place = int(np.searchsorted(self.values, int(name), sorter=self._order))  # type: ignore[call-overload]
        if place == len(self.values):
            return -1
        place = place if self._order is None else int(self._order[place])
        return place if self.values[place] == name else -1


class Consecutive(Labels):
    """The names ``first .. first + count - 1``, held as two numbers."""

    first: int

    def __init__(self, first: int, count: int) -> None:
        self.first, self.count = first, count

    def __reduce__(self) -> tuple[object, ...]:
        return Consecutive, (self.first, self.count)

    @property
    def values(self) -> Array:  # type: ignore[override]
        """All names, in an array made anew at every call."""
        return np.arange(self.first, self.first + self.count, dtype=self._dtype)

    @property
    def kind(self) -> str:
        """The first and the last."""
        return f"{self.first}..{self.first + self.count - 1}" if self.count else "integer"

    @property
    def nbytes(self) -> int:
        """None: there is no array."""
        return 0

    def of(self, positions: Array) -> Array:
        """Return the names of the vertices at these positions."""
        return np.add(positions, self.first, dtype=self._dtype)

    def position(self, name: object) -> int:
        """Return the vertex called `name`."""
        found = int(name) - self.first if is_integer(name) else -1  # type: ignore[call-overload]
        if not 0 <= found < self.count:
            ends = (self.first, self.first + self.count - 1) if self.count else ()
            raise unknown(name, *ends)
        return found

    @property
    def _dtype(self) -> type[np.int32] | type[np.int64]:
        return index_dtype(max(abs(self.first), abs(self.first + self.count)), 0)


def integer_labels(values: Array) -> Labels:
    """Return labels for an array of distinct integers; as `Consecutive` where they are."""
    count = len(values)
    if count and values[-1] - values[0] == count - 1 and np.all(values[1:] > values[:-1]):
        return Consecutive(int(values[0]), count)
    return Labels(values)


def unknown(name: object, *ends: object) -> VertexError:
    """Return the error for a name that no vertex has; `ends` are the first and last there are."""
    hint = f"its vertices run from {ends[0]!s} to {ends[1]!s}" if ends else "it has none at all"
    return VertexError(f"the graph has no vertex {name!r}; {hint}")


def frozen(array: Array) -> Array:
    """Return a view that cannot be written to, and let nobody write to what it looks at."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        owner.flags.writeable = False
        owner = owner.base
    return array.view()


def is_missing(name: object) -> bool:
    """Return whether a name is None, NaN or the NA of pandas."""
    try:
        return name is None or bool(name != name)
    except TypeError:  # NA is neither equal to itself nor not
        return True


def ordered(names: list[Any]) -> tuple[Array, Labels]:
    """Return for distinct names the place of each in increasing order, and the labels so."""
    order = range(len(names))
    with suppress(TypeError):
        order = sorted(order, key=names.__getitem__)  # type: ignore[assignment]
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    return place, named([names[code] for code in order])


def named(values: list[Any]) -> Labels:
    """Return labels for a list of names, as an array of integers or of objects."""
    if all(type(value) is int and abs(value) < 1 << 63 for value in values):
        return integer_labels(np.array(values, np.int64))
    return Labels(objects(values))


def objects(values: Iterable[object]) -> Array:
    """Return a one-dimensional array of Python objects, whatever they are."""
    return np.fromiter(values, object)

"""From the user's names of vertices to positions, and back.

Integers are positions ``0 .. max`` when at least half of them occur, or when the number of vertices
is given; then there are no labels at all. Sparser integers, strings and other objects are labels:
the vertices are the names that occur, in increasing order (in order of first appearance where they
cannot be compared).

Invariant: ``labels.values[labels.position(name)] == name`` for every name.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import GraphError, VertexError
from broadfront.graph.build import check_ids
from broadfront.kernel import kernel

Array = NDArray[Any]

IDS_PER_PIECE = 1 << 22


class Labels:
    """The names of vertices ``0 .. n - 1``."""

    def __init__(self, values: Array) -> None:
        self.values = values.view()
        self.values.flags.writeable = False
        self._positions: dict[object, int] | None = None

    @staticmethod
    def identity(num_vertices: int) -> Labels:
        """Return the names of vertices that are called by their position."""
        return Labels(np.arange(num_vertices))

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

    def position(self, name: object) -> int:
        """Return the vertex called `name`."""
        if self.values.dtype.kind in "iu":
            found = self._integer_position(name)
        else:
            if self._positions is None:
                self._positions = {value: place for place, value in enumerate(self.values.tolist())}
            try:
                found = self._positions.get(name, -1)
            except TypeError:
                found = -1
        if found < 0:
            raise VertexError(f"the graph has no vertex {name!r}; {self._hint()}")
        return found

    def _integer_position(self, name: object) -> int:
        if isinstance(name, bool) or not isinstance(name, (int, np.integer)):
            return -1
        place = int(np.searchsorted(self.values, int(name)))
        return place if place < len(self.values) and self.values[place] == name else -1

    def _hint(self) -> str:
        if len(self.values) == 0:
            return "it has none at all"
        return f"its vertices run from {self.values[0]!s} to {self.values[-1]!s}"


class Numbered(NamedTuple):
    """Edges by position, and the names of the positions."""

    source: Array
    target: Array
    num_vertices: int
    labels: Labels | None


def number(
    source: Array, target: Array, num_vertices: int | None = None, *, from_one: bool = False
) -> Numbered:
    """Give every vertex its position.

    `from_one` says that integers may count from 1: where of ``0 .. max`` only 0 does not occur,
    there is no vertex 0, and the others are labelled from 1.
    """
    source, target = _plain_ids("source", source), _plain_ids("target", target)
    if source.dtype.kind == "i" and target.dtype.kind == "i":
        return _number_integers(source, target, num_vertices, from_one)
    if num_vertices is not None:
        raise GraphError("num_vertices goes with integer ids; these are names")
    return _number_names(source, target)


def _plain_ids(side: str, ids: Array) -> Array:
    """Return ids as int32, int64, or an object array of names."""
    if ids.dtype in (np.int32, np.int64):
        return ids
    if ids.dtype.kind in "iub":
        if ids.dtype == np.uint64 and len(ids) and ids.max() > np.iinfo(np.int64).max:
            edge = int(np.argmax(ids))
            raise GraphError(f"edge {edge:,}: {side} {ids[edge]} is beyond 64-bit integers")
        return ids.astype(np.int64)
    if ids.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            whole = ids.astype(np.int64)
        wrong = np.flatnonzero(whole != ids)
        if len(wrong):
            edge = int(wrong[0])
            raise GraphError(f"edge {edge:,}: {side} {ids[edge]} is not a vertex id")
        return whole
    if len(ids) == 0:
        return ids.astype(np.int64)
    names = ids.astype(object)
    for edge, name in enumerate(names.tolist()):
        if name is None or name != name:
            raise GraphError(f"edge {edge:,}: {side} is missing")
    return names


def _number_integers(
    source: Array, target: Array, num_vertices: int | None, from_one: bool
) -> Numbered:
    if num_vertices is not None:
        if num_vertices < 0:
            raise GraphError(f"num_vertices={num_vertices} is negative")
        check_ids(source, target, num_vertices)
        return Numbered(source, target, num_vertices, None)
    if len(source) == 0:
        return Numbered(source, target, 0, None)
    lowest = int(min(source.min(), target.min()))
    if lowest < 0:
        check_ids(source, target, 1 << 62)
    size = int(max(source.max(), target.max())) + 1
    if size <= 4 * len(source):
        seen = np.zeros(size, np.uint8)
        for ids in (source, target):
            mark_seen(ids, seen)
        occurring = int(np.count_nonzero(seen))
        if from_one and lowest == 1 and occurring == size - 1:
            return Numbered(source - 1, target - 1, size - 1, Labels(np.arange(1, size)))
        if 2 * occurring >= size:
            return Numbered(source, target, size, None)
        values = np.flatnonzero(seen)
        places = np.cumsum(seen, dtype=np.int64) - 1
        return Numbered(places[source], places[target], len(values), Labels(values))
    values, places = np.unique(np.concatenate([source, target]), return_inverse=True)
    return Numbered(places[: len(source)], places[len(source) :], len(values), Labels(values))


def _number_names(source: Array, target: Array) -> Numbered:
    names = [*source.tolist(), *target.tolist()]
    try:
        values: list[object] = list(dict.fromkeys(names))
    except TypeError as error:
        raise GraphError(f"these cannot be names of vertices: {error}") from error
    with suppress(TypeError):
        values = sorted(values)  # type: ignore[type-var]
    positions = {name: place for place, name in enumerate(values)}
    places = np.fromiter(map(positions.__getitem__, names), np.int64, len(names))
    return Numbered(places[: len(source)], places[len(source) :], len(values), named(values))


def named(values: list[object]) -> Labels:
    """Return labels for a list of names, as an array of integers or of objects."""
    if all(type(value) is int and abs(value) < 1 << 63 for value in values):
        integers = np.array(values, np.int64)
        if np.all(integers[1:] > integers[:-1]):
            return Labels(integers)
    return Labels(objects(values))


def objects(values: Iterable[object]) -> Array:
    """Return a one-dimensional array of Python objects, whatever they are."""
    items = list(values)
    array = np.empty(len(items), object)
    for place, item in enumerate(items):
        array[place] = item
    return array


def mark_seen(ids: Array, seen: Array) -> None:
    """Set ``seen[id]`` for every id, on all threads: a race writes the same byte."""
    pieces = threads.ranges(len(ids), IDS_PER_PIECE)
    threads.run(lambda piece: _mark(ids, *pieces[piece], seen), len(pieces))


@kernel
def _mark(ids, begin, end, seen):
    for place in range(begin, end):
        seen[ids[place]] = 1

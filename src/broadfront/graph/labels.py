"""From the user's names of vertices to positions, and back.

Integers are positions ``0 .. max`` when at least half of them occur, or when the number of vertices
is given; then there are no labels at all. Sparser integers, strings and other objects are labels:
the vertices are the names that occur, in increasing order (in order of first appearance where they
cannot be compared).

Invariant: ``labels.values[labels.position(name)] == name`` for every name.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import GraphError, VertexError
from broadfront.graph.build import check_ids
from broadfront.graph.distinct import distinct
from broadfront.kernel import kernel

Array = NDArray[Any]

IDS_PER_PIECE = 1 << 22
MOST_VERTICES = 1 << 48
LARGEST_EXACT = 2**53
"""Below this a double stands for one integer alone."""


class Labels:
    """The names of vertices ``0 .. n - 1``."""

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


def is_integer(name: object) -> bool:
    """Return whether a name is an integer; True and False are none."""
    return isinstance(name, (int, np.integer)) and not isinstance(name, bool)


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


# ---------------------------------------------------------------------- numbering


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
    num_vertices = vertex_count(num_vertices)
    source, target = _plain_ids("source", source), _plain_ids("target", target)
    if source.dtype.kind == "i" and target.dtype.kind == "i":
        return _number_integers(source, target, num_vertices, from_one)
    if num_vertices is not None:
        raise GraphError("num_vertices goes with integer ids; these are names")
    return _number_names(source, target)


def vertex_count(num_vertices: int | None) -> int | None:
    """Return the number of vertices that a user gives, or refuse it."""
    if num_vertices is None:
        return None
    try:
        given = operator.index(num_vertices)
    except TypeError:
        raise GraphError(f"num_vertices={num_vertices!r} is not a whole number") from None
    if given < 0:
        raise GraphError(f"num_vertices={given} is negative")
    if given > MOST_VERTICES:
        raise GraphError(f"num_vertices={given:.3g} is more than any machine holds")
    return given


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
        wrong = np.flatnonzero((whole != ids) | (np.abs(ids) >= LARGEST_EXACT))
        if len(wrong):
            edge = int(wrong[0])
            raise GraphError(f"edge {edge:,}: {side} {ids[edge]} is not a vertex id")
        return whole
    return ids.astype(object if len(ids) else np.int64)


def _number_integers(
    source: Array, target: Array, num_vertices: int | None, from_one: bool
) -> Numbered:
    if num_vertices is not None:
        check_ids(source, target, num_vertices)
        return Numbered(source, target, num_vertices, None)
    if len(source) == 0:
        return Numbered(source, target, 0, None)
    lowest = int(min(source.min(), target.min()))
    if lowest < 0:
        check_ids(source, target, 1 << 62)
    size = int(max(source.max(), target.max())) + 1
    if size > 4 * len(source):
        return label_integers(source, target)
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


def label_integers(source: Array, target: Array) -> Numbered:
    """Give vertices that are called by integers their positions, however dense these are."""
    values, places = distinct(np.concatenate([source, target], dtype=np.int64))
    return Numbered(places[: len(source)], places[len(source) :], len(values), Labels(values))


def _number_names(source: Array, target: Array) -> Numbered:
    names = [*source.tolist(), *target.tolist()]
    codes: defaultdict[object, int] = defaultdict(count().__next__)
    try:
        first = np.fromiter(map(codes.__getitem__, names), np.int64, len(names))
    except TypeError as error:
        raise GraphError(f"these cannot be names of vertices: {error}") from error
    for name, code in codes.items():
        if is_missing(name):
            edge = int(np.argmax(first == code))
            side = "source" if edge < len(source) else "target"
            raise GraphError(f"edge {edge % len(source):,}: {side} is missing")
    place, labels = ordered(list(codes))
    places = place[first]
    return Numbered(places[: len(source)], places[len(source) :], len(codes), labels)


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
        return Labels(np.array(values, np.int64))
    return Labels(objects(values))


def objects(values: Iterable[object]) -> Array:
    """Return a one-dimensional array of Python objects, whatever they are."""
    return np.fromiter(values, object)


def mark_seen(ids: Array, seen: Array) -> None:
    """Set ``seen[id]`` for every id, on all threads: a race writes the same byte."""
    pieces = threads.ranges(len(ids), IDS_PER_PIECE)
    threads.run(lambda piece: _mark(ids, *pieces[piece], seen), len(pieces))


@kernel
def _mark(ids, begin, end, seen):
    for place in range(begin, end):
        seen[ids[place]] = 1

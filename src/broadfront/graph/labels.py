"""From the user's names of vertices to positions, and back.

Integers are positions ``0 .. max`` when at least half of them occur, or when the number of vertices
is given; then there are no labels at all. Sparser integers, strings and other objects are labels:
the vertices are the names that occur, in increasing order (in order of first appearance where they
cannot be compared). Integers that follow one another, as in files that count from 1, are two
numbers and no array.

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
from broadfront.given import is_integer
from broadfront.graph.build import Columns, check_ids, index_dtype
from broadfront.graph.distinct import distinct
from broadfront.kernel import kernel

Array = NDArray[Any]

IDS_PER_PIECE = 1 << 22
MOST_VERTICES = 1 << 48
LARGEST_EXACT = 2**53
"""Below this a double stands for one integer alone."""


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


# ---------------------------------------------------------------------- numbering


class Numbered(NamedTuple):
    """Edges by position, and the names of the positions."""

    columns: Columns
    num_vertices: int
    labels: Labels | None


def number(columns: Columns, num_vertices: int | None = None) -> Numbered:
    """Give every vertex its position."""
    num_vertices = vertex_count(num_vertices)
    ends = _plain_ids("source", columns.source), _plain_ids("target", columns.target)
    columns = Columns(*ends, columns.weight, columns.owned)
    if all(ids.dtype.kind == "i" for ids in ends):
        return _number_integers(columns, num_vertices)
    if num_vertices is not None:
        raise GraphError("num_vertices goes with integer ids; these are names")
    return _number_names(columns)


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


def _number_integers(columns: Columns, num_vertices: int | None) -> Numbered:
    if num_vertices is not None:
        check_ids(columns.source, columns.target, num_vertices)
        return Numbered(columns, num_vertices, None)
    return _by_occurrence(columns, span(columns), from_one=False, said=None)


def number_read(columns: Columns, said: int | None = None) -> Numbered:
    """Give integers from a file their positions, in place.

    A file in which of ``0 .. max`` only 0 does not occur counts from 1: there is no vertex 0, and
    the others are labelled from 1.

    `said` is a number of vertices that goes with integers of any kind: positions where all are
    below it, counted from 1 where the largest equals it and 0 does not occur, and else labels. It
    counts for nothing where more integers occur.
    """
    lowest, highest = span(columns)
    if said is not None and highest < said:
        return Numbered(columns, said, None)
    if said is not None and highest == said and lowest == 1:
        return count_from(1, said, columns)
    return _by_occurrence(columns, (lowest, highest), from_one=True, said=said)


def span(columns: Columns) -> tuple[int, int]:
    """Return the smallest and the largest id; 0 and -1 where there are none."""
    ends = columns.source, columns.target
    if len(columns) == 0:
        return 0, -1
    lowest = int(min(ids.min() for ids in ends))
    if lowest < 0:
        check_ids(*ends, 1 << 62)
    return lowest, int(max(ids.max() for ids in ends))


def _by_occurrence(
    columns: Columns, ends: tuple[int, int], from_one: bool, said: int | None
) -> Numbered:
    """Take integers for positions or for labels, by how many of those up to the largest occur."""
    lowest, size = ends[0], ends[1] + 1
    if size > 4 * len(columns):
        return label_integers(columns)
    seen = np.zeros(size, np.uint8)
    for ids in (columns.source, columns.target):
        mark_seen(ids, seen)
    occurring = int(np.count_nonzero(seen))
    if from_one and lowest == 1 and occurring == size - 1:
        return count_from(1, size - 1, columns)
    if 2 * occurring >= size and (said is None or occurring > said):
        return Numbered(columns, size, None)
    values = np.flatnonzero(seen)
    places: Array = np.cumsum(seen, dtype=index_dtype(size, 0)) - 1
    columns.source = _replaced(columns.source, places, columns.owned)
    columns.target = _replaced(columns.target, places, columns.owned)
    return Numbered(columns, len(values), Labels(values))


def label_integers(columns: Columns) -> Numbered:
    """Give vertices that are called by integers their positions, however dense these are."""
    values = distinct(columns)
    return Numbered(columns, len(values), integer_labels(values))


def count_from(first: int, num_vertices: int, columns: Columns) -> Numbered:
    """Give vertices that are called ``first .. first + num_vertices - 1`` their positions."""
    check_ids(columns.source, columns.target, num_vertices, first)
    columns.source = _less(columns.source, first, columns.owned)
    columns.target = _less(columns.target, first, columns.owned)
    return Numbered(columns, num_vertices, Consecutive(first, num_vertices))


def _number_names(columns: Columns) -> Numbered:
    edges = len(columns)
    names = [*columns.source.tolist(), *columns.target.tolist()]
    codes: defaultdict[object, int] = defaultdict(count().__next__)
    try:
        first = np.fromiter(map(codes.__getitem__, names), np.int64, len(names))
    except TypeError as error:
        raise GraphError(f"these cannot be names of vertices: {error}") from error
    for name, code in codes.items():
        if is_missing(name):
            edge = int(np.argmax(first == code))
            side = "source" if edge < edges else "target"
            raise GraphError(f"edge {edge % edges:,}: {side} is missing")
    place, labels = ordered(list(codes))
    places = place[first]
    columns = Columns(places[:edges], places[edges:], columns.weight)
    return Numbered(columns, len(codes), labels)


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


def mark_seen(ids: Array, seen: Array) -> None:
    """Set ``seen[id]`` for every id, on all threads: a race writes the same byte."""
    pieces = threads.ranges(len(ids), IDS_PER_PIECE)
    threads.run(lambda piece: _mark(ids, *pieces[piece], seen), len(pieces))


def _less(ids: Array, first: int, owned: bool) -> Array:
    """Return ids counted from `first`, which all of them reach; in place where they are owned."""
    if owned and first >= 0:
        ids -= first
        return ids
    return np.subtract(ids, first, dtype=np.int64)


def _replaced(ids: Array, places: Array, owned: bool) -> Array:
    """Return ``places[ids]``, in place where ids are owned and of the same dtype."""
    found = ids if owned and ids.dtype == places.dtype else np.empty(len(ids), places.dtype)
    pieces = threads.ranges(len(ids), IDS_PER_PIECE)
    threads.run(lambda piece: _replace(ids, *pieces[piece], places, found), len(pieces))
    return found


@kernel
def _mark(ids, begin, end, seen):
    for place in range(begin, end):
        seen[ids[place]] = 1


@kernel
def _replace(ids, begin, end, places, found):
    for place in range(begin, end):
        found[place] = places[ids[place]]

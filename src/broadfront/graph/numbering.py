"""From the user's names of vertices to positions.

Integers are positions ``0 .. max`` when at least half of them occur, or when the number of vertices
is given; then there are no labels at all. Sparser integers, strings and other objects are labels:
the vertices are the names that occur, in increasing order (in order of first appearance where they
cannot be compared).

What integers stand for is decided by a few facts about the ends of all edges (`Ends`), which are in
memory (`InMemory`) or on the disk (`broadfront.graph.external.spill`).
"""

from __future__ import annotations

import operator
from collections import defaultdict
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import GraphError
from broadfront.graph.build import Columns, check_ids, index_dtype
from broadfront.graph.distinct import distinct
from broadfront.graph.labels import (
    MOST_VERTICES,
    Consecutive,
    Labels,
    integer_labels,
    is_missing,
    ordered,
)
from broadfront.graph.size import memory
from broadfront.kernel import kernel
from broadfront.sizes import size_text

Array = NDArray[Any]

IDS_PER_PIECE = 1 << 22
BYTES_PER_VERTEX = 16
"""Of a graph that is being built: where rows begin, and how long they are."""
LARGEST_EXACT = 2**53
"""Below this a double stands for one integer alone."""


class Numbering(NamedTuple):
    """How many vertices there are, and their names."""

    num_vertices: int
    labels: Labels | None


class Numbered(NamedTuple):
    """Edges by position, and the names of the positions."""

    columns: Columns
    num_vertices: int
    labels: Labels | None


class Ends(Protocol):
    """Both ends of all edges, integers, wherever they are."""

    def __len__(self) -> int:
        """Return the number of edges."""

    def span(self) -> tuple[int, int]:
        """Return the smallest and the largest id, none negative; 0 and -1 where there are none."""

    def check(self, num_vertices: int, first: int = 0) -> None:
        """Refuse the first edge with an end outside ``first .. first + num_vertices - 1``."""

    def mark(self, seen: Array) -> None:
        """Set ``seen[id]`` for every id."""

    def lessen(self, first: int) -> None:
        """Count ids from `first`."""

    def replace(self, places: Array) -> None:
        """Put ``places[id]`` in the place of every id."""

    def distinct(self) -> Array:
        """Return the distinct ids, sorted, and put the position of each among them in its place."""


class InMemory:
    """The ends of edges in columns, which are changed where they are owned and replaced else."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns)

    def span(self) -> tuple[int, int]:
        """Return the smallest and the largest id."""
        ends = self.columns.source, self.columns.target
        if len(self) == 0:
            return 0, -1
        lowest = int(min(ids.min() for ids in ends))
        if lowest < 0:
            check_ids(*ends, 1 << 62)
        return lowest, int(max(ids.max() for ids in ends))

    def check(self, num_vertices: int, first: int = 0) -> None:
        """Refuse the first edge with an end that is no vertex."""
        check_ids(self.columns.source, self.columns.target, num_vertices, first)

    def mark(self, seen: Array) -> None:
        """Set ``seen[id]`` for every id."""
        for ids in (self.columns.source, self.columns.target):
            mark_seen(ids, seen)

    def lessen(self, first: int) -> None:
        """Count ids from `first`."""
        columns = self.columns
        columns.source = less(columns.source, first, columns.owned)
        columns.target = less(columns.target, first, columns.owned)

    def replace(self, places: Array) -> None:
        """Put ``places[id]`` in the place of every id."""
        columns = self.columns
        columns.source = replaced(columns.source, places, columns.owned)
        columns.target = replaced(columns.target, places, columns.owned)

    def distinct(self) -> Array:
        """Return the distinct ids and number them."""
        return distinct(self.columns)


def number(columns: Columns, num_vertices: int | None = None) -> Numbered:
    """Give every vertex its position."""
    num_vertices = vertex_count(num_vertices)
    ends = plain_ids("source", columns.source), plain_ids("target", columns.target)
    columns = Columns(*ends, columns.weight, columns.owned)
    if all(ids.dtype.kind == "i" for ids in ends):
        return Numbered(columns, *number_integers(InMemory(columns), num_vertices))
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
        about = f"{given:.3g}" if given < 1 << 1000 else "..."
        raise GraphError(f"num_vertices={about} is more than any machine holds")
    needed = BYTES_PER_VERTEX * given
    if needed > memory():
        raise GraphError(
            f"num_vertices={given:,} takes {size_text(needed)} without any edge, and this machine "
            f"has {size_text(memory())}"
        )
    return given


def plain_ids(side: str, ids: Array) -> Array:
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


def number_integers(ends: Ends, num_vertices: int | None) -> Numbering:
    """Give integers from a user their positions."""
    if num_vertices is not None:
        ends.check(num_vertices)
        return Numbering(num_vertices, None)
    return _by_occurrence(ends, ends.span(), from_one=False, said=None)


def number_read(ends: Ends, said: int | None = None) -> Numbering:
    """Give integers from a file their positions.

    A file in which of ``0 .. max`` only 0 does not occur counts from 1: there is no vertex 0, and
    the others are labelled from 1.

    `said` is a number of vertices that goes with integers of any kind: positions where all are
    below it, counted from 1 where the largest equals it and 0 does not occur, and else labels. It
    counts for nothing where more integers occur.
    """
    lowest, highest = ends.span()
    if said is not None and highest < said:
        return Numbering(said, None)
    if said is not None and highest == said and lowest == 1:
        return count_from(1, said, ends)
    return _by_occurrence(ends, (lowest, highest), from_one=True, said=said)


def _by_occurrence(
    ends: Ends, span: tuple[int, int], from_one: bool, said: int | None
) -> Numbering:
    """Take integers for positions or for labels, by how many of those up to the largest occur."""
    lowest, size = span[0], span[1] + 1
    if size > 4 * len(ends):
        return label_integers(ends)
    seen = np.zeros(size, np.uint8)
    ends.mark(seen)
    occurring = int(np.count_nonzero(seen))
    if from_one and lowest == 1 and occurring == size - 1:
        return count_from(1, size - 1, ends)
    if 2 * occurring >= size and (said is None or occurring > said):
        return Numbering(size, None)
    values = np.flatnonzero(seen)
    places: Array = np.cumsum(seen, dtype=index_dtype(size, 0)) - 1
    ends.replace(places)
    return Numbering(len(values), Labels(values))


def label_integers(ends: Ends) -> Numbering:
    """Give vertices that are called by integers their positions, however dense these are."""
    values = ends.distinct()
    return Numbering(len(values), integer_labels(values))


def count_from(first: int, num_vertices: int, ends: Ends) -> Numbering:
    """Give vertices that are called ``first .. first + num_vertices - 1`` their positions."""
    ends.check(num_vertices, first)
    ends.lessen(first)
    return Numbering(num_vertices, Consecutive(first, num_vertices))


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


def mark_seen(ids: Array, seen: Array) -> None:
    """Set ``seen[id]`` for every id, on all threads: a race writes the same byte."""
    pieces = threads.ranges(len(ids), IDS_PER_PIECE)
    threads.run(lambda piece: _mark(ids, *pieces[piece], seen), len(pieces))


def less(ids: Array, first: int, owned: bool) -> Array:
    """Return ids counted from `first`, which all of them reach; in place where they are owned."""
    if owned and first >= 0:
        ids -= first
        return ids
    return np.subtract(ids, first, dtype=np.int64)


def replaced(ids: Array, places: Array, owned: bool) -> Array:
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

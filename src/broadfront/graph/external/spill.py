"""Edges on the disk, block after block as they were read, and numbered as they are read again.

What the ends stand for (`broadfront.graph.numbering`) is known when all edges are there. It is not
written into them: every block gets its positions when it comes back into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import progress
from broadfront.clock import check_time
from broadfront.graph.build import Columns, check_ids
from broadfront.graph.columns import joined
from broadfront.graph.distinct import Found, ranked
from broadfront.graph.external.room import Room
from broadfront.graph.external.scratch import Scratch
from broadfront.graph.numbering import less, mark_seen, replaced

Array = NDArray[Any]

BYTES_PER_EDGE = 64
"""Of an edge that is read and numbered: both ends and a weight, twice, and what numbers them."""


class _Block(NamedTuple):
    """Where some edges are."""

    begin: int
    edges: int
    dtypes: tuple[np.dtype[Any], ...]
    """Of sources, targets and maybe weights, which follow one another."""


class Spill:
    """Edges on the disk; as `Ends` they can be numbered."""

    def __init__(self, scratch: Scratch, room: Room, weight: np.dtype[Any] | None) -> None:
        self._scratch, self._room = scratch, room
        self._weight = weight
        """The dtype of weights where there are no edges; None where edges have no weights."""
        self._blocks: list[_Block] = []
        self._edges = 0
        self._lowest, self._highest = 0, -1
        self._numbered: list[Callable[[Columns], None]] = []
        """What is done to the ends of edges that are read, one after the other."""

    def __len__(self) -> int:
        return self._edges

    @property
    def weight_dtype(self) -> np.dtype[Any] | None:
        """The dtype that holds all weights; None where edges have none."""
        if self._weight is None or not self._blocks:
            return self._weight
        return np.result_type(*{block.dtypes[2] for block in self._blocks})

    def add(self, columns: Columns) -> None:
        """Write edges, which are used up."""
        source, target, weight = columns.taken()
        if len(source) == 0:
            if weight is not None and not self._blocks:
                self._weight = weight.dtype
            return
        lowest = int(min(source.min(), target.min()))
        if lowest < 0:
            check_ids(source, target, 1 << 62, before=self._edges)
        self._lowest = min(self._lowest, lowest) if self._edges else lowest
        self._highest = max(self._highest, int(source.max()), int(target.max()))
        arrays = [source, target] if weight is None else [source, target, weight]
        begin = [self._scratch.append(array) for array in arrays][0]
        dtypes = tuple(array.dtype for array in arrays)
        self._blocks.append(_Block(begin, len(source), dtypes))
        self._edges += len(source)

    def blocks(self, stage: str, sure: int = 0, nbytes: int = BYTES_PER_EDGE) -> Iterator[Columns]:
        """Yield all edges in order, in blocks that memory has room for beside `sure` bytes."""
        dtype, done = self.weight_dtype, 0
        at, within = 0, 0
        while done < self._edges:
            check_time()
            progress.report(stage, done, self._edges)
            left = self._room.edges(nbytes, sure)
            chunks = []
            while left > 0 and at < len(self._blocks):
                length = min(left, self._blocks[at].edges - within)
                chunks.append(self._read(self._blocks[at], within, length))
                left, within, done = left - length, within + length, done + length
                if within == self._blocks[at].edges:
                    at, within = at + 1, 0
            columns = joined(chunks, dtype is not None)
            if columns.weight is not None:
                columns.weight = columns.weight.astype(dtype, copy=False)
            for number in self._numbered:
                number(columns)
            yield columns
            del columns
        progress.report(stage, self._edges, self._edges)

    def _read(self, block: _Block, first: int, edges: int) -> Columns:
        arrays: list[Array] = []
        begin = block.begin
        for dtype in block.dtypes:
            arrays.append(self._scratch.read(begin + first * dtype.itemsize, edges, dtype))
            begin += block.edges * dtype.itemsize
        weight = arrays[2] if len(arrays) > 2 else None
        return Columns(arrays[0], arrays[1], weight, owned=True)

    # ------------------------------------------------------------------ as ends

    def span(self) -> tuple[int, int]:
        """Return the smallest and the largest id."""
        return self._lowest, self._highest

    def check(self, num_vertices: int, first: int = 0) -> None:
        """Refuse the first edge with an end that is no vertex."""
        if self._edges and (self._lowest < first or self._highest >= first + num_vertices):
            before = 0
            for columns in self.blocks("checking"):
                check_ids(columns.source, columns.target, num_vertices, first, before)
                before += len(columns)

    def mark(self, seen: Array) -> None:
        """Set ``seen[id]`` for every id."""
        for columns in self.blocks("numbering"):
            mark_seen(columns.source, seen)
            mark_seen(columns.target, seen)

    def lessen(self, first: int) -> None:
        """Count ids from `first`, as blocks are read."""

        def number(columns: Columns) -> None:
            columns.source = less(columns.source, first, owned=True)
            columns.target = less(columns.target, first, owned=True)

        self._numbered.append(number)

    def replace(self, places: Array) -> None:
        """Put ``places[id]`` in the place of every id, as blocks are read."""

        def number(columns: Columns) -> None:
            columns.source = replaced(columns.source, places, owned=True)
            columns.target = replaced(columns.target, places, owned=True)

        self._numbered.append(number)

    def distinct(self) -> Array:
        """Return the distinct ids, sorted, and number them by their rank as blocks are read."""
        found = Found.none(2 * self._edges)
        for columns in self.blocks("numbering ids"):
            _, found = found.numbered(columns.source)
            _, found = found.numbered(columns.target)
        values, place = ranked(found)

        def number(columns: Columns) -> None:
            for side in ("source", "target"):
                codes, _ = found.numbered(getattr(columns, side))
                setattr(columns, side, replaced(codes, place, owned=True))

        self._numbered.append(number)
        return values

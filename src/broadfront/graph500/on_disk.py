"""Lists of edges that do not fit in memory: in files, and sorted into rows there.

The list is in files without a name, mapped (`broadfront.residence`). It is read in blocks and
sorted by `broadfront.graph.external`; the rows are such files, too. They lie in the folder for
temporary files, which the environment variable TMPDIR names, and are gone when nobody has them.

Invariant: rows are those that `broadfront.graph.build` makes in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from numpy.typing import NDArray

from broadfront import progress
from broadfront.clock import check_time
from broadfront.graph.build import Columns
from broadfront.graph.csr import Graph
from broadfront.graph.external.room import Room
from broadfront.graph.external.scratch import Scratch
from broadfront.graph.external.sort import rows_on_disk
from broadfront.graph.external.spill import BYTES_PER_EDGE
from broadfront.graph500.edges import EdgeList
from broadfront.residence import Guard

Array = NDArray[Any]
Turn = Callable[[Columns], Columns]

SHARE = 2
"""Mapped files may have one part in so many of the memory; the rest is for what is made of them."""


class Rows(NamedTuple):
    """Compressed sparse rows, mapped but for the offsets."""

    offsets: Array
    targets: Array
    weights: Array | None
    loops_kept: int


def little_of(*arrays: Array | None, limit: int | None) -> AbstractContextManager[object]:
    """Return a block in which little of mapped arrays is in memory; without a limit all may be."""
    return nullcontext() if limit is None else Guard(arrays, limit // SHARE)


def graph_on_disk(edges: EdgeList, limit: int) -> Graph:
    """Return the graph of a list, as `from_edges` makes it, but mapped."""
    rows = sorted_on_disk(edges, limit, symmetric=True)
    return Graph(
        rows.offsets, rows.targets, rows.weights, directed=False, self_loops=rows.loops_kept,
        mapped=True,
    )  # fmt: skip


def sorted_on_disk(
    edges: EdgeList, limit: int, *, symmetric: bool = False, keep: bool = False,
    turn: Turn | None = None,
) -> Rows:  # fmt: skip
    """Sort a list into rows while the process holds no more than `limit` bytes.

    `turn` is what becomes of each block of tuples before. The rest is as in `rows_from`.
    """
    room, columns = Room(limit), (edges.source, edges.target, edges.weight)
    with Guard(columns, limit // SHARE) as guard, Scratch(None) as keys, Scratch(None) as values:
        rows = rows_on_disk(
            _Blocks(edges, room, guard, turn), edges.num_vertices, room, (keys, values),
            symmetric=symmetric, drop_loops=False, keep=keep,
        )  # fmt: skip
        weights = None if rows.weights is None else rows.weights.mapped()
        return Rows(rows.offsets, rows.targets.mapped(), weights, rows.loops_kept)


class _Blocks:
    """The tuples of a list, block by block."""

    def __init__(self, edges: EdgeList, room: Room, guard: Guard, turn: Turn | None) -> None:
        self._edges, self._room, self._guard, self._turn = edges, room, guard, turn
        self.weight_dtype = None if edges.weight is None else edges.weight.dtype

    def __len__(self) -> int:
        return len(self._edges)

    def blocks(self, stage: str, sure: int = 0, nbytes: int = BYTES_PER_EDGE) -> Iterator[Columns]:
        edges, done = self._edges, 0
        while done < len(edges):
            check_time()
            progress.report(stage, done, len(edges))
            self._guard.let_go()
            end = min(len(edges), done + self._room.edges(nbytes, sure))
            columns = Columns(
                edges.source[done:end], edges.target[done:end],
                None if edges.weight is None else edges.weight[done:end],
            )  # fmt: skip
            yield columns if self._turn is None else self._turn(columns)
            done = end

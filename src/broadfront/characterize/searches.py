"""The searches of Graph500, and what they do to memory by a stated model.

Their kernels count nothing, so that they stay as small as they are. What is told here follows from
the answer, exactly: every element that the source of a kernel names is read or written once each
time that its line is reached, and levels, arcs and hits are counted in the tree that was found.

    reached    vertices of the tree           arcs    arcs that leave them
    hits       arcs from a level to the next  levels  how many there are
    passes     of the blocks over the file    size    bytes of the number of a vertex

Invariant: no number depends on time, or on which of several parents was chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import threads
from broadfront.clock import Clock
from broadfront.graph.csr import Graph
from broadfront.graph500.edges import EdgeList
from broadfront.graph500.implementations import IMPLEMENTATIONS, OWN, Implementation, Tree
from broadfront.graph500.implementations.visits import VISITS_PER_CALL
from broadfront.graph500.implementations.wavefront import VERTICES_PER_PIECE
from broadfront.graph500.index import EdgeIndex
from broadfront.graph500.validate import check_levels

SEARCHES = {name: one for name, one in IMPLEMENTATIONS.items() if name != OWN}
APART = -3
"""A level that is above none."""
DEPTH, OFFSET, MARK = 4, 8, 1
"""Bytes of a depth, an offset and a mark."""


class Counts(NamedTuple):
    """What a search does, by the model."""

    barriers: int
    kernel_calls: int
    bytes_read: int
    bytes_written: int


class Shape(NamedTuple):
    """What the counts of a search follow from."""

    vertices: int
    edges: int
    size: int
    reached: int
    arcs: int
    hits: int
    levels: int
    chunks: int
    """Calls of a queue that goes level by level."""
    passes: int


class Searched(NamedTuple):
    """A search that was run and validated."""

    build_seconds: float
    search_seconds: tuple[float, ...]
    validate_seconds: float
    edges_reached: int
    counts: Counts
    memory_bytes: int
    iterations: int
    edges_visited: int


def run(
    one: Implementation, graph: Graph, edges: EdgeList, index: EdgeIndex, root: int, repeats: int
) -> Searched:
    """Build, search a few times, validate, and count."""
    one.build(edges)  # compiles, and warms up
    clock = Clock()
    structure = one.build(edges)
    building = clock.seconds
    counted = _Passes(structure) if hasattr(structure, "blocks") else structure
    tree = one.search(counted, root)
    trials = []
    for _ in range(repeats):
        clock = Clock()
        tree = one.search(structure, root)
        trials.append(clock.seconds)
    clock = Clock()
    reached = check_levels(index, root, *tree)
    validating = clock.seconds
    shape = _shape(graph, len(edges), tree, getattr(counted, "passes", 0))
    counts = MODELS[one.name](shape)
    beside = sum(column.nbytes for column in tree)
    return Searched(
        building, tuple(trials), validating, reached, counts, _bytes_of(structure) + beside,
        shape.passes or shape.levels, 2 * shape.edges * shape.passes or shape.arcs,
    )  # fmt: skip


class _Passes:
    """The file of edges, and how often it was gone through."""

    def __init__(self, file: Any) -> None:
        self._file, self.passes = file, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def blocks(self) -> Any:
        self.passes += 1
        return self._file.blocks()


def _shape(graph: Graph, edges: int, tree: Tree, passes: int) -> Shape:
    depth = tree.depth
    reached = depth >= 0
    sizes = np.bincount(depth[reached])
    degrees = graph.degrees
    hits = 0
    if passes == 0:
        above = np.repeat(np.where(reached, depth, APART), degrees)
        hits = int(np.count_nonzero(above + 1 == depth[graph.targets]))
    chunks = int((-(-sizes // VISITS_PER_CALL)).sum())
    return Shape(
        graph.num_vertices, edges, tree.parent.itemsize, int(reached.sum()),
        int(degrees[reached].sum()), hits, len(sizes), chunks, passes,
    )  # fmt: skip


def _bytes_of(structure: Any) -> int:
    """Return the memory of what kernel 1 has built."""
    parts = structure if isinstance(structure, tuple) else vars(structure).values()
    return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))


# ---------------------------------------------------------------------- the model


def _queued(shape: Shape, read_by_vertex: int, read_by_arc: int) -> Counts:
    """Return the counts of a search by a queue: the new get a parent, a depth and a place."""
    new = shape.reached - 1
    read = shape.reached * (shape.size + read_by_vertex) + shape.arcs * read_by_arc + new * DEPTH
    return Counts(0, shape.chunks, read, new * (2 * shape.size + DEPTH))


def _list(shape: Shape) -> Counts:
    """Heads of vertices; of each place the neighbour, its parent and the next place."""
    return _queued(shape, shape.size, 3 * shape.size)


def _csr(shape: Shape) -> Counts:
    """Two offsets of a vertex; of each arc the neighbour and its parent."""
    return _queued(shape, 2 * OFFSET, 2 * shape.size)


def _wavefront(shape: Shape) -> Counts:
    """Two sweeps over all marks in each level, and a hit whenever the front sees someone new."""
    new, sweeps = shape.reached - 1, 2 * shape.levels
    read = sweeps * shape.vertices * MARK + shape.reached * 2 * OFFSET
    read += shape.arcs * (shape.size + MARK)
    written = shape.hits * (shape.size + MARK) + shape.reached * MARK + new * (3 * MARK + DEPTH)
    pieces = max(threads.count(), -(-shape.vertices // VERTICES_PER_PIECE))
    return Counts(sweeps, sweeps * min(pieces, shape.vertices), read, written)


def _out_of_core(shape: Shape) -> Counts:
    """Both ends of every edge and their depths in each pass; each of the new is written once.

    Depths that were set more than once are not counted, so what is written is the least.
    """
    read = shape.passes * shape.edges * 2 * (shape.size + DEPTH)
    return Counts(0, shape.passes, read, (shape.reached - 1) * (shape.size + DEPTH))


def _linear_algebra(shape: Shape) -> Counts:
    """For each row of squares the whole front; a hit reads the product twice and writes it."""
    new, rows = shape.reached - 1, min(2 * threads.count(), max(1, shape.vertices))
    read = rows * shape.reached * (shape.size + 2 * OFFSET) + shape.arcs * 2 * shape.size
    read += (2 * shape.hits + 2 * new) * shape.size
    written = (shape.hits + 2 * new) * shape.size + new * DEPTH
    return Counts(shape.levels, shape.levels * rows, read, written)


MODELS: dict[str, Callable[[Shape], Counts]] = {
    "list": _list, "csr": _csr, "wavefront": _wavefront, "out-of-core": _out_of_core,
    "linear-algebra": _linear_algebra,
}  # fmt: skip

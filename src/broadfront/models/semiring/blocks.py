"""A product in blocks: the matrix cut into rows and columns of blocks, two dimensions.

A block needs only the elements of the vector that belong to its rows, and adds only to the elements
of the product that belong to its columns. So blocks of different columns are multiplied at the same
time, each by threads of its own; those of the same columns one after the other, each adding to what
the one before has left.

Invariant: no two runs at the same time change the same element.

References
----------
Buluç, Madduri: Parallel breadth-first search on distributed memory systems (SC 2011).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import OptionError
from broadfront.given import count
from broadfront.graph.csr import Graph
from broadfront.models.semiring.vector import Vector, known

if TYPE_CHECKING:
    from broadfront.models.semiring.product import Product

Array = NDArray[Any]


def in_blocks(product: Product, vector: Vector | Array, shape: Any) -> Vector | Array:
    """Return a product, made block by block; `shape` is how many there are, down and across."""
    down, across = _shape(shape)
    size = product.graph.num_vertices
    if not product.left:  # what is cut is the matrix that has the vector on its left
        down, across = across, down
    grid = _grid(product.graph, product.left, down, across)
    starts, ends = _cuts(size, down), _cuts(size, across)
    if product.into is None:
        product = copy(product)
        values = vector.values if isinstance(vector, Vector) else vector
        dtype = np.dtype(product.kind(values.dtype).product)
        product.into = np.full(size, product.ring.zero(dtype), dtype)
    into = product.into
    if "threads" not in product.options and "devices" not in product.options:
        each = max(1, threads.count() // across)
        product.options = {**product.options, "threads": each}

    def column(place: int) -> NDArray[np.int64]:
        """Multiply all blocks of some columns; return which elements changed."""
        here = copy(product)
        here.along, here.into = "out", into.copy()
        found = [np.empty(0, np.int64)]
        for row, block in enumerate(grid[place::across]):
            here.graph = block
            piece = _piece(vector, starts[row], starts[row + 1])
            if piece is not None:
                found.append(here.sparse(piece).indices)
        ours = slice(ends[place], ends[place + 1])
        into[ours] = here.into[ours]
        return np.unique(np.concatenate(found))

    changed = np.concatenate(_at_once(column, across))
    return known(size, changed, into[changed]) if isinstance(vector, Vector) else into


def _piece(vector: Vector | Array, first: int, last: int) -> Vector | None:
    """Return the elements of the vector that belong to some rows; None if there are none."""
    if isinstance(vector, Vector):
        begin, end = np.searchsorted(vector.indices, (first, last))
        indices, values = vector.indices[begin:end], vector.values[begin:end]
        return known(vector.size, indices, values) if begin < end else None
    indices = np.arange(first, last)
    return known(len(vector), indices, vector[first:last]) if len(indices) else None


def _at_once(task: Callable[[int], Any], pieces: int) -> list[Any]:
    if pieces == 1:
        return [task(0)]
    with ThreadPoolExecutor(min(pieces, threads.count())) as pool:
        return list(pool.map(task, range(pieces)))


def _shape(shape: Any) -> tuple[int, int]:
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise OptionError(f"blocks={shape!r:.60}: expected how many down and across, as (2, 2)")
    down, across = (count(each, "blocks") for each in shape)
    return down, across


def _cuts(size: int, pieces: int) -> list[int]:
    return [size * piece // pieces for piece in range(pieces + 1)]


def _grid(graph: Graph, left: bool, down: int, across: int) -> tuple[Graph, ...]:
    """Return the blocks, row by row, cut on first need and kept with the graph."""
    whole = graph if left or not graph.directed else graph.transpose
    name = f"blocks {down} x {across}" + ("" if left else ", turned")
    grid: tuple[Graph, ...] = graph.kept(name, lambda: _cut(whole, down, across))[: down * across]
    return grid


def _cut(graph: Graph, down: int, across: int) -> tuple[Any, ...]:
    """Return the blocks of a matrix, and then their arrays, which count as memory of the graph."""
    size = graph.num_vertices
    sources, targets, weights = graph.sources(), graph.targets, graph.weights
    row = np.searchsorted(_cuts(size, down)[1:], sources, side="right")
    number = row * across + np.searchsorted(_cuts(size, across)[1:], targets, side="right")
    blocks, arrays = [], []
    for block in range(down * across):
        inside = np.flatnonzero(number == block)
        rows = np.bincount(sources[inside], minlength=size)
        offsets = np.concatenate(([0], np.cumsum(rows))).astype(graph.offsets.dtype)
        kept = [offsets, targets[inside], *([] if weights is None else [weights[inside]])]
        loops = int(np.count_nonzero(sources[inside] == targets[inside]))
        blocks.append(Graph(
            kept[0], kept[1], kept[2] if len(kept) > 2 else None, directed=True, self_loops=loops,
            parallel=graph.has_parallel_edges,
        ))  # fmt: skip
        arrays += kept
    return (*blocks, *arrays)

"""Graphs of random points in the unit square: near points joined, or triangulated.

Method: the square is cut into cells no narrower than the radius and points are numbered cell by
cell, so that all candidates of a point are two runs of consecutive numbers: the rest of its cell
with the next one, and three cells of the row above. Every pair is looked at from its smaller end.

Invariant: point ``i`` before numbering depends on the seed and ``i`` alone.

References
----------
Penrose: Random Geometric Graphs (2003). Barber, Dobkin, Huhdanpaa: Quickhull (1996), in SciPy.
"""

from __future__ import annotations

from math import isqrt, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import OptionError
from broadfront.graph.build import index_dtype, rows
from broadfront.graph.generate.random import key, unit
from broadfront.graph.generate.registry import Edges, gathered, generator
from broadfront.graph.size import affordable, power_of_two
from broadfront.kernel import kernel

Array = NDArray[Any]

POINTS_PER_PIECE = 1 << 16
DELAUNAY_BYTES_PER_POINT = 1000  # SciPy took 807 at scale 18


class Points(NamedTuple):
    """Points in cell order; cell ``c`` holds ``starts[c] .. starts[c + 1] - 1``."""

    x: Array
    y: Array
    side: int
    starts: Array


@generator
def rgg(scale: int, radius_factor: float = 0.55, *, seed: int = 0) -> Edges:
    """Random points in a square, joined when near, 2**SCALE vertices.

    Parameters
    ----------
    scale
        The graph has ``2 ** scale`` vertices.
    radius_factor
        Points at most ``radius_factor * sqrt(ln n / n)`` apart are joined.
    seed
        Another seed, another graph.

    Examples
    --------
    >>> rgg(10)
    Graph(undirected, 1,024 vertices, 3,287 edges, degree 0..20 mean 6.4, 29.7 KiB)
    """
    num_vertices = power_of_two(scale)
    if not 0 <= radius_factor < float("inf"):
        raise OptionError(f"radius_factor={radius_factor} is not a length")
    radius = min(radius_factor * sqrt(log(num_vertices) / num_vertices), 2.0)
    near = min(1.0, 3.2 * radius * radius)
    affordable(num_vertices, int(near * num_vertices * num_vertices / 2), 64)
    # A little wider than the radius, so that rounding never puts two cells between near points.
    side = max(1, min(isqrt(num_vertices), int(0.999 / radius) if radius > 0 else 1))
    points = scattered(num_vertices, side, seed)

    def emit(begin: int, end: int, source: Array, target: Array, slot: int) -> int:
        return _join(points, radius * radius, begin, end, source, target, slot)  # type: ignore[no-any-return]

    return gathered(emit, num_vertices, POINTS_PER_PIECE)


@generator
def delaunay(scale: int, *, seed: int = 0) -> Edges:
    """Delaunay triangulation of random points in a square, 2**SCALE vertices.

    Parameters
    ----------
    scale
        The graph has ``2 ** scale`` vertices.
    seed
        Another seed, another graph.

    Examples
    --------
    >>> delaunay(10).degrees.mean().round(1)
    np.float64(6.0)
    """
    num_vertices = power_of_two(scale)
    affordable(num_vertices, 3 * num_vertices, DELAUNAY_BYTES_PER_POINT)
    index = index_dtype(num_vertices, 0)
    if num_vertices < 3:
        return Edges(np.zeros(scale, index), np.ones(scale, index), num_vertices)
    from scipy.spatial import Delaunay

    points = scattered(num_vertices, isqrt(num_vertices), seed)
    starts, neighbours = Delaunay(np.column_stack(points[:2])).vertex_neighbor_vertices
    source = np.repeat(np.arange(num_vertices, dtype=index), np.diff(starts))
    once = source < neighbours
    return Edges(source[once], neighbours[once].astype(index), num_vertices)


def scattered(num_points: int, side: int, seed: int) -> Points:
    """Return random points in the order of `side` by `side` cells."""
    stream = key(seed, "points")
    index = index_dtype(max(num_points, side * side), 0)
    cells, names = np.empty(num_points, index), np.arange(num_points, dtype=index)
    pieces = threads.ranges(num_points, POINTS_PER_PIECE)
    threads.run(
        lambda piece: _find_cells(stream, side, *pieces[piece], cells),
        len(pieces), "placing points",
    )  # fmt: skip
    sorted_cells = rows(cells, names, None, max(num_points, side * side))
    x, y = np.empty(num_points), np.empty(num_points)
    threads.run(
        lambda piece: _place(stream, sorted_cells.targets, *pieces[piece], x, y),
        len(pieces), "placing points",
    )  # fmt: skip
    return Points(x, y, side, sorted_cells.offsets[: side * side + 1])


@kernel
def _find_cells(stream, side, begin, end, cells):
    for point in range(begin, end):
        column = np.int64(unit(stream, 2 * point) * side)
        row = np.int64(unit(stream, 2 * point + 1) * side)
        cells[point] = row * side + column


@kernel
def _place(stream, names, begin, end, x, y):
    for place in range(begin, end):
        name = np.int64(names[place])
        x[place] = unit(stream, 2 * name)
        y[place] = unit(stream, 2 * name + 1)


@kernel
def _join(points, reach, begin, end, source, target, slot):
    x, y, side, starts = points
    for point in range(begin, end):
        row = np.int64(y[point] * side)
        west = row * side + max(np.int64(x[point] * side) - 1, 0)
        east = row * side + min(np.int64(x[point] * side) + 1, side - 1)
        slot = _join_run(x, y, reach, point, point + 1, starts[east + 1], source, target, slot)
        if row < side - 1:
            first, last = starts[west + side], starts[east + side + 1]
            slot = _join_run(x, y, reach, point, first, last, source, target, slot)
    return slot


@kernel
def _join_run(x, y, reach, point, first, last, source, target, slot):
    for other in range(first, last):
        across = x[other] - x[point]
        up = y[other] - y[point]
        if across * across + up * up <= reach:
            if len(source) > 0:
                source[slot] = point
                target[slot] = other
            slot += 1
    return slot

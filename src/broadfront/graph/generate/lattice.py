"""Square lattices with a share of the edges missing: few neighbours, long ways, like roads.

Vertex ``row * width + column`` is joined to the next one in its row and to the one below. An edge
is missing when the random number at its position says so.

Invariant: whether an edge is there depends on the seed and on the edge alone.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from broadfront.graph.generate.random import key, unit
from broadfront.graph.generate.registry import Edges, Side, gathered, generator
from broadfront.graph.size import affordable, at_least, share
from broadfront.kernel import kernel

VERTICES_PER_PIECE = 1 << 20


@generator
def grid(width: Side, height: Side, removed: float = 0.1, *, seed: int = 0) -> Edges:
    """Lattice of WIDTH by HEIGHT vertices with a share of edges removed.

    Parameters
    ----------
    width, height
        Vertices per row, and rows.
    removed
        The probability of each edge to be missing; 0 is the full lattice.
    seed
        Another seed, another graph.

    Examples
    --------
    >>> grid(3, 2, removed=0).num_edges
    7
    """
    at_least(0, width=width, height=height)
    share(removed=removed)
    affordable(width * height, 2 * width * height)
    stream = key(seed, "lattice edges")

    def emit(begin: int, end: int, source: NDArray[Any], target: NDArray[Any], slot: int) -> int:
        return _lay(stream, width, height, float(removed), begin, end, source, target, slot)  # type: ignore[no-any-return]

    return gathered(emit, width * height, VERTICES_PER_PIECE)


@kernel
def _lay(stream, width, height, removed, begin, end, source, target, slot):
    for vertex in range(begin, end):
        if vertex % width < width - 1 and unit(stream, 2 * vertex) >= removed:
            if len(source) > 0:
                source[slot] = vertex
                target[slot] = vertex + 1
            slot += 1
        if vertex < width * (height - 1) and unit(stream, 2 * vertex + 1) >= removed:
            if len(source) > 0:
                source[slot] = vertex
                target[slot] = vertex + width
            slot += 1
    return slot

"""Uniform random graphs: both ends of every edge are drawn from all vertices alike.

Invariant: edge ``i`` depends on the seed and ``i`` alone.

References
----------
Erdős, Rényi: On random graphs I (1959); here edges are drawn with replacement, then merged.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.generate.random import key, word
from broadfront.graph.generate.registry import Edges, filled, generator
from broadfront.graph.size import affordable, at_least, power_of_two
from broadfront.kernel import kernel

EDGES_PER_PIECE = 1 << 21


@generator
def uniform(scale: int, edge_factor: int = 16, *, seed: int = 0) -> Edges:
    """Random edges between 2**SCALE vertices, all pairs alike.

    Parameters
    ----------
    scale
        The graph has ``2 ** scale`` vertices.
    edge_factor
        Edges drawn per vertex; duplicates among them are merged.
    seed
        Another seed, another graph.

    Examples
    --------
    >>> uniform(10, 4).num_vertices
    1024
    """
    num_vertices = power_of_two(scale)
    at_least(0, edge_factor=edge_factor)
    affordable(num_vertices, num_vertices * edge_factor)
    stream = key(seed, "uniform edges")

    def write(begin: int, end: int, source: NDArray[Any], target: NDArray[Any]) -> None:
        _draw(stream, num_vertices - 1, begin, end, source, target)

    return filled(write, num_vertices * edge_factor, num_vertices, EDGES_PER_PIECE)


@kernel
def _draw(stream, mask, begin, end, source, target):
    for edge in range(begin, end):
        source[edge] = word(stream, 2 * edge) & np.uint64(mask)
        target[edge] = word(stream, 2 * edge + 1) & np.uint64(mask)

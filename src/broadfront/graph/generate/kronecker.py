"""Kronecker graphs: few vertices with very many edges, many with few.

Every edge falls through `scale` levels of a matrix split in four, and picks a quarter at each with
probabilities a, b, c and the rest. Method: five levels at a time are one draw out of 1024 outcomes
by an alias table, which takes 32 random bits and one look-up; surplus levels of the last draw are
dropped, which leaves the others' distribution as it is. Vertex numbers are permuted on the fly.

Invariant: edge ``i`` depends on the parameters, the seed and ``i`` alone.

References
----------
Chakrabarti, Zhan, Faloutsos: R-MAT, a recursive model for graph mining (SDM 2004).
Graph500 benchmark specification 3.0, for the parameters of `kron`.
Vose: A linear algorithm for generating random numbers with a given distribution (1991).
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.graph.generate.random import key, permutation, permuted, word
from broadfront.graph.generate.registry import Edges, NewArray, filled, generator
from broadfront.graph.size import affordable, at_least, power_of_two
from broadfront.kernel import kernel

LEVELS = 5
OUTCOMES = 1 << 2 * LEVELS
THRESHOLD_BITS = 32 - 2 * LEVELS
EDGES_PER_PIECE = 1 << 20


@generator
def kron(scale: int, edge_factor: int = 16, *, seed: int = 0) -> Edges:
    """Kronecker graph with the parameters of Graph500, 2**SCALE vertices.

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
    >>> kron(10)
    Graph(undirected, 1,024 vertices, 10,693 edges, degree 0..463 mean 20.9, 87.4 KiB)
    """
    return draw_kron(scale, edge_factor, seed)


def draw_kron(scale: int, edge_factor: int, seed: int, array: NewArray = np.empty) -> Edges:
    """Return the edges of `kron`, in arrays that ``array(length, dtype)`` makes."""
    return _recursive(scale, edge_factor, (0.57, 0.19, 0.19), True, seed, array)


@generator
def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    directed: bool = False,
    permuted: bool = True,
    seed: int = 0,
) -> Edges:
    """Kronecker graph with free parameters, 2**SCALE vertices.

    Parameters
    ----------
    scale
        The graph has ``2 ** scale`` vertices.
    edge_factor
        Edges drawn per vertex; duplicates among them are merged.
    a, b, c
        Probabilities of the upper left, upper right and lower left quarter of the matrix.
    directed
        Keep the edges' direction.
    permuted
        Number the vertices at random; otherwise vertex 0 is the busiest.
    seed
        Another seed, another graph.

    Examples
    --------
    >>> rmat(10, 8, a=0.45, b=0.22, c=0.22, directed=True).directed
    True
    """
    edges = _recursive(scale, edge_factor, (a, b, c), permuted, seed)
    return edges._replace(directed=directed)


def _recursive(
    scale: int, edge_factor: int, quarters: tuple[float, float, float], shuffle: bool, seed: int,
    array: NewArray = np.empty,
) -> Edges:  # fmt: skip
    num_vertices = power_of_two(scale)
    at_least(0, edge_factor=edge_factor)
    if array is np.empty:
        affordable(num_vertices, num_vertices * edge_factor)
    table = alias_table(*quarters)
    stream = key(seed, "kronecker edges")
    order = permutation(num_vertices, seed, "kronecker vertices")

    def write(begin: int, end: int, source: NDArray[Any], target: NDArray[Any]) -> None:
        _draw(stream, scale, table, shuffle, order, begin, end, source, target)

    return filled(write, num_vertices * edge_factor, num_vertices, EDGES_PER_PIECE, array)


def alias_table(a: float, b: float, c: float) -> NDArray[np.uint32]:
    """Return the alias table of `LEVELS` levels: a threshold and the other outcome per entry.

    An outcome is `LEVELS` bits of the row above `LEVELS` bits of the column.
    """
    rest = 1 - a - b - c
    if not (min(a, b, c) >= 0 and rest >= -1e-9):
        raise OptionError(f"a={a}, b={b}, c={c} are not probabilities with a sum of at most 1")
    level = np.array([[a, b], [c, max(rest, 0.0)]])
    chances = (reduce(np.kron, [level] * LEVELS) / level.sum() ** LEVELS * OUTCOMES).ravel()
    small = [outcome for outcome in range(OUTCOMES) if chances[outcome] < 1]
    large = [outcome for outcome in range(OUTCOMES) if chances[outcome] >= 1]
    table = np.arange(OUTCOMES, dtype=np.uint32)
    while small and large:
        outcome, other = small.pop(), large[-1]
        threshold = min(round(chances[outcome] * (1 << THRESHOLD_BITS)), (1 << THRESHOLD_BITS) - 1)
        table[outcome] = threshold << 2 * LEVELS | other
        chances[other] -= 1 - chances[outcome]
        if chances[other] < 1:
            small.append(large.pop())
    return table


@kernel
def _outcome(bits, table):
    drawn = bits & np.uint64(OUTCOMES - 1)
    entry = np.uint64(table[drawn])
    # The lower bits on both sides settle ties alone, which is an error of 2**-32.
    return (drawn if bits < entry else entry) & np.uint64(OUTCOMES - 1)


@kernel
def _draw(stream, scale, table, shuffle, order, begin, end, source, target):
    words = (scale + 2 * LEVELS - 1) // (2 * LEVELS)
    levels = np.uint64(LEVELS)
    half = np.uint64((1 << LEVELS) - 1)
    low = np.uint64((1 << 32) - 1)
    for edge in range(begin, end):
        row = np.uint64(0)
        column = np.uint64(0)
        for turn in range(words):
            bits = word(stream, edge * words + turn)
            first = _outcome(bits & low, table)
            second = _outcome(bits >> np.uint64(32), table)
            row = (row << levels | first >> levels) << levels | second >> levels
            column = (column << levels | first & half) << levels | second & half
        row &= order.mask
        column &= order.mask
        if shuffle:
            row = permuted(row, order)
            column = permuted(column, order)
        source[edge] = row
        target[edge] = column

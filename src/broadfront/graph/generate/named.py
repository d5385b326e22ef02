"""Small graphs that everyone knows by name.

Numbered as NetworkX numbers them; `star` counts all its vertices, the centre included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.graph.build import index_dtype
from broadfront.graph.generate.registry import Edges, generator
from broadfront.graph.size import LARGEST, affordable, at_least

Array = NDArray[Any]


@generator
def path(n: int) -> Edges:
    """N vertices in a row.

    Examples
    --------
    >>> path(4).num_edges
    3
    """
    at_least(0, n=n)
    affordable(n, n)
    ids = np.arange(n, dtype=index_dtype(n, 0))
    return Edges(ids[:-1], ids[1:], n)


@generator
def cycle(n: int) -> Edges:
    """N vertices in a ring; one vertex is a ring with itself.

    Examples
    --------
    >>> cycle(4).num_edges
    4
    """
    at_least(0, n=n)
    affordable(n, n)
    ids = np.arange(n, dtype=index_dtype(n, 0))
    return Edges(ids, np.roll(ids, -1), n)


@generator
def star(n: int) -> Edges:
    """Vertex 0 joined to N - 1 others.

    Examples
    --------
    >>> star(4).degrees
    array([3, 1, 1, 1], dtype=int32)
    """
    at_least(0, n=n)
    affordable(n, n)
    others = np.arange(1, max(n, 1), dtype=index_dtype(n, 0))
    return Edges(np.zeros_like(others), others, n)


@generator
def tree(branching: int, depth: int) -> Edges:
    """Tree in which every vertex above DEPTH has BRANCHING children.

    Examples
    --------
    >>> tree(2, 2).degrees
    array([2, 3, 3, 1, 1, 1, 1], dtype=int32)
    """
    at_least(1, branching=branching)
    at_least(0, depth=depth)
    if branching == 1:
        n = depth + 1
    elif depth * (branching.bit_length() - 1) > LARGEST.bit_length():
        raise OptionError(f"depth={depth} is more vertices than any memory holds")
    else:
        n = (branching ** (depth + 1) - 1) // (branching - 1)
    affordable(n, n)
    children = np.arange(1, n, dtype=index_dtype(n, 0))
    return Edges((children - 1) // branching, children, n)


@generator
def complete(n: int) -> Edges:
    """N vertices, every two of them joined.

    Examples
    --------
    >>> complete(4).num_edges
    6
    """
    at_least(0, n=n)
    affordable(n, n * n // 2)
    source, target = all_pairs(n)
    return Edges(source, target, n)


def all_pairs(n: int) -> tuple[Array, Array]:
    """Return every pair of different vertices once, the smaller first."""
    ids: Array = np.arange(n, dtype=index_dtype(n, 0))
    source = np.repeat(ids, ids[::-1])
    target = np.concatenate([ids[vertex + 1 :] for vertex in range(n)] or [ids])
    return source, target

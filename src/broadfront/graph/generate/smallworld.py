"""Small-world graphs: a ring of near neighbours with a share of its edges rewired.

Method: every edge of the ring keeps its source and, with probability p, gets a random target;
rewired edges that fall on another edge are drawn again. Near a complete graph there may be no
free place left for some; these merge with the edge they fell on.

Invariant: an edge that was not rewired is never moved or lost.

References
----------
Watts, Strogatz: Collective dynamics of 'small-world' networks (Nature, 1998).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.graph.generate.random import below, key, unit, words
from broadfront.graph.generate.registry import Edges, filled, generator
from broadfront.graph.generate.repeats import pair_keys, repeated
from broadfront.graph.size import affordable, at_least, share
from broadfront.kernel import kernel

Array = NDArray[Any]

EDGES_PER_PIECE = 1 << 20
MOST_ROUNDS = 200


@generator
def smallworld(n: int, k: int, p: float, *, seed: int = 0) -> Edges:
    """Ring of N vertices joined to K nearest ones, a share P of edges rewired.

    Parameters
    ----------
    n
        The number of vertices.
    k
        Neighbours of each vertex on the ring, half of them on either side: even, and below `n`.
    p
        The probability of each edge to get a random target.
    seed
        Another seed, another graph.

    Examples
    --------
    >>> smallworld(100, 4, 0.1).num_edges
    200
    """
    at_least(0, n=n, k=k)
    share(p=p)
    if k % 2 or k >= max(n, 1):
        raise OptionError(f"k={k} is not an even number below n={n}")
    affordable(n, n * k // 2, 32 + 24 * k)
    shortcut, goal = key(seed, "smallworld rewired"), key(seed, "smallworld targets")

    def write(begin: int, end: int, source: Array, target: Array) -> None:
        _wire(n, k // 2, float(p), shortcut, goal, begin, end, source, target)

    edges = filled(write, n * k // 2, n, EDGES_PER_PIECE)
    _redraw(edges, k // 2, seed)
    return edges


def _redraw(edges: Edges, half: int, seed: int) -> None:
    """Give rewired edges that fell on another edge new targets."""
    source, target, n, _ = edges
    hop = np.arange(len(source)) % max(half, 1) + 1
    on_ring = target == (source + hop) % max(n, 1)
    order = np.concatenate([np.flatnonzero(on_ring), np.flatnonzero(~on_ring)])
    if on_ring.all():
        return
    for turn in range(MOST_ROUNDS):
        wrong = order[repeated(pair_keys(source, target, n)[order])]
        if len(wrong) == 0:
            return
        draws = words(len(wrong), seed, f"smallworld again {turn}") % np.uint64(n - 1)
        target[wrong] = (source[wrong] + 1 + draws.astype(np.int64)) % n


@kernel
def _wire(n, half, p, shortcut, goal, begin, end, source, target):
    for edge in range(begin, end):
        vertex = edge // half
        hop = edge % half + 1
        if unit(shortcut, edge) < p:
            hop = 1 + below(goal, edge, n - 1)
        source[edge] = vertex
        target[edge] = (vertex + hop) % n

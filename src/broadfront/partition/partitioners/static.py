"""`static`: vertex v goes to part ``v mod n``; with speeds, a pattern in proportion is repeated.

The pattern holds each part as often as its share says, evenly spread: the k-th of a part's turns
stands at ``(k + 1/2) / turns``, and all are sorted by that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.csr import Graph
from broadfront.partition.wish import Wish

BLOCK = 1 << 16  # what is repeated, so that repeating copies and does not loop
TURNS = 1 << 12
"""The length of the pattern where the shares are in no small proportion."""


def static(graph: Graph, wish: Wish) -> NDArray[Any]:
    """Return owners in turn."""
    pattern = _pattern(wish)
    block = np.tile(pattern, -(-BLOCK // len(pattern)))
    return np.resize(block, graph.num_vertices)


def _pattern(wish: Wish) -> NDArray[Any]:
    turns = _turns(wish.shares)
    parts = np.repeat(np.arange(wish.count, dtype=wish.dtype), turns)
    first = np.repeat(np.cumsum(turns) - turns, turns)
    places = (np.arange(len(parts)) - first + 0.5) / np.repeat(turns, turns)
    return parts[np.argsort(places, kind="stable")]


def _turns(shares: NDArray[np.float64]) -> NDArray[Any]:
    """Return small numbers in proportion to the shares, or else as close as TURNS allow."""
    turns: NDArray[Any]
    for smallest in range(1, 9):
        turns = shares * (smallest / shares.min())
        if np.allclose(turns, np.rint(turns), rtol=1e-9) and turns.sum() <= TURNS:
            turns = np.rint(turns).astype(np.int64)
            return turns
    ends = np.rint(np.cumsum(shares) * max(TURNS, 64 * len(shares))).astype(np.int64)
    turns = np.diff(ends, prepend=0)
    return turns

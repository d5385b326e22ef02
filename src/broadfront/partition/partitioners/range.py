"""`range`: contiguous ids, cut so that every part gets its share of vertices and arcs together.

Where the ids of a graph mean something (a grid, a crawl, a road network in order) this keeps
neighbours together, and costs a search for each cut.
"""

from __future__ import annotations

import bisect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.csr import Graph
from broadfront.partition.wish import Wish


def ranges(graph: Graph, wish: Wish) -> NDArray[Any]:
    """Return owners by ranges of ids."""
    return np.repeat(np.arange(wish.count, dtype=wish.dtype), np.diff(cuts_of(graph, wish)))


def cuts_of(graph: Graph, wish: Wish) -> list[int]:
    """Return where each range begins, and the end of the last."""
    size, offsets = graph.num_vertices, graph.offsets
    everyone = range(size + 1)
    cuts = [0]
    for goal in wish.ends(size + graph.num_arcs)[:-1].tolist():
        cut = bisect.bisect_left(everyone, goal, key=lambda vertex: vertex + int(offsets[vertex]))
        before = max(cut - 1, 0)
        if goal - before - int(offsets[before]) < cut + int(offsets[cut]) - goal:
            cut = before
        cuts.append(max(cuts[-1], cut))
    return [*cuts, size]

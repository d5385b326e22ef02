"""Which partitioner a graph gets when nobody names one: `range` where ids have locality.

Some arcs of the graph are looked at. Where `range` would cut at most half as many of them as any
vertex anywhere would, ids follow the edges, as in road networks, grids and crawls, and `range` it
is. Elsewhere it is `random`, which spreads hubs evenly. A small graph is not looked at: whatever
its parts, it takes longer to begin a run than to run.

Invariant: the choice depends on the graph and the shares alone, so it is the same in every run.
METIS is never chosen: it takes longer than most runs that it would serve.
"""

from __future__ import annotations

import numpy as np

from broadfront.graph.csr import Graph
from broadfront.partition.partitioners.range import cuts_of
from broadfront.partition.wish import Wish

SMALL = 1 << 14
"""A graph of fewer arcs is not looked at."""
SAMPLE = 1 << 12
MUCH_LESS = 0.5


def choose_partitioner(graph: Graph, wish: Wish) -> str:
    """Return the name of the partitioner for a graph."""
    return "range" if graph.num_arcs >= SMALL and has_locality(graph, wish) else "random"


def has_locality(graph: Graph, wish: Wish) -> bool:
    """Tell whether parts of contiguous ids cut far fewer arcs than any vertex anywhere would."""
    arcs = np.linspace(0, graph.num_arcs - 1, SAMPLE).astype(np.int64)
    inner = cuts_of(graph, wish)[1:-1]
    sources = np.searchsorted(graph.offsets, arcs, "right") - 1
    parts = np.searchsorted(inner, sources, "right")
    others = np.searchsorted(inner, graph.targets[arcs], "right")
    cut_at_random = 1 - float((wish.shares**2).sum())
    cut = float(np.count_nonzero(parts != others)) / SAMPLE
    return cut <= MUCH_LESS * cut_at_random

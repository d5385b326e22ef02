"""Random integer weights for a graph that is already built.

The weight of an edge is a hash of its two ends, the smaller first where direction does not count,
so both arcs of an undirected edge agree without looking for each other.

Invariant: a weight depends on the seed and the ends alone, not on the other edges.
"""

from __future__ import annotations

import numpy as np

from broadfront import threads
from broadfront.errors import OptionError
from broadfront.graph.csr import Graph
from broadfront.graph.generate.random import below, key, word
from broadfront.kernel import kernel

ARCS_PER_PIECE = 1 << 21
LIMITS = np.iinfo(np.int32)


def random_weights(graph: Graph, low: int, high: int, seed: int = 0) -> Graph:
    """Return the same graph with random integer weights in ``low .. high``, as int32.

    Examples
    --------
    >>> import broadfront as bf
    >>> ring = bf.from_edges([0, 1, 2], [1, 2, 0], directed=False)
    >>> random_weights(ring, 5, 5).weights
    array([5, 5, 5, 5, 5, 5], dtype=int32)
    """
    if not LIMITS.min <= low <= high <= LIMITS.max:
        raise OptionError(f"weights={low}-{high} is not a range of 32-bit integers")
    weights = np.empty(graph.num_arcs, np.int32)
    stream = key(seed, "weights")
    offsets, targets, directed = graph.offsets, graph.targets, graph.directed
    pieces = threads.ranges(len(weights), ARCS_PER_PIECE)

    def weigh(piece: int) -> None:
        _weigh(offsets, targets, directed, stream, low, high, *pieces[piece], weights)

    threads.run(weigh, len(pieces), "drawing weights")
    return Graph(
        offsets, targets, weights, directed=directed, self_loops=graph.num_self_loops,
        labels=graph._labels, origin=graph.origin,
    )  # fmt: skip


@kernel
def _weigh(offsets, targets, directed, stream, low, high, begin, end, weights):
    vertex = np.searchsorted(offsets, begin, "right") - 1
    for arc in range(begin, end):
        while offsets[vertex + 1] <= arc:
            vertex += 1
        head = np.int64(targets[arc])
        first, second = vertex, head
        if not directed:
            first, second = min(vertex, head), max(vertex, head)
        weights[arc] = low + below(word(stream, first), second, high - low + 1)

"""What distances are added up in, so that no path is too long for it.

Sums of integer weights are taken in 32 bits where no path can be longer, and in 64 bits elsewhere;
answers have 64 bits. Real weights are added in their own precision; a path that is too long for it
is refused, not taken for none. No path takes an edge of infinite weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import GraphError
from broadfront.graph.csr import Graph

Array = NDArray[Any]


def infinity(dtype: np.dtype[Any]) -> Any:
    """Return what an unreached vertex has: infinity, or the largest integer."""
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def widened(distance: Array, reached: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """Return distances of integers in 64 bits, and `reached` with them."""
    if distance.dtype == np.int32:
        distance = distance.astype(np.int64)
        if not reached.all():
            distance[~reached] = infinity(distance.dtype)
    return distance, reached


def working_dtype(graph: Graph, positive: bool = False) -> np.dtype[Any]:
    """Return the dtype to add up weights in; refuse negative ones or, if `positive`, zero too."""
    weights = graph.weights
    assert weights is not None
    smallest, largest = graph.weight_bounds
    if len(weights) and (smallest < 0 or (positive and smallest == 0)):
        edge = weighed(graph, weights <= 0 if positive else weights < 0)
        least = "more than 0 to be counted" if positive else "at least 0"
        raise GraphError(f"shortest paths need weights of {least}; {edge}")
    if weights.dtype.kind == "f":
        return weights.dtype
    longest = (graph.num_vertices + 1) * int(largest)
    if np.iinfo(np.int32).max <= longest and graph.num_arcs * int(largest) < np.iinfo(np.int64).max:
        # no path takes an arc twice, and an edge both ways; a proposal goes one arc beyond a path
        longest = min(longest, int(graph.weight_sum) // (1 if graph.directed else 2) + int(largest))
    if longest < np.iinfo(np.int32).max:
        return np.dtype(np.int32)
    if longest > np.iinfo(np.int64).max:
        raise GraphError("paths may be longer than 64 bits hold; use weights of float64")
    return np.dtype(np.int64)


def weighed(graph: Graph, wrong: NDArray[np.bool_]) -> str:
    """Return in words what the first of some arcs weighs."""
    assert graph.weights is not None
    arc = int(np.argmax(wrong))
    tail, head = graph.labels_of([graph.sources()[arc], graph.targets[arc]]).tolist()
    return f"{tail} -> {head} weighs {graph.weights[arc]}"


def check_lengths(graph: Graph, distance: Array) -> None:
    """Refuse paths that are longer than their dtype holds, for distances of searches in rows.

    Arcs are looked at only where the largest weight leaves room for doubt.
    """
    weights, dtype = graph.weights, distance.dtype
    if weights is None or dtype.kind != "f":
        return
    if float(graph.weight_bounds[1]) * graph.num_vertices < float(np.finfo(dtype).max):
        return
    for row in distance:
        lost = np.isfinite(row)[graph.sources()] & np.isinf(row)[graph.targets]
        lost &= np.isfinite(weights)
        if lost.any():
            edge = weighed(graph, lost)
            raise GraphError(
                f"a path is longer than {dtype} holds: {edge}; divide all weights by one number"
                + (", or use float64" if dtype == np.float32 else "")
            )

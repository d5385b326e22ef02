"""The tree of shortest paths, given the distances: who comes before whom.

Method: breadth-first along tight edges alone, those that make up the difference in distance of
their ends. Weights of zero can close circles in which every vertex would vouch for the next; hops
cannot.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.algorithms.distances import infinity, working_dtype
from broadfront.execution.answer import Answer
from broadfront.execution.batch import run_each
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance, Field

UNREACHED = 0xFFFFFFFF


def along_tight_edge(source, neighbor, edge, state):
    """Propose one hop more, if the edge is on a shortest path."""
    if state.distance[source] + state.weight[edge] == state.distance[neighbor]:
        return state.hops[source] + np.uint32(1)
    return np.uint32(UNREACHED)


def without_hops(vertex, state):
    """Tell whether a vertex has no hops yet."""
    return state.hops[vertex] == UNREACHED


@cache
def tight_tree(dtype: np.dtype[Any]) -> Program:
    """Return the program that finds parents, given distances of a dtype."""
    step = Advance(
        along_tight_edge, into="hops", cond=without_hops, record_source="parent", synchronous=False
    )
    return Program(
        {
            "distance": Field(dtype),
            "hops": Field(np.uint32, fill=UNREACHED, combine="min"),
            "parent": Field("vertex", fill=-1),
        },
        step=[step],
        name="tight tree",
    )


def find_parents(
    graph: Graph, sources: NDArray[Any], distance: NDArray[Any], each: bool, **options: Any
) -> Answer:
    """Find the parents, given the distances from the nearest source, or rows of them from each."""
    dtype = working_dtype(graph)
    if distance.dtype != dtype:
        distance = np.minimum(distance, infinity(dtype)).astype(dtype)
    names = sources.tolist()
    start = {
        "distance": distance,
        "hops": dict.fromkeys(names, 0),
        "parent": dict(zip(names, names, strict=True)),
    }
    go = run_each if each else run
    answer = go(tight_tree(dtype), graph, frontier=sources, init=start, **options)
    if np.isinf(graph.weight_bounds[1]):  # from anywhere to an unreached vertex they seem tight
        answer["parent"][distance == infinity(dtype)] = -1
    return answer

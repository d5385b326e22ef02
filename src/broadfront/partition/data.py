"""The named columns of a graph in its parts, and where the arcs of a part stand in the graph.

Method: the parts are built once more, of the same graph with the number of each arc in place of its
weight. What comes along with the arcs of a part are then their numbers in the graph, and those of
incoming arcs are the numbers of the same arcs as outgoing ones; every column is taken by them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.csr import Graph
from broadfront.graph.labels import frozen
from broadfront.partition.build import build
from broadfront.partition.part import Part

Array = NDArray[Any]


class Along(NamedTuple):
    """Something along the arcs of a part: their places in the graph, or the values of a column."""

    out: Array
    incoming: Array
    """Along incoming arcs; the same as `out` where these are not there, or are the same."""


def arcs_of(
    graph: Graph, owner: Array, count: int, *, relabel: bool, looks_back: bool
) -> list[Along]:
    """Return where the arcs of each part stand in ``graph.targets``."""
    numbered = Graph(
        graph.offsets, graph.targets, np.arange(graph.num_arcs, dtype=graph.targets.dtype),
        directed=graph.directed, self_loops=graph.num_self_loops,
        parallel=graph.has_parallel_edges,
    )  # fmt: skip
    parts = build(numbered, owner, count, relabel=relabel, looks_back=looks_back)
    found = []
    for part in parts:
        assert part.weights is not None
        separate = graph.directed and part.in_weights is not None
        found.append(Along(part.weights, part.in_weights if separate else part.weights))  # type: ignore[arg-type]
    return found


def along_arcs(column: Array, arcs: Along) -> Along:
    """Return a column of the graph's arcs along those of a part."""
    out = frozen(column[arcs.out])
    return Along(out, out if arcs.incoming is arcs.out else frozen(column[arcs.incoming]))


def at_vertices(column: Array, part: Part) -> Array:
    """Return a column of the graph's vertices at the local positions of a part."""
    return column if part.ids is None else frozen(column[part.ids])

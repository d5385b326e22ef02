"""A graph with its vertices in the order of their degrees, for runs on one device.

It is the order that parts of several devices have (`broadfront.partition.groups`): vertices of like
degree together, larger degrees first, and by id within a group. A run on such a graph finds what it
knows of the busy vertices in a few lines of the cache, and meets them first in every row. On a
Kronecker graph a search takes about half the time.

The order is made once and kept with the graph, as partitions are; `Graph.nbytes` does not count it.

Invariant: rows are sorted, and parallel arcs stand in the order that they had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import keeping, threads
from broadfront.clock import Clock
from broadfront.graph.csr import Graph
from broadfront.partition.groups import degrees_differ, grouped
from broadfront.partition.members import members
from broadfront.partition.partitioners.choice import has_locality
from broadfront.partition.rows import Rows
from broadfront.partition.wish import wish

Array = NDArray[Any]

KEY = "by degree"
FEW_VERTICES, FEW_ARCS = 1 << 17, 1 << 20
"""What is known of fewer vertices fits in the caches in any order, and fewer arcs take no time."""
CUTS = 16
"""Ids have locality if so many contiguous parts cut few arcs."""


@dataclass(frozen=True, eq=False)
class ByDegree:
    """A graph in the order of degrees.

    Attributes
    ----------
    graph
        The graph, without labels and without columns of edges.
    ids
        The id of each of its vertices in the graph that it was made of.
    places
        For each id, where that vertex is.
    seconds
        How long it took to make, compiling apart.
    """

    graph: Graph
    ids: Array
    places: Array
    seconds: float

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.graph.nbytes + self.ids.nbytes + self.places.nbytes


def pays(graph: Graph) -> bool:
    """Tell whether searches gain from the order; it depends on the graph alone."""

    def look() -> tuple[bool]:
        return (degrees_differ(graph) and not has_locality(graph, wish(CUTS)),)

    large = graph.num_arcs >= FEW_ARCS and graph.num_vertices >= FEW_VERTICES
    large = large and not graph.mapped
    return large and bool(graph.kept("pays by degree", look)[0])


def is_there(graph: Graph) -> bool:
    """Tell whether the order has been made."""
    return graph.keeps(KEY)


def by_degree(graph: Graph) -> ByDegree:
    """Return the graph in the order of degrees; made on first need, then kept."""
    if keeping.factor() == 0:
        return _made(graph)
    made: ByDegree = graph.kept(KEY, lambda: (_made(graph),))[0]
    return made


def bytes_of(graph: Graph) -> int:
    """Return the bytes that the order of a graph takes."""
    sides = 2 if graph.directed and graph.has_transpose else 1
    return sides * graph.row_bytes + 2 * graph.num_vertices * graph.targets.itemsize


def _made(graph: Graph) -> ByDegree:
    clock = Clock()
    groups = grouped(graph, np.zeros(graph.num_vertices, np.uint8), 1)
    own = members(groups, graph.targets.dtype)
    ids, places = own.of(0), own.rank
    rows = Rows(graph, ids)
    rows.allocate()
    pieces = rows.pieces()
    threads.run(lambda piece: rows.copy(*pieces[piece], groups, 0, places), len(pieces))
    columns = {name: column[ids] for name, column in graph.vertex_data.items()}
    ordered = Graph(
        rows.starts, rows.targets, rows.weights, directed=graph.directed,
        self_loops=graph.num_self_loops, origin=graph.origin, vertex_data=columns,
        parallel=graph.has_parallel_edges,
    )  # fmt: skip
    # Sums of weights differ in their last bits with the order; buckets are as wide in either.
    ordered._weight_bounds, ordered._weight_sum = graph.weight_bounds, graph.weight_sum
    ordered._max_degree = graph.max_degree
    return ByDegree(ordered, ids, places, clock.seconds)

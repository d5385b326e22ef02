"""Broadfront: its own search, which is direction-optimising, and its shortest paths.

Kernel 1 builds a `Graph` and searches it once from the vertex of largest degree, with weights along
shortest paths, too: whatever a first run prepares (parts of devices, memory to work in) belongs to
construction. One device has vertices in the order of their ids: another order
(`broadfront.partition.by_degree`) would save less in 64 searches than it takes to make.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from broadfront.algorithms.bfs import bfs
from broadfront.algorithms.sssp import sssp
from broadfront.graph.csr import Graph
from broadfront.graph.edges import from_edges
from broadfront.graph500.edges import EdgeList
from broadfront.graph500.implementations.contract import Paths, Tree
from broadfront.graph500.on_disk import graph_on_disk


class Prepared(NamedTuple):
    """A graph, and how to search it: `broadfront.Options`."""

    graph: Graph
    options: dict[str, Any]


def build(edges: EdgeList, **options: Any) -> Prepared:
    """Build the graph, and have devices prepare for it; with ``memory_limit`` on the disk."""
    columns, limit = (edges.source, edges.target, edges.weight), options.get("memory_limit")
    if limit is None:
        graph = from_edges(*columns, edges.num_vertices, directed=False)
    else:
        graph = graph_on_disk(edges, limit)
    if options.get("devices") is None:
        options["relabel"] = False
    prepared = Prepared(graph, options)
    if graph.num_arcs:
        busiest = int(np.argmax(graph.degrees))
        search(prepared, busiest)
        if graph.weighted:
            find_paths(prepared, busiest)
    return prepared


def search(prepared: Prepared, root: int) -> Tree:
    """Search from a root."""
    found = bfs(prepared.graph, root, **prepared.options)
    return Tree(found.parent, found.depth)


def find_paths(prepared: Prepared, root: int) -> Paths:
    """Find the shortest paths from a root, and their tree."""
    found = sssp(prepared.graph, root, parents=True, **prepared.options)
    assert found.parent is not None
    return Paths(found.parent, found.distance)

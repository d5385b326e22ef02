"""List: the edges as they came, chained at each vertex.

The ends of tuple i are the places 2i and 2i + 1. `head` is the last place of a vertex, `following`
the place before each at the same vertex, and the neighbour is at the other end of the tuple. Kernel
1 is one pass; kernel 2 jumps through the whole list for every vertex. One thread.

References
----------
Graph500 reference code 2.1.4, `seq-list`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.build import index_dtype
from broadfront.graph500.edges import EdgeList
from broadfront.graph500.implementations.contract import Tree, in_order
from broadfront.graph500.implementations.visits import search_in_order
from broadfront.kernel import kernel

Array = NDArray[Any]


class Chains(NamedTuple):
    """The list of edges, and the places of each vertex in it."""

    source: Array
    target: Array
    head: Array
    following: Array


def build(edges: EdgeList) -> Chains:
    """Chain the places of each vertex."""
    dtype = index_dtype(edges.num_vertices, 2 * len(edges))
    head = np.full(edges.num_vertices, -1, dtype)
    chains = Chains(edges.source, edges.target, head, np.empty(2 * len(edges), dtype))
    in_order(lambda begin, end: _chain(begin, end, *chains), len(edges))
    return chains


def search(chains: Chains, root: int) -> Tree:
    """Search from a root."""
    return search_in_order(
        lambda begin, end, length, visits, tree: _visit(
            begin, end, length, visits, *tree, *chains
        ),
        len(chains.head), root, chains.source.dtype,
    )  # fmt: skip


@kernel
def _chain(begin, end, source, target, head, following):
    for edge in range(begin, end):
        following[2 * edge] = head[source[edge]]
        head[source[edge]] = 2 * edge
        following[2 * edge + 1] = head[target[edge]]
        head[target[edge]] = 2 * edge + 1


@kernel
def _visit(begin, end, length, visits, parent, depth, source, target, head, following):
    for visit in range(begin, end):
        vertex = visits[visit]
        place = head[vertex]
        while place >= 0:
            neighbor = source[place // 2] if place % 2 else target[place // 2]
            if parent[neighbor] < 0:
                parent[neighbor] = vertex
                depth[neighbor] = depth[vertex] + 1
                visits[length] = neighbor
                length += 1
            place = following[place]
    return length

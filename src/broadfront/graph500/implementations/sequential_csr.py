"""CSR: the neighbours of each vertex side by side, and the same sequential search over them.

Kernel 1 counts the edges at each vertex, adds up, and puts every edge at both of its ends;
self-loops are left out. Kernel 2 reads rows instead of jumping through the list. One thread.

References
----------
Graph500 reference code 2.1.4, `seq-csr`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.build import index_dtype
from broadfront.graph500.edges import EdgeList
from broadfront.graph500.implementations.contract import Tree, in_order
from broadfront.graph500.implementations.visits import search_in_order
from broadfront.kernel import inlined, kernel

Array = NDArray[Any]


class Rows(NamedTuple):
    """The neighbours of vertex v are ``targets[offsets[v] : offsets[v + 1]]``."""

    offsets: Array
    targets: Array


def build(edges: EdgeList) -> Rows:
    """Sort the ends of edges by vertex."""
    return sort_ends(edges, max(1, edges.num_vertices))


def sort_ends(edges: EdgeList, width: int) -> Rows:
    """Sort the ends of edges by range of neighbours, each of `width`, and by vertex in each.

    The row of vertex v in range i is number ``i * num_vertices + v``.
    """
    source, target, columns = edges.source, edges.target, edges.num_vertices
    offsets = np.zeros(-(-columns // width) * columns + 2, np.int64)
    shape = columns, width

    def count(begin: int, end: int) -> None:
        _count(begin, end, source, target, shape, offsets[2:])

    def fill(begin: int, end: int) -> None:
        _fill(begin, end, source, target, shape, offsets[1:], targets)

    in_order(count, len(edges))
    np.cumsum(offsets, out=offsets)
    targets = np.empty(offsets[-1], index_dtype(columns, 0))
    in_order(fill, len(edges))
    return Rows(offsets[:-1], targets)


def search(rows: Rows, root: int) -> Tree:
    """Search from a root."""
    return search_in_order(
        lambda begin, end, length, visits, tree: _visit(begin, end, length, visits, *tree, *rows),
        len(rows.offsets) - 1, root, rows.targets.dtype,
    )  # fmt: skip


@inlined
def _row(vertex, neighbor, shape):
    columns, width = shape
    return vertex if width == columns else neighbor // width * columns + vertex


@kernel
def _count(begin, end, source, target, shape, degrees):
    for edge in range(begin, end):
        tail, head = source[edge], target[edge]
        if tail != head:
            degrees[_row(tail, head, shape)] += 1
            degrees[_row(head, tail, shape)] += 1


@kernel
def _fill(begin, end, source, target, shape, slots, targets):
    for edge in range(begin, end):
        tail, head = source[edge], target[edge]
        if tail != head:
            row = _row(tail, head, shape)
            targets[slots[row]] = head
            slots[row] += 1
            row = _row(head, tail, shape)
            targets[slots[row]] = tail
            slots[row] += 1


@kernel
def _visit(begin, end, length, visits, parent, depth, offsets, targets):
    for visit in range(begin, end):
        vertex = visits[visit]
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            neighbor = targets[arc]
            if parent[neighbor] < 0:
                parent[neighbor] = vertex
                depth[neighbor] = depth[vertex] + 1
                visits[length] = neighbor
                length += 1
    return length

"""Connected components by routers: rows to whoever is free, forests up a tree.

The host sends blocks of rows, large ones first, to the first device that has a free buffer; each
device hooks the edges that it gets into a forest of its own, and compresses it. Then forests are
merged up a tree of devices by the same two operations, since a forest is a list of edges, too. This
is done twice for an undirected graph: with two edges of each vertex, and then, with the forest that
came of it, for the vertices outside its largest tree alone. The first time a device hangs vertices
under their first neighbours as rows come, and puts down another neighbour of each; these are hooked
when all trees are stars. Arcs of a directed graph are seen from one end only, so there all are
hooked at once.

Invariant: everything hangs under something smaller, so the root of a tree is its smallest vertex,
one pass in ascending order compresses a forest, and a root may hang under any smaller vertex.

References
----------
Ben-Nun, Sutton, Pai, Pingali: Groute (ACM TOPC 7, 2020), section 5.1.4; Sutton, Ben-Nun, Barak:
Optimizing parallel graph connectivity computation via subgraph sampling (IPDPS 2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Allowance
from broadfront.devices.choose import Devices
from broadfront.graph.csr import Graph
from broadfront.kernel import inlined, kernel
from broadfront.pages import answer_array
from broadfront.pointers import prefetch
from broadfront.routing.context import Context
from broadfront.routing.link import Link
from broadfront.routing.policy import first_available, tree_reduction
from broadfront.routing.router import Router
from broadfront.routing.segment import Segment

Array = NDArray[Any]

PACKET = 1 << 24
SMALLEST_BLOCK = 64
"""The smallest block of rows is one of so many of all."""
SAMPLES = 1024
AHEAD = 16
"""Rows further on whose memory is asked for."""


@inlined
def _hook(one, other, forest):
    """Make one tree of those of two vertices, by Rem's algorithm, which shortens paths."""
    above_one, above_other = np.int64(forest[one]), np.int64(forest[other])
    while above_one != above_other:
        if above_one < above_other:
            one, other = other, one
            above_one, above_other = above_other, above_one
        forest[one] = above_other
        if one == above_one:
            return
        one = above_one
        above_one = np.int64(forest[one])


@kernel
def hang_rows(first, offsets, begin, targets, forest, another):
    """Hang roots under their first neighbours, where these are smaller, without a look at them.

    `offsets` are those of the rows from vertex `first` on, `begin` is the place of `targets`. One
    more neighbour of each is put down, or the vertex itself where there is none.
    """
    rows, size = len(offsets) - 1, len(targets)
    for row in range(rows):
        vertex, edge = first + row, np.int64(offsets[row]) - begin
        end = min(np.int64(offsets[row + 1]) - begin, size)
        prefetch(targets, np.int64(offsets[min(row + AHEAD, rows)]) - begin)
        another[row] = vertex
        if 0 <= edge < end:
            above, neighbor = np.int64(forest[vertex]), np.int64(targets[edge])
            hangs = (above == vertex) & (neighbor < vertex)  # which no processor can guess
            forest[vertex] = neighbor if hangs else above
            another[row] = targets[min(edge + np.int64(hangs), end - 1)]


@kernel
def hook_another(first, another, forest):
    """Take what `hang_rows` put down for the vertices from `first` on."""
    for row in range(len(another)):
        prefetch(forest, another[min(row + AHEAD, len(another) - 1)])
        vertex, neighbor = first + row, np.int64(another[row])
        if forest[vertex] != forest[neighbor]:
            _hook(vertex, neighbor, forest)


@kernel
def hook_rows(first, offsets, begin, targets, skipped, forest):
    """Take the edges of rows into a forest; pass over a skipped tree."""
    end, rows = begin + len(targets), len(offsets) - 1
    for row in range(rows):
        vertex = first + row
        if forest[vertex] != skipped:
            stop = min(np.int64(offsets[row + 1]), end)
            for edge in range(max(np.int64(offsets[row]), begin) - begin, stop - begin):
                neighbor = np.int64(targets[edge])
                if forest[vertex] != neighbor:
                    _hook(vertex, neighbor, forest)


@kernel
def hook_forest(other, forest):
    """Take the links of another forest into this one."""
    for vertex in range(len(other)):
        above = np.int64(other[vertex])
        if above != vertex and forest[vertex] != above:
            _hook(vertex, above, forest)


@kernel
def compress(forest, compressed):
    """Hang every vertex under its root, in another array or the same."""
    for vertex in range(len(forest)):
        compressed[vertex] = forest[vertex]  # its own, if it is a root: no branch is needed
        compressed[vertex] = compressed[forest[vertex]]


class _Dataflow:
    """The devices, what brings them rows, and the tree that their forests go up."""

    def __init__(self, graph: Graph, devices: Devices, memory: str) -> None:
        self.context = context = Context(devices, memory=memory)
        self._graph = graph
        self.forest = answer_array(graph.num_vertices, graph.targets.dtype)
        self.forest[:] = np.arange(graph.num_vertices, dtype=graph.targets.dtype)
        scatter, tree = Router(context, first_available), Router(context, tree_reduction)
        sender = context.host.virtual("sender")
        sender.assign(self._send_rows, Link(sender, scatter, PACKET))
        whole = self.forest.nbytes
        for device in context.devices:
            rows, children = Link(scatter, device, PACKET), Link(tree, device, whole, 1)
            mine = answer_array(graph.num_vertices, graph.targets.dtype)
            device.assign(self._build, mine, rows, children, Link(device, tree, whole))
        self._root = Link(tree, context.host, whole, 1)

    def link(self, first_only: bool, skipped: int, time_limit: float | None) -> None:
        """Take edges into the forest: two of each vertex, or all outside a tree."""
        self._first_only, self._skipped = first_only, skipped
        self.context.run(self._collect, time_limit=time_limit)

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Give the first and the last vertex of blocks, each a part of what is left."""
        count, first = self._graph.num_vertices, 0
        least, parts = -(-count // SMALLEST_BLOCK), 2 * len(self.context.devices)
        while first < count:
            last = min(count, first + max(least, (count - first) // parts))
            yield first, last
            first = last

    def _send_rows(self, link: Link) -> None:
        """Send all rows, in blocks, with their offsets."""
        offsets, targets = self._graph.offsets, self._graph.targets
        for first, last in self._blocks():
            rows = offsets[first : last + 1]
            if rows[0] < rows[-1]:
                link.send(targets[rows[0] : rows[-1]], metadata=(first, rows))
        link.shutdown()

    def _build(self, forest: Array, rows: Link, children: Link, parent: Link) -> None:
        """Take rows and then the forests of children, and send the outcome up."""
        np.copyto(forest, self.forest)
        take = self._take_two_edges if self._first_only else self._take_edges
        take(forest, rows)
        compress(forest, forest)
        for pending in children:
            with pending as segment:
                hook_forest(segment.array, forest)
        parent.send(forest)
        parent.shutdown()

    def _take_edges(self, forest: Array, rows: Link) -> None:
        for pending in rows:
            with pending as segment:
                hook_rows(*_placed(segment), segment.array, self._skipped, forest)

    def _take_two_edges(self, forest: Array, rows: Link) -> None:
        taken = []
        for pending in rows:
            with pending as segment:
                first, offsets, begin = _placed(segment)
                another = answer_array(len(offsets) - 1, forest.dtype)
                hang_rows(first, offsets, begin, segment.array, forest, another)
                taken.append((first, another))
        compress(forest, forest)
        for first, another in taken:
            hook_another(first, another, forest)

    def _collect(self) -> None:
        """Take over the forest that comes out of the tree, compressed."""
        for pending in self._root:
            with pending as segment:
                compress(segment.array, self.forest)


def _placed(segment: Segment) -> tuple[int, Array, int]:
    """Return the first of the rows in a packet, their offsets, and where its targets begin."""
    first, offsets = segment.metadata
    begin = int(offsets[0]) + segment.offset
    row = int(np.searchsorted(offsets, begin, "right")) - 1
    end = int(np.searchsorted(offsets, begin + len(segment), "left"))
    return first + row, offsets[row : end + 1], begin


def connected_components(
    graph: Graph, devices: Devices = 2, *, memory: str = "shared", time_limit: float | None = None
) -> Array:
    """Return for each vertex the position of the smallest vertex of its component.

    It is what `broadfront.connected_components` returns, built of links and routers.

    >>> import broadfront as bf
    >>> from broadfront.routing import connected_components
    >>> connected_components(bf.from_edges([0, 3], [1, 4], num_vertices=5))
    array([0, 0, 2, 3, 3], dtype=int32)
    """
    if graph.num_vertices == 0:
        return np.empty(0, graph.targets.dtype)
    flow = _Dataflow(graph, devices, memory)
    with Allowance(time_limit) as left:
        skipped = -1
        if not graph.directed:
            flow.link(True, skipped, left())
            sample = flow.forest[np.arange(SAMPLES) * 2654435761 % graph.num_vertices]
            roots, votes = np.unique(sample, return_counts=True)
            skipped = int(roots[votes.argmax()])
        flow.link(False, skipped, left())
    return flow.forest

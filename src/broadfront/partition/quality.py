"""What a split costs: the edges it cuts, how even it is, and how many vertices stand twice.

Ghosts are those of parts that do not look back. Balance is the most that a part has, over what its
share is: with equal speeds the maximum over the mean, and 1 is perfect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.partition.build import rows_of
from broadfront.partition.ghosts import Table, find
from broadfront.partition.groups import Groups
from broadfront.partition.members import members
from broadfront.progress import report

Array = NDArray[Any]

VERTICES_PER_PIECE = 1 << 16


@dataclass(frozen=True, eq=False)
class Quality:
    """What a split costs."""

    edges_cut: int
    """Edges whose ends have different owners; of an undirected graph each counted once."""
    fraction_cut: float
    """`edges_cut` over all edges."""
    vertex_balance: float
    """The most vertices of a part over its share."""
    edge_balance: float
    """The most arcs of a part over its share."""
    replication: float
    """Owned vertices and ghosts of all parts over the vertices of the graph."""
    vertices: Array
    """Vertices that each part owns."""
    arcs: Array
    """Arcs from the vertices of each part."""
    arcs_cut: Array
    """Those of them that lead to another part."""
    ghosts: Array
    """Ghosts of each part."""

    def summary(self) -> list[str]:
        """Return what is worth telling, a line each."""
        return [
            f"{self.edges_cut:,} edges cut, {self.fraction_cut:.1%} of them",
            f"balance {self.vertex_balance:.3f} of vertices, {self.edge_balance:.3f} of edges",
            f"{self.ghosts.sum():,} ghosts, replication {self.replication:.2f}",
        ]


def measure(graph: Graph, owner: Array, count: int, speeds: Sequence[float] | None) -> Quality:
    """Measure a split."""
    vertices, arcs, cut = _counted(graph, owner, count)
    ghosts = _ghosts(graph, owner, count)
    shares = np.ones(count) if speeds is None else np.asarray(speeds, np.float64)
    shares = shares / shares.sum()
    edges_cut = int(cut.sum()) // (1 if graph.directed else 2)
    size = graph.num_vertices
    return Quality(
        edges_cut, edges_cut / max(1, graph.num_edges),
        _balance(vertices, shares), _balance(arcs, shares),
        float(size + ghosts.sum()) / size if size else 1.0,
        vertices, arcs, cut, ghosts,
    )  # fmt: skip


def _balance(amounts: Array, shares: Array) -> float:
    total = int(amounts.sum())
    return float((amounts / shares).max()) / total if total else 1.0


def _counted(graph: Graph, owner: Array, count: int) -> Array:
    """Return vertices, arcs, and arcs cut of each part."""
    pieces = threads.ranges(graph.num_vertices, VERTICES_PER_PIECE)

    def counted(piece: int) -> Array:
        counts = np.zeros((3, count), np.int64)
        _count(graph.offsets, graph.targets, owner, *pieces[piece], *counts)
        return counts

    found = threads.run(counted, len(pieces), "counting cut edges")
    return np.array(found).sum(axis=0)  # type: ignore[no-any-return]


def _ghosts(graph: Graph, owner: Array, count: int) -> Array:
    groups = Groups(owner, 1, count)
    own = members(groups, graph.targets.dtype)
    tables = Table.several(count, graph.num_vertices, None)
    found: list[int] = []
    for first in range(0, count, len(tables)):
        report("counting ghosts", first, count)
        wave = range(first, min(first + len(tables), count))
        ghosts = find(wave, rows_of(wave, [graph], own), groups, own, tables)
        found += [len(some.ids) for some in ghosts]
    return np.array(found, np.int64)


@kernel
def _count(offsets, targets, owner, begin, end, vertices, arcs, cut):
    for vertex in range(begin, end):
        part = owner[vertex]
        away = 0
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            away += owner[np.uint64(targets[arc])] != part
        vertices[part] += 1
        arcs[part] += offsets[vertex + 1] - offsets[vertex]
        cut[part] += away

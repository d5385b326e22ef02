"""The outline of a part: how large everything in it is, known without building it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.csr import Graph
from broadfront.partition.build import rows_of
from broadfront.partition.ghosts import Ghosts, Table, find
from broadfront.partition.groups import Groups
from broadfront.partition.members import Members, members

if TYPE_CHECKING:
    from broadfront.partition.part import Part

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Outline:
    """How large a part is.

    Attributes
    ----------
    device, count, relabelled, num_vertices, owned, num_arcs
        As of a `Part`.
    num_in_arcs
        The number of arcs into owned vertices, where these are looked at.
    ghosts, shared
        For each device how many of its vertices are ghosts here, and the other way.
    brought
        For each device the arcs of those of its vertices that are ghosts here.
    vertex_bytes, nbytes
        Bytes of the id of a vertex, and of the part.
    """

    device: int
    count: int
    relabelled: bool
    num_vertices: int
    owned: int
    num_arcs: int
    num_in_arcs: int
    ghosts: Array
    shared: Array
    brought: Array
    vertex_bytes: int
    nbytes: int

    @property
    def num_ghosts(self) -> int:
        """Ghosts of all other devices."""
        return int(self.ghosts.sum())

    @property
    def positions(self) -> int:
        """How long an array with an entry per vertex is."""
        return self.owned + self.num_ghosts if self.relabelled else self.num_vertices

    @property
    def crossing(self) -> Array:
        """For each device the vertices that are here and there, those of whom there are more."""
        most: Array = np.maximum(self.ghosts, self.shared)
        return most


def outlines(
    graph: Graph, owner: Array, count: int, *, relabel: bool, looks_back: bool
) -> list[Outline]:
    """Return the outlines of parts that are not there yet."""
    groups = Groups(owner, 1, count)
    own = members(groups, graph.targets.dtype)
    graphs = [graph, graph.transpose] if graph.directed and looks_back else [graph]
    tables = Table.several(count, graph.num_vertices, None)
    found: list[Ghosts] = []
    for first in range(0, count, len(tables)):
        wave = range(first, min(first + len(tables), count))
        found += find(wave, rows_of(wave, graphs, own), groups, own, tables)
    sizes = np.array([np.diff(some.starts) for some in found])
    return [
        _outline(graphs, own, found[part], part, sizes, relabel=relabel) for part in range(count)
    ]


def outline_of(part: Part, graph: Graph) -> Outline:
    """Return the outline of a part."""
    starts = part.ghost_starts - part.ghost_starts[0]
    in_arcs = part.num_arcs if part.in_targets is None else len(part.in_targets)
    return Outline(
        part.device, part.count, part.relabelled, part.num_vertices, part.owned, part.num_arcs,
        in_arcs, np.diff(starts), np.diff(part.shared_starts),
        _sums(graph, part.ghost_ids, starts), graph.targets.itemsize, part.nbytes,
    )  # fmt: skip


def _sums(graph: Graph, ids: Array, starts: Array) -> Array:
    """Return the arcs of each run of vertices."""
    degrees = graph.offsets[ids + 1].astype(np.int64) - graph.offsets[ids]
    before = np.concatenate([[0], np.cumsum(degrees)])
    sums: Array = np.diff(before[starts])
    return sums


def _outline(
    graphs: list[Graph], own: Members, ghosts: Ghosts, part: int, sizes: Array, *, relabel: bool
) -> Outline:
    graph, count = graphs[0], len(sizes)
    mine, foreign = own.of(part), len(ghosts.ids)
    shared = sizes[:, part]
    positions = len(mine) + foreign if relabel else graph.num_vertices
    item = graph.targets.itemsize
    arcs = [int((one.offsets[mine + 1].astype(np.int64) - one.offsets[mine]).sum())
            for one in graphs]  # fmt: skip
    each = item + (0 if graph.weights is None else graph.weights.itemsize)
    rows = [(positions + 1) * graph.offsets.itemsize + every * each for every in arcs]
    named = (len(mine) + foreign + int(shared.sum())) * item
    return Outline(
        part, count, relabel, graph.num_vertices, len(mine), arcs[0], arcs[-1], sizes[part],
        shared, _sums(graph, ghosts.ids, ghosts.starts), item,
        sum(rows) + named + 2 * 8 * (count + 1),
    )  # fmt: skip

"""From a graph and the owner of each vertex to the parts.

Method: list the members of each part; then, for as many parts at a time as there are threads, find
the ghosts and copy the rows through a table from id to local position. What a part shares with its
peers is read off their ghosts at the end.

Invariant: the result depends on the graph and the owners alone, not on the number of threads. The
only large things beside it are two tables of all vertices (a byte, and an id) per part under way,
and two for all of them (`Members`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.graph.csr import Graph
from broadfront.partition.ghosts import Ghosts, Table, find
from broadfront.partition.groups import Groups, grouped
from broadfront.partition.members import Members, members
from broadfront.partition.part import Part
from broadfront.partition.rows import Rows
from broadfront.progress import report

Array = NDArray[Any]


def build(graph: Graph, owner: Array, count: int, *, relabel: bool, looks_back: bool) -> list[Part]:
    """Return the parts; `looks_back` asks for the incoming rows of a directed graph."""
    if count == 1:
        return [_whole(graph, relabel=relabel, looks_back=looks_back)]
    groups = grouped(graph, owner, count) if relabel else Groups(owner, 1, count)
    own = members(groups, graph.targets.dtype)
    graphs = [graph, graph.transpose] if graph.directed and looks_back else [graph]
    index = graph.targets.dtype if relabel else None
    tables = Table.several(count, graph.num_vertices, index)
    rows: list[list[Rows]] = []
    ghosts: list[Ghosts] = []
    for first in range(0, count, len(tables)):
        report("building parts", first, count)
        wave = range(first, min(first + len(tables), count))
        rows += rows_of(wave, graphs, own)
        ghosts += find(wave, rows[first:], groups, own, tables)
        _copy(wave, rows[first:], groups, tables)
    report("building parts", count, count)
    sizes = np.array([np.diff(some.starts) for some in ghosts])
    return [
        _assembled(graph, own, part, rows[part], ghosts, sizes[:, part], relabel=relabel)
        for part in range(count)
    ]


def rows_of(parts: range, graphs: list[Graph], own: Members) -> list[list[Rows]]:
    """Return the rows of some parts, of each a list with an entry per direction."""
    return threads.run(
        lambda turn: [Rows(graph, own.of(parts[turn])) for graph in graphs], len(parts)
    )


def _copy(parts: range, rows: list[list[Rows]], groups: Groups, tables: list[Table]) -> None:
    jobs = []
    for turn, part in enumerate(parts):
        for direction in rows[turn]:
            direction.allocate()
            jobs += [(part, direction, *piece, tables[turn].local) for piece in direction.pieces()]

    def copy(job: int) -> None:
        part, direction, first, last, local = jobs[job]
        direction.copy(first, last, groups, part, local)

    threads.run(copy, len(jobs))


def _assembled(
    graph: Graph,
    own: Members,
    part: int,
    rows: list[Rows],
    ghosts: list[Ghosts],
    shared_sizes: Array,
    *,
    relabel: bool,
) -> Part:
    mine, (starts, foreign) = own.of(part), ghosts[part]
    peers = [ghosts[peer] for peer in np.flatnonzero(shared_sizes)]
    shared = np.concatenate(
        [foreign[:0], *(peer.ids[peer.starts[part] : peer.starts[part + 1]] for peer in peers)]
    )
    out, back = rows[0], rows[-1]
    offsets = out.offsets(len(foreign) if relabel else None)
    if not graph.directed:
        incoming: tuple[Array | None, ...] = (offsets, out.targets, out.weights)
    elif len(rows) == 2:
        more = back.offsets(len(foreign) if relabel else None)
        incoming = (more, back.targets, back.weights)
    else:
        incoming = (None, None, None)
    return Part(
        device=part, count=len(ghosts), relabelled=relabel,
        num_vertices=graph.num_vertices, owned=len(mine),
        ids=np.concatenate([mine, foreign]) if relabel else None,
        owned_list=None if relabel else mine.copy(),
        ghosts=None if relabel else foreign,
        ghost_starts=starts + len(mine) if relabel else starts,
        shared_starts=np.concatenate([[0], np.cumsum(shared_sizes)]),
        shared=own.rank[shared] if relabel else shared,
        offsets=offsets, targets=out.targets, weights=out.weights,
        in_offsets=incoming[0], in_targets=incoming[1], in_weights=incoming[2],
        max_degree=out.max_degree,
    )  # fmt: skip


def _whole(graph: Graph, *, relabel: bool, looks_back: bool) -> Part:
    """Return the graph as the only part, without a copy of its rows."""
    everyone = np.arange(graph.num_vertices, dtype=graph.targets.dtype)
    nobody = np.empty(0, graph.targets.dtype)
    back = graph.transpose if looks_back or not graph.directed else None
    return Part(
        device=0, count=1, relabelled=relabel,
        num_vertices=graph.num_vertices, owned=graph.num_vertices,
        ids=everyone if relabel else None,
        owned_list=None if relabel else everyone,
        ghosts=None if relabel else nobody,
        ghost_starts=np.full(2, graph.num_vertices if relabel else 0, np.int64),
        shared_starts=np.zeros(2, np.int64), shared=nobody,
        offsets=graph.offsets, targets=graph.targets, weights=graph.weights,
        in_offsets=None if back is None else back.offsets,
        in_targets=None if back is None else back.targets,
        in_weights=None if back is None else back.weights,
        max_degree=graph.max_degree,
    )  # fmt: skip

"""The transpose of a graph whose arcs are mapped, built on the disk and mapped in its turn."""

from __future__ import annotations

import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import check_time
from broadfront.errors import OptionError
from broadfront.graph.build import Columns
from broadfront.graph.csr import Graph
from broadfront.graph.external.room import Room, resident
from broadfront.graph.external.scratch import Scratch
from broadfront.graph.external.sort import rows_on_disk

Array = NDArray[Any]


class Turned:
    """The arcs of a graph turned around, block by block."""

    def __init__(self, graph: Graph, room: Room) -> None:
        self._graph, self._room = graph, room
        self.weight_dtype = None if graph.weights is None else graph.weights.dtype

    def __len__(self) -> int:
        return self._graph.num_arcs

    def blocks(self, stage: str, sure: int = 0, nbytes: int = 64) -> Iterator[Columns]:
        """Yield all arcs in order, in blocks that memory has room for beside `sure` bytes."""
        graph, done = self._graph, 0
        weights = graph.weights
        while done < len(self):
            check_time()
            end = min(len(self), done + self._room.edges(nbytes, sure))
            first = int(np.searchsorted(graph.offsets, done, "right")) - 1
            last = int(np.searchsorted(graph.offsets, end, "left"))
            cuts = np.clip(graph.offsets[first : last + 1], done, end)
            rows = np.arange(first, last, dtype=graph.targets.dtype)
            yield Columns(
                graph.targets[done:end], np.repeat(rows, np.diff(cuts)),
                None if weights is None else weights[done:end],
            )  # fmt: skip
            done = end


def turn(graph: Graph, memory: int, folder: str | PathLike[str] | None) -> Graph:
    """Return the transpose of a graph, built in `memory` bytes beside what the process holds.

    The graph keeps it as its transpose.
    """
    if graph.has_parallel_edges or graph.edge_data:
        raise OptionError(
            "a graph with parallel edges or columns of data cannot be turned around on the disk: "
            "allow as much memory as it takes, or let the program look along outgoing arcs only"
        )
    room = Room(resident() + memory)
    with Scratch(folder) as keys, Scratch(folder) as values:
        rows = rows_on_disk(
            Turned(graph, room), graph.num_vertices, room, (keys, values), symmetric=False,
            drop_loops=False,
        )  # fmt: skip
        targets = rows.targets.mapped()
        weights = None if rows.weights is None else rows.weights.mapped()
    return graph.with_transpose(
        Graph(
            rows.offsets, targets, weights, directed=True, self_loops=graph.num_self_loops,
            labels=graph._labels, origin=graph.origin, vertex_data=graph.vertex_data, mapped=True,
        )
    )  # fmt: skip


def beside(graph: Graph) -> Path | None:
    """Return the folder of the file that a graph was read from, if it is there to be written."""
    folder = Path(graph.origin.name).parent
    return folder if os.access(folder, os.W_OK) else None

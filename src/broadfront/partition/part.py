"""What one device gets of a graph: its own rows, and where its neighbours live.

A part owns some vertices and holds all of their arcs. A neighbour that another part owns is a
*ghost*: it has a local position, so that functors may ask for its values, and an empty row. Ghosts
are targets of arcs from owned vertices and, only where the incoming rows are wanted of a directed
graph, sources of arcs into owned vertices.

Relabelled, the local positions are ``0 .. owned - 1`` for the owned vertices, then the ghosts by
owner, those of one owner in the order that they have there. That order is by falling degree (its
binary digits) and id where degrees differ much, else by id: see `broadfront.partition.groups`. Not
relabelled, the local position of every vertex of the graph is its id.

Invariant: what ``p`` lists as ghosts of ``q`` and what ``q`` lists as shared with ``p`` are the
same vertices in the same order, so that values travel without ids.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.labels import frozen
from broadfront.sizes import size_text

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """The part of one device; all arrays are read-only.

    Attributes
    ----------
    device
        The index of the device, ``0 .. count - 1``.
    count
        The number of parts.
    relabelled
        Whether local positions are dense; if not, they are the ids of the graph.
    num_vertices
        The number of vertices of the whole graph.
    owned
        The number of vertices that this part owns.
    ids
        The id in the graph of each local position, owned first; None when not relabelled.
    owned_list
        The owned vertices by increasing id when not relabelled; None when relabelled, where they
        are ``0 .. owned - 1``.
    ghosts
        The ghosts when not relabelled, by owner and id; None when relabelled, where they are
        ``owned .. owned + num_ghosts - 1``.
    ghost_starts
        int64, one more than there are parts. Relabelled: the ghosts that ``q`` owns are the local
        positions ``ghost_starts[q] .. ghost_starts[q + 1] - 1`` (so the first entry is `owned`).
        Not relabelled: they are ``ghosts[ghost_starts[q] : ghost_starts[q + 1]]``.
    shared_starts, shared
        ``shared[shared_starts[p] : shared_starts[p + 1]]`` are the local positions of owned
        vertices that are ghosts at ``p``, in the order of its ghosts that this part owns.
    offsets, targets, weights
        The rows of all local positions, those of vertices not owned empty, each sorted by local
        position; weights are None without weights.
    in_offsets, in_targets, in_weights
        The incoming rows of the owned vertices, likewise; the same arrays when the graph is
        undirected, None when it is directed and they were not asked for.
    max_degree
        The longest row of `offsets`.
    """

    device: int
    count: int
    relabelled: bool
    num_vertices: int
    owned: int
    ids: Array | None
    owned_list: Array | None
    ghosts: Array | None
    ghost_starts: Array
    shared_starts: Array
    shared: Array
    offsets: Array
    targets: Array
    weights: Array | None
    in_offsets: Array | None
    in_targets: Array | None
    in_weights: Array | None
    max_degree: int

    def __post_init__(self) -> None:
        once: dict[int, Array] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                kept = once.setdefault(id(value), frozen(value))
                object.__setattr__(self, field.name, kept)

    @property
    def num_arcs(self) -> int:
        """The number of arcs from owned vertices."""
        return len(self.targets)

    @property
    def num_ghosts(self) -> int:
        """The number of vertices of other parts that owned ones have arcs with."""
        return int(self.ghost_starts[-1] - self.ghost_starts[0])

    @property
    def positions(self) -> int:
        """The number of local positions: how long an array with an entry per vertex is."""
        return len(self.offsets) - 1

    @property
    def owned_ids(self) -> Array:
        """The ids in the graph of the owned vertices, by local position."""
        if self.ids is not None:
            return self.ids[: self.owned]
        assert self.owned_list is not None
        return self.owned_list

    @property
    def ghost_ids(self) -> Array:
        """The ids in the graph of the ghosts, by owner and their position there."""
        if self.ids is not None:
            return self.ids[self.owned :]
        assert self.ghosts is not None
        return self.ghosts

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays, each counted once."""
        held = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                held[id(value)] = value.nbytes
        return sum(held.values())

    def __repr__(self) -> str:
        return (
            f"Part({self.device} of {self.count}, {self.owned:,} owned, "
            f"{self.num_ghosts:,} ghosts, {self.num_arcs:,} arcs, {size_text(self.nbytes)})"
        )

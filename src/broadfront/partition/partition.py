"""`Partition`: who owns which vertex of a graph. A value; its parts are built once and kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import require
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.graph.files import expect_path
from broadfront.graph.labels import frozen
from broadfront.locks import new_lock
from broadfront.partition.build import build
from broadfront.partition.data import Along, along_arcs, arcs_of, at_vertices
from broadfront.partition.outline import Outline, outline_of, outlines
from broadfront.partition.owners import checked_owners
from broadfront.partition.part import Part
from broadfront.partition.quality import Quality, measure
from broadfront.partition.wish import wish

if TYPE_CHECKING:
    import pandas

Array = NDArray[Any]


class Partition:
    """A graph split among devices; made by `broadfront.split` or `Partition.load`.

    Attributes
    ----------
    graph
        The graph that is split.
    owner
        The part of each vertex, in the smallest dtype that holds `count`; read-only.
    count
        The number of parts.
    name
        The partitioner that decided.
    seconds
        How long it took to decide, compiling apart.
    speeds
        The relative speeds that were asked for, or None.
    """

    def __init__(
        self,
        graph: Graph,
        owner: Array,
        count: int,
        name: str,
        seconds: float = 0.0,
        speeds: tuple[float, ...] | None = None,
    ) -> None:
        expect_graph(graph)
        self.graph = graph
        self.count = wish(count, speeds=speeds).count
        self.owner = checked_owners(owner, graph.num_vertices, self.count, name)
        self.name = name
        self.seconds = seconds
        self.speeds = speeds
        self._parts: dict[tuple[bool, bool], list[Part]] = {}
        self._outlines: dict[tuple[bool, bool], list[Outline]] = {}
        self._quality: Quality | None = None
        self._layouts: dict[Hashable, list[Any]] = {}
        self._home: Array | None = None
        self._lock = new_lock()

    def parts(self, relabel: bool = True, looks_back: bool = False) -> list[Part]:
        """Return what each device gets; built on first need, then kept.

        Parameters
        ----------
        relabel
            Number the vertices of each part from 0; if not, keep the ids of the graph.
        looks_back
            Give the incoming rows too; those of an undirected graph are always there.
        """
        key = (bool(relabel), bool(looks_back) or not self.graph.directed)
        with self._lock:
            if key not in self._parts:
                self._parts[key] = build(
                    self.graph, self.owner, self.count, relabel=key[0], looks_back=key[1]
                )
            return list(self._parts[key])

    def home(self) -> Array:
        """Return the local position of each vertex at its owner, in parts that are relabelled."""
        there = [some for (relabelled, _), some in list(self._parts.items()) if relabelled]
        parts = there[0] if there else self.parts(relabel=True)  # the owned stand alike in all
        with self._lock:
            if self._home is None:
                home = np.empty(self.graph.num_vertices, self.graph.targets.dtype)
                for part in parts:
                    home[part.owned_ids] = np.arange(part.owned)
                self._home = frozen(home)
            return self._home

    def positions(self, vertices: Array, part: Part, peers: Sequence[Part]) -> Array:
        """Return where vertices are in one of the relabelled parts; -1 where they are not."""
        home, owners = self.home()[vertices], self.owner[vertices]
        found = np.where(owners == part.device, home, -1).astype(np.int64)
        for peer in peers:
            theirs = np.flatnonzero(owners == peer.device)
            if peer is part or not len(theirs):
                continue
            first, last = peer.shared_starts[part.device : part.device + 2]
            shared = peer.shared[first:last]
            number = np.searchsorted(shared, home[theirs])
            known = number < len(shared)
            known[known] = shared[number[known]] == home[theirs[known]]
            found[theirs[known]] = part.ghost_starts[peer.device] + number[known]
        return found

    def outlines(self, relabel: bool = True, looks_back: bool = False) -> list[Outline]:
        """Return how large each device's part is, without building it; found once and kept."""
        key = (bool(relabel), bool(looks_back) or not self.graph.directed)
        with self._lock:
            if key not in self._outlines:
                there = self._parts.get(key)
                self._outlines[key] = (
                    outlines(self.graph, self.owner, self.count, relabel=key[0], looks_back=key[1])
                    if there is None
                    else [outline_of(part, self.graph) for part in there]
                )
            return self._outlines[key]

    def kept(self, name: str, make: Callable[[Part], Any]) -> list[Any]:
        """Return a layout of each relabelled part, made once and kept.

        For what an operator prepares from a part of the graph; it goes when the partition goes.
        """
        parts = self.parts(relabel=True, looks_back=True)
        return self._once(name, lambda: [make(part) for part in parts])

    def _once(self, key: Hashable, make: Callable[[], list[Any]]) -> list[Any]:
        """Return what is kept under a key, for each part a tuple of arrays; made on first need."""
        with self._lock:
            if key not in self._layouts:
                self._layouts[key] = make()
            return self._layouts[key]

    # ------------------------------------------------------------------ named columns

    def arcs(self, relabel: bool = True, looks_back: bool = False) -> list[Along]:
        """Return where the arcs of each part stand in ``graph.targets``; found once and kept."""
        how = {"relabel": bool(relabel), "looks_back": bool(looks_back) or not self.graph.directed}
        return self._once(
            ("arcs", *how.values()), lambda: arcs_of(self.graph, self.owner, self.count, **how)
        )

    def edge_column(self, name: str, relabel: bool = True, looks_back: bool = False) -> list[Along]:
        """Return a column of the graph's ``edge_data`` along the arcs of each part; kept."""
        column = self.graph.edge_data[name]
        if self.count == 1:
            turned = self.graph.transpose if looks_back else self.graph
            return [Along(column, turned.edge_data[name])]
        arcs = self.arcs(relabel, looks_back)
        return self._once(
            ("edge", name, bool(relabel), bool(looks_back)),
            lambda: [along_arcs(column, each) for each in arcs],
        )

    def vertex_column(
        self, name: str, relabel: bool = True, looks_back: bool = False
    ) -> list[tuple[Array]]:
        """Return a column of ``vertex_data`` at the local positions of each part; kept."""
        column, parts = self.graph.vertex_data[name], self.parts(relabel, looks_back)
        if not relabel:
            return [(column,) for _ in parts]
        return self._once(
            ("vertex", name, bool(looks_back)), lambda: [(at_vertices(column, p),) for p in parts]
        )

    @property
    def nbytes(self) -> int:
        """Bytes of the owners and of all that was built from them; the only part is the graph."""
        every = [] if self.count == 1 else [one for some in self._parts.values() for one in some]
        layouts = [array for some in self._layouts.values() for one in some for array in one]
        arrays = [self.owner, *layouts, *([] if self._home is None else [self._home])]
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray)) + sum(
            part.nbytes for part in every
        )

    def quality(self) -> Quality:
        """Return what the split costs: edges cut, balance, ghosts; measured once and kept."""
        if self._quality is None:
            self._quality = measure(self.graph, self.owner, self.count, self.speeds)
        return self._quality

    def save(self, path: str | PathLike[str]) -> None:
        """Write owners and facts to a file of NumPy's (``.npz``), whole or not at all."""
        from broadfront.partition import store

        store.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], graph: Graph) -> Partition:
        """Read a partition of `graph` that `save` wrote."""
        from broadfront.partition import store

        expect_path(path)
        expect_graph(graph)
        return store.load(path, graph)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per vertex: its label and its owner."""
        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame({"vertex": self.graph.labels, "owner": self.owner})

    def __repr__(self) -> str:
        kind = "directed" if self.graph.directed else "undirected"
        sizes = np.bincount(self.owner, minlength=self.count)
        lines = [
            f"Partition of {self.graph.num_vertices:,} vertices, {self.graph.num_edges:,} edges, "
            f"{kind}, into {self.count} by {self.name}",
            f"{sizes.min():,} to {sizes.max():,} vertices each",
            f"{self.seconds * 1e3:,.2f} ms",
        ]
        if self._quality is not None:
            lines[2:2] = self._quality.summary()
        return "\n  ".join(lines)

    def __getstate__(self) -> dict[str, object]:
        empty: dict[str, object] = {"_parts": {}, "_outlines": {}, "_layouts": {}, "_home": None}
        return {**self.__dict__, "_lock": None, **empty}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self.owner = frozen(self.owner)
        self._lock = new_lock()

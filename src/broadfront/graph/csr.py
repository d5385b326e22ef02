"""The graph: immutable compressed sparse rows.

The neighbours of vertex ``v`` are ``targets[offsets[v] : offsets[v + 1]]``, in increasing order and
each once, unless parallel edges were kept; ``weights`` and the columns of ``edge_data`` run along
with ``targets``. An undirected graph stores every edge in both
directions (a self-loop once), and counts it once in `Graph.num_edges`. Offsets and targets share
one dtype: int32 while it holds them, int64 beyond.

Labels live here and nowhere deeper: kernels see vertices ``0 .. num_vertices - 1``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront import keeping
from broadfront.errors import VertexError
from broadfront.given import is_integer
from broadfront.graph import data
from broadfront.graph.derived import Derived
from broadfront.graph.labels import Labels, frozen, unknown
from broadfront.graph.origin import Origin
from broadfront.graph.soundness import extremes
from broadfront.locks import new_lock
from broadfront.residence import AT_HAND, Guard

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

Array = NDArray[Any]


class Graph(Derived):
    """A directed or undirected graph, with or without weights and labels.

    Not built by hand: `broadfront.from_edges`, `broadfront.read`, `broadfront.generate` and the
    converters make graphs. All arrays are read-only.

    Examples
    --------
    >>> import broadfront as bf
    >>> graph = bf.from_edges([0, 0, 2], [1, 2, 1], weight=[5, 7, 1])
    >>> graph
    Graph(directed, 3 vertices, 3 edges, weights int32 1..7, degree 0..2 mean 1.0, 40 bytes)
    >>> graph.neighbors(0)
    array([1, 2], dtype=int32)
    """

    def __init__(
        self,
        offsets: Array,
        targets: Array,
        weights: Array | None,
        *,
        directed: bool,
        self_loops: int,
        labels: Labels | None = None,
        origin: Origin | None = None,
        edge_data: Mapping[str, Array] | None = None,
        vertex_data: Mapping[str, Array] | None = None,
        parallel: bool = False,
        check: Callable[[], None] | None = None,
        mapped: bool = False,
    ) -> None:
        self._offsets = frozen(offsets)
        self._targets = frozen(targets)
        self._weights = None if weights is None else frozen(weights)
        self._directed = directed
        self._self_loops = self_loops
        self._labels = labels
        self._edge_data = {name: frozen(values) for name, values in (edge_data or {}).items()}
        self._vertex_data = {name: frozen(values) for name, values in (vertex_data or {}).items()}
        self._parallel = parallel
        self._transpose: Graph | None = None
        self._weight_bounds: tuple[Any, Any] | None = None
        self._weight_sum: Any = None
        self._max_degree: int | None = None
        self._layouts: dict[str, Any] = {}
        self._lock = new_lock()
        self._check = check
        self._mapped = mapped
        self.origin = origin or Origin()

    # ------------------------------------------------------------------ size and kind

    @property
    def num_vertices(self) -> int:
        """The number of vertices, isolated ones included."""
        return len(self._offsets) - 1

    @property
    def num_edges(self) -> int:
        """The number of edges; of an undirected graph each counted once."""
        if self._directed:
            return self.num_arcs
        return (self.num_arcs + self._self_loops) // 2

    @property
    def num_arcs(self) -> int:
        """The number of stored neighbours: the length of `targets`."""
        return len(self._targets)

    @property
    def num_self_loops(self) -> int:
        """The number of edges from a vertex to itself."""
        return self._self_loops

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self._directed

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self._weights is not None

    @property
    def has_parallel_edges(self) -> bool:
        """Whether some edges have both ends in common; only ``duplicates="keep"`` leaves such."""
        return self._parallel

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays, the transpose and kept layouts included once they are built."""
        held = self.row_bytes + sum(column.nbytes for column in self._vertex_data.values())
        held += 0 if self._labels is None else self._labels.nbytes
        turned = self._transpose
        if turned is not None and turned is not self:
            held += turned.row_bytes
        for layout in list(self._layouts.values()):
            held += sum(part.nbytes for part in layout if isinstance(part, np.ndarray))
        return held

    @property
    def row_bytes(self) -> int:
        """Bytes of the rows, and of what runs along with them: weights and columns of edges."""
        columns = [self._offsets, self._targets, *self._edge_data.values()]
        columns += [] if self._weights is None else [self._weights]
        return sum(column.nbytes for column in columns)

    # ------------------------------------------------------------------ arrays

    @property
    def offsets(self) -> Array:
        """Where the neighbours of each vertex begin; one more than there are vertices."""
        self._checked()
        return self._offsets

    @property
    def targets(self) -> Array:
        """The neighbours of all vertices, one vertex after the other."""
        self._checked()
        return self._targets

    @property
    def weights(self) -> Array | None:
        """The weight of each arc, along `targets`; None without weights."""
        self._checked()
        return self._weights

    @property
    def edge_data(self) -> Mapping[str, Array]:
        """The named columns of the edges, each along `targets`."""
        self._checked()
        return MappingProxyType(self._edge_data)

    @property
    def vertex_data(self) -> Mapping[str, Array]:
        """The named columns of the vertices, each with a value per vertex."""
        self._checked()
        return MappingProxyType(self._vertex_data)

    @property
    def mapped(self) -> bool:
        """Whether arcs are in a file that is mapped to memory, and come when they are touched."""
        return self._mapped

    @property
    def arc_arrays(self) -> list[Array]:
        """The arrays with an entry per arc."""
        columns = [self._targets, *self._edge_data.values()]
        return columns if self._weights is None else [*columns, self._weights]

    def _at_hand(self) -> AbstractContextManager[object]:
        """Return a block in which little of a mapped graph is in memory at a time."""
        large = self._mapped and self.row_bytes > AT_HAND
        return Guard(self.arc_arrays, AT_HAND) if large else nullcontext()

    @property
    def weight_bounds(self) -> tuple[Any, Any]:
        """The smallest and the largest weight, found once and kept; 1 and 1 without weights."""
        if self._weight_bounds is None:
            weights = self.weights
            given = weights is not None and len(weights) > 0
            with self._at_hand():
                self._weight_bounds = extremes(weights) if given else (1, 1)  # type: ignore[arg-type]
        return self._weight_bounds

    @property
    def weight_sum(self) -> Any:
        """The weights of all arcs added up in 64 bits, found once and kept; 1 each without any.

        Integers may wrap around; `weight_bounds` tells whether they can.
        """
        if self._weight_sum is None:
            weights = self.weights
            wide = np.float64 if weights is not None and weights.dtype.kind == "f" else np.int64
            with self._at_hand():
                self._weight_sum = self.num_arcs if weights is None else weights.sum(dtype=wide)
        return self._weight_sum

    @property
    def max_degree(self) -> int:
        """The largest of `degrees`, found once and kept."""
        if self._max_degree is None:
            self._max_degree = int(self.degrees.max(initial=0))
        return self._max_degree

    @property
    def never_branches(self) -> bool:
        """Whether whoever does not turn back has one way on at most: paths and cycles."""
        return self.max_degree <= (1 if self.directed else 2)

    @property
    def degrees(self) -> Array:
        """The number of neighbours of each vertex (outgoing arcs of a directed graph)."""
        degrees: Array = np.diff(self.offsets)
        return degrees

    def neighbors(self, vertex: int) -> Array:
        """Return the neighbours of the vertex at position `vertex`, in increasing order."""
        if not self._is_vertex(vertex):
            raise VertexError(f"position {vertex!r} is not in 0..{self.num_vertices - 1}")
        return self.targets[self._offsets[vertex] : self._offsets[vertex + 1]]

    def sources(self) -> Array:
        """Return the source of each arc, along `targets`."""
        everyone = np.arange(self.num_vertices, dtype=self._targets.dtype)
        sources: Array = np.repeat(everyone, self.degrees)
        return sources

    @property
    def transpose(self) -> Graph:
        """The graph with every arc turned around; built on first need, then kept."""
        if not self._directed:
            return self
        with self._lock:
            if self._transpose is None:
                rows, along = data.turned(
                    self.offsets, self.targets, self.weights, self._edge_data, self._parallel
                )
                self._transpose = Graph(
                    rows.offsets, rows.targets, rows.weights, directed=True,
                    self_loops=self._self_loops, labels=self._labels, origin=self.origin,
                    edge_data=along, vertex_data=self._vertex_data, parallel=self._parallel,
                )  # fmt: skip
                self._transpose._transpose = self
            return self._transpose

    def with_transpose(self, turned: Graph) -> Graph:
        """Keep `turned`, in which every arc is turned around, as `transpose`; return it."""
        with self._lock:
            self._transpose, turned._transpose = turned, self
        return turned

    @property
    def has_transpose(self) -> bool:
        """Whether `transpose` is there already; that of an undirected graph always is."""
        return not self._directed or self._transpose is not None

    def kept(self, name: str, make: Callable[[], tuple[Any, ...]]) -> Any:
        """Return the layout called `name`: a tuple of arrays and numbers, made once and kept.

        For what an operator prepares from the graph; it goes when the graph goes, or by `forget`.
        """
        with self._lock:
            if name not in self._layouts:
                self._layouts[name] = make()
            return self._layouts[name]

    def keeps(self, name: str) -> bool:
        """Return whether the layout called `name` is there already."""
        return name in self._layouts

    @property
    def layouts(self) -> list[tuple[Any, ...]]:
        """All layouts that are kept."""
        return list(self._layouts.values())

    def forget(self) -> None:
        """Drop all that was built from the graph and kept: transpose, partitions, layouts.

        What somebody still holds stays; everything else is built again when it is needed.

        Examples
        --------
        >>> import broadfront as bf
        >>> graph = bf.from_edges([0, 0], [1, 2])
        >>> small = graph.nbytes
        >>> graph.transpose.neighbors(2)
        array([0], dtype=int32)
        >>> graph.forget()
        >>> graph.nbytes == small
        True
        """
        with self._lock:
            self._layouts = {}
            if self._transpose is not None:
                self._transpose._transpose = None  # else each keeps the other until it is collected
            self._transpose = None
        keeping.give_back(keeping.MUCH)

    # ------------------------------------------------------------------ labels

    @property
    def labels(self) -> Array:
        """The user's name of each vertex; ``0 .. num_vertices - 1`` where none were given."""
        self._checked()
        if self._labels is None:
            return np.arange(self.num_vertices, dtype=self._targets.dtype)
        return self._labels.values

    def labels_of(self, positions: ArrayLike) -> Array:
        """Return the user's names of the vertices at `positions`."""
        self._checked()
        places = np.asarray(positions)
        return places if self._labels is None else self._labels.of(places)

    @property
    def first_label(self) -> int | None:
        """The label of vertex 0 where labels rise by one from vertex to vertex; else None."""
        return 0 if self._labels is None else self._labels.first

    @property
    def labelled(self) -> bool:
        """Whether vertices have names other than their positions."""
        return self._labels is not None

    def vertex(self, label: object) -> int:
        """Return the position of the vertex called `label`."""
        self._checked()
        if self._labels is not None:
            return self._labels.position(label)
        if not self._is_vertex(label):
            raise unknown(label, *((0, self.num_vertices - 1) if self.num_vertices else ()))
        return int(label)  # type: ignore[call-overload,no-any-return]

    def _is_vertex(self, position: object) -> bool:
        return is_integer(position) and 0 <= position < self.num_vertices  # type: ignore[operator]

    # ------------------------------------------------------------------ out

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the adjacency as a SciPy CSR array that shares memory where SciPy allows it."""
        from broadfront.graph import convert

        return convert.to_scipy(self)

    def to_networkx(self) -> networkx.Graph:
        """Return a NetworkX graph on the labels, weights and columns as attributes."""
        from broadfront.graph import convert

        return convert.to_networkx(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per edge: source, target, weight, and other columns."""
        from broadfront.graph import tables

        return tables.to_pandas(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the graph to a file in the format that the suffix of `path` names."""
        from broadfront.graph.write import write

        write(self, path)

    # ------------------------------------------------------------------ looks

    def describe(self) -> dict[str, object]:
        """Return what matters of the graph as plain values, for tables and JSON."""
        from broadfront.graph import looks

        return looks.facts(self)

    def __repr__(self) -> str:
        from broadfront.graph import looks

        return looks.line(self)

    def _repr_html_(self) -> str:
        from broadfront.graph import looks

        return looks.table(self)

    def _checked(self) -> None:
        """Run the check that was put off when the graph was opened, once."""
        check = self._check  # another thread may be done with it between two looks
        if check is not None:
            with self._at_hand():
                check()
            self._check = None

    def __getstate__(self) -> dict[str, object]:
        self._checked()
        state = {**self.__dict__, "_mapped": False}
        del state["_lock"]
        state["_transpose"] = None
        state["_layouts"] = {}
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._offsets, self._targets = frozen(self._offsets), frozen(self._targets)
        self._weights = None if self._weights is None else frozen(self._weights)
        for columns in (self._edge_data, self._vertex_data):
            columns.update({name: frozen(values) for name, values in columns.items()})
        self._lock = new_lock()

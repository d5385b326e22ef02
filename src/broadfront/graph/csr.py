"""The graph: immutable compressed sparse rows.

The neighbours of vertex ``v`` are ``targets[offsets[v] : offsets[v + 1]]``, in increasing order and
each once; ``weights`` runs along with ``targets``. An undirected graph stores every edge in both
directions (a self-loop once), and counts it once in `Graph.num_edges`. Offsets and targets share
one dtype: int32 while it holds them, int64 beyond.

Labels live here and nowhere deeper: kernels see vertices ``0 .. num_vertices - 1``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import VertexError
from broadfront.graph import build
from broadfront.graph.labels import Labels, frozen, is_integer, unknown

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

Array = NDArray[Any]


@dataclass(frozen=True)
class Origin:
    """Where a graph came from, and what was merged or dropped on the way."""

    name: str = "edges"
    edges_read: int = 0
    duplicates: int = 0
    """Edges merged into an equal one."""
    self_loops: int = 0
    """Edges from a vertex to itself that were read."""
    self_loops_dropped: bool = False
    seconds: float = 0.0
    """Time on the wall, compiling apart."""
    compile_seconds: float = 0.0

    def __str__(self) -> str:
        loops = "self-loops dropped" if self.self_loops_dropped else "self-loops"
        return (
            f"{self.name}: {self.edges_read:,} edges read, {self.duplicates:,} duplicates merged, "
            f"{self.self_loops:,} {loops}, {self.seconds:.2f} s"
        )


class Graph:
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
        check: Callable[[], None] | None = None,
    ) -> None:
        self._offsets = frozen(offsets)
        self._targets = frozen(targets)
        self._weights = None if weights is None else frozen(weights)
        self._directed = directed
        self._self_loops = self_loops
        self._labels = labels
        self._transpose: Graph | None = None
        self._weight_bounds: tuple[Any, Any] | None = None
        self._max_degree: int | None = None
        self._layouts: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._check = check
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
    def nbytes(self) -> int:
        """Bytes held by the arrays, the transpose and kept layouts included once they are built."""
        held = self._offsets.nbytes + self._targets.nbytes
        held += 0 if self._weights is None else self._weights.nbytes
        held += 0 if self._labels is None else self._labels.nbytes
        turned = self._transpose
        if turned is not None and turned is not self:
            held += turned._offsets.nbytes + turned._targets.nbytes
            held += 0 if turned._weights is None else turned._weights.nbytes
        for layout in list(self._layouts.values()):
            held += sum(part.nbytes for part in layout if isinstance(part, np.ndarray))
        return held

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
    def weight_bounds(self) -> tuple[Any, Any]:
        """The smallest and the largest weight, found once and kept; 1 and 1 without weights."""
        if self._weight_bounds is None:
            weights = self.weights
            given = weights is not None and len(weights) > 0
            self._weight_bounds = (weights.min(), weights.max()) if given else (1, 1)  # type: ignore[union-attr]
        return self._weight_bounds

    @property
    def max_degree(self) -> int:
        """The largest of `degrees`, found once and kept."""
        if self._max_degree is None:
            self._max_degree = int(self.degrees.max(initial=0))
        return self._max_degree

    @property
    def degrees(self) -> Array:
        """The number of neighbours of each vertex (outgoing arcs of a directed graph)."""
        degrees: Array = np.diff(self.offsets)
        return degrees

    def neighbors(self, vertex: int) -> Array:
        """Return the neighbours of the vertex at position `vertex`, in increasing order."""
        if not self._is_vertex(vertex):
            raise VertexError(f"vertex {vertex!r} is not in 0..{self.num_vertices - 1}")
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
                rows = build.transposed(self.offsets, self.targets, self.weights)
                self._transpose = Graph(
                    rows.offsets, rows.targets, rows.weights, directed=True,
                    self_loops=self._self_loops, labels=self._labels, origin=self.origin,
                )  # fmt: skip
                self._transpose._transpose = self
            return self._transpose

    def kept(self, name: str, make: Callable[[], tuple[Any, ...]]) -> Any:
        """Return the layout called `name`: a tuple of arrays and numbers, made once and kept.

        For what an operator prepares from the graph; it goes when the graph goes.
        """
        with self._lock:
            if name not in self._layouts:
                self._layouts[name] = make()
            return self._layouts[name]

    # ------------------------------------------------------------------ labels

    @property
    def labels(self) -> Array:
        """The user's name of each vertex; ``0 .. num_vertices - 1`` where none were given."""
        self._checked()
        if self._labels is None:
            return np.arange(self.num_vertices, dtype=self._targets.dtype)
        return self._labels.values

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
        """Return a NetworkX Graph or DiGraph on the labels, weights as ``weight``."""
        from broadfront.graph import convert

        return convert.to_networkx(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with columns source, target and, with weights, weight."""
        from broadfront.graph import tables

        return tables.to_pandas(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the graph to a file in the format that the suffix of `path` names."""
        from broadfront.graph.write import write

        write(self, path)

    # ------------------------------------------------------------------ looks

    def describe(self) -> dict[str, object]:
        """Return what matters of the graph as plain values, for tables and JSON."""
        degrees = self.degrees
        facts: dict[str, object] = {
            "vertices": self.num_vertices,
            "edges": self.num_edges,
            "directed": self.directed,
            "weights": None,
            "degree_min": int(degrees.min()) if len(degrees) else 0,
            "degree_mean": float(degrees.mean()) if len(degrees) else 0.0,
            "degree_max": int(degrees.max(initial=0)),
            "isolated": int(np.count_nonzero(self._isolated())),
            "self_loops": self.num_self_loops,
            "labels": self._labels.kind if self._labels is not None else "positions",
            "bytes": self.nbytes,
        }
        weights = self.weights
        if weights is not None:
            facts["weights"] = str(weights.dtype)
            if len(weights):
                facts["weight_min"], facts["weight_max"] = (
                    weights.min().item(),
                    weights.max().item(),
                )
        return facts

    def _isolated(self) -> Array:
        alone: Array = self.degrees == 0
        if self._directed:
            alone[self.targets] = False
        return alone

    def __repr__(self) -> str:
        degrees = self.degrees
        parts = [
            "directed" if self.directed else "undirected",
            f"{self.num_vertices:,} vertices",
            f"{self.num_edges:,} edges",
        ]
        if self.weights is not None:
            extent = f" {self.weights.min()}..{self.weights.max()}" if self.num_arcs else ""
            parts.append(f"weights {self.weights.dtype}{extent}")
        if len(degrees):
            parts.append(f"degree {degrees.min():,}..{degrees.max():,} mean {degrees.mean():.1f}")
        if self._labels is not None:
            parts.append(f"labels {self._labels.kind}")
        parts.append(size_text(self.nbytes))
        return f"Graph({', '.join(parts)})"

    def _repr_html_(self) -> str:
        facts = {"origin": str(self.origin), **self.describe()}
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name.replace('_', ' '))}</th>"
            f"<td style='text-align:left'>{escape(_html_value(value))}</td></tr>"
            for name, value in facts.items()
        )
        return f"<table><caption>broadfront.Graph</caption>{rows}</table>"

    def _checked(self) -> None:
        """Run the check that was put off when the graph was opened, once."""
        check = self._check  # another thread may be done with it between two looks
        if check is not None:
            check()
            self._check = None

    def __getstate__(self) -> dict[str, object]:
        self._checked()
        state = dict(self.__dict__)
        del state["_lock"]
        state["_transpose"] = None
        state["_layouts"] = {}
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._offsets, self._targets = frozen(self._offsets), frozen(self._targets)
        self._weights = None if self._weights is None else frozen(self._weights)
        self._lock = threading.RLock()


def size_text(size: float) -> str:
    """Return a number of bytes as people say it."""
    if size < 1024:
        return f"{size:.0f} bytes"
    unit = "bytes"
    for unit in ("KiB", "MiB", "GiB", "TiB"):  # noqa: B007
        size /= 1024
        if size < 1024:
            break
    return f"{size:.1f} {unit}"


def _html_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)

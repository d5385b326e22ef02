"""What every primitive returns: arrays against the user's labels, a record, and a verifier.

A primitive's result is a small frozen dataclass on top of `Result` that says which of its arrays
have an entry per vertex (`columns`), what is worth telling (`summary`), and how to check it
(`verify`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.csr import Graph
from broadfront.report.record import Record

if TYPE_CHECKING:
    import pandas

Array = NDArray[Any]


@dataclass(frozen=True, repr=False, eq=False)
class Result:
    """The answer of a primitive on a graph.

    Attributes
    ----------
    graph
        The graph it was computed on.
    report
        What the run did, iteration by iteration.
    """

    vertex_columns: ClassVar[tuple[str, ...]] = ()
    """The columns that hold vertices, by position."""

    graph: Graph
    report: Record

    def columns(self) -> dict[str, Array]:
        """Return the arrays with an entry per vertex, by name."""
        raise TypeError(f"{type(self).__name__} has no columns")

    def labelled_columns(self) -> dict[str, Array]:
        """Return `columns` with vertices by label; without one -1 stays, None among names."""
        return {
            name: _labels_at(self.graph, column) if name in self.vertex_columns else column
            for name, column in self.columns().items()
        }

    def summary(self) -> list[str]:
        """Return what is worth telling, a line each."""
        return []

    def totals(self) -> dict[str, Any]:
        """Return the totals of the report, and those of the answer, as plain values."""
        return dict(self.report.totals())

    def pace(self) -> str:
        """Return in words how many edges were traversed, and how quickly."""
        edges = self.report.edges_visited
        return (
            f"{edges:,} edges traversed, {per_second(edges, self.report.seconds)} million a second"
        )

    def verify(self) -> None:
        """Check the answer by its properties; raises `VerificationError` where it is wrong."""
        raise TypeError(f"{type(self).__name__} has no verifier")

    @property
    def labels(self) -> Array:
        """The names of the vertices, in the order of the arrays."""
        return self.graph.labels

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per vertex; vertices are called by their labels."""
        from broadfront.errors import require

        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame({"vertex": self.labels, **self.labelled_columns()})

    def __repr__(self) -> str:
        kind = "directed" if self.graph.directed else "undirected"
        lines = [
            f"{type(self).__name__} on {self.graph.num_vertices:,} vertices, "
            f"{self.graph.num_edges:,} edges, {kind}",
            *self.summary(),
            f"{self.report.course}, {self.pace()}",
            *self.report.lines(),
        ]
        return "\n  ".join(lines)


def per_second(edges: int, seconds: float) -> str:
    """Return how many million edges a second that is, as text."""
    millions = edges / max(seconds, 1e-9) / 1e6
    return f"{millions:,.0f}" if millions >= 10 else f"{millions:.2g}"


def _labels_at(graph: Graph, positions: Array) -> Array:
    if not graph.labelled:
        return positions
    nowhere = positions < 0
    if not nowhere.any():
        return graph.labels_of(positions)
    names = graph.labels_of(np.where(nowhere, 0, positions))
    if names.dtype.kind in "iu" and names.min() >= 0:
        names[nowhere] = -1
        return names
    names = names.astype(object)
    names[nowhere] = None
    return names


def path(parent: Array, graph: Graph, target: object) -> list[Any]:
    """Return the labels along the tree of parents, from its root to `target`, or nothing."""
    vertex = graph.vertex(target)
    if parent[vertex] < 0:
        return []
    steps = [vertex]
    while parent[vertex] != vertex:
        vertex = int(parent[vertex])
        steps.append(vertex)
    names: list[Any] = graph.labels_of(steps[::-1]).tolist()
    return names

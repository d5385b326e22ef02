"""What every primitive returns: arrays against the user's labels, a record, and a verifier.

A primitive's result is a small frozen dataclass on top of `Result` that says which of its arrays
have an entry per vertex (`columns`), what is worth telling (`story`), and how to check it
(`verify`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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

    graph: Graph
    report: Record

    def columns(self) -> dict[str, Array]:
        """Return the arrays with an entry per vertex, by name."""
        raise TypeError(f"{type(self).__name__} has no columns")

    def story(self) -> list[str]:
        """Return what is worth telling, a line each."""
        return []

    def verify(self) -> None:
        """Check the answer by its properties; raises `VerificationError` where it is wrong."""
        raise TypeError(f"{type(self).__name__} has no verifier")

    @property
    def labels(self) -> Array:
        """The names of the vertices, in the order of the arrays."""
        return self.graph.labels

    def to_pandas(self) -> pandas.DataFrame:
        """Return a data frame with a row per vertex."""
        from broadfront.errors import require

        pandas_: Any = require("pandas", "pandas")
        return pandas_.DataFrame({"vertex": self.labels, **self.columns()})

    def __repr__(self) -> str:
        kind = "directed" if self.graph.directed else "undirected"
        report = self.report
        rate = report.edges_visited / max(report.seconds, 1e-9) / 1e6
        told = report.totals()
        sent = [f"{told['vertices_sent']:,} vertices sent between devices in "
                f"{told['bytes_sent']:,} bytes"] if report.devices else []  # fmt: skip
        lines = [
            f"{type(self).__name__} on {self.graph.num_vertices:,} vertices, "
            f"{self.graph.num_edges:,} edges, {kind}",
            *self.story(),
            f"{report.iterations:,} iterations, {report.edges_visited:,} arcs looked at, "
            f"{rate:,.0f} million a second",
            *sent,
            f"{report.seconds * 1e3:,.2f} ms on "
            + (f"{len(report.devices)} devices, " if report.devices else "")
            + f"{report.threads} thread"
            f"{'s' if report.threads > 1 else ''}"
            + (f", and {report.compile_seconds:.1f} s compiling" if report.compile_seconds else ""),
        ]
        return "\n  ".join(lines)


def path(parent: Array, graph: Graph, target: object) -> list[Any]:
    """Return the labels along the tree of parents, from its root to `target`, or nothing."""
    vertex = graph.vertex(target)
    if parent[vertex] < 0:
        return []
    steps = [vertex]
    while parent[vertex] != vertex:
        vertex = int(parent[vertex])
        steps.append(vertex)
    names: list[Any] = graph.labels[steps[::-1]].tolist()
    return names

"""Triangles: three vertices that are all neighbours of each other, in total and at each vertex.

Method: the operator `Intersect` finds every triangle once. Adding up alone is about twice as quick
as counting at each vertex, so the total is there at once, and `per_vertex` on first access.

Invariant: counts are of integers, so they are the same for any number of threads. Directions,
duplicates and self-loops do not count: see `broadfront.algorithms.undirected`.

References
----------
Chiba, Nishizeki: Arboricity and subgraph listing algorithms (SIAM J. Computing 14, 1985).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.algorithms.undirected import run_undirected
from broadfront.execution.options import Options
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Field, Intersect
from broadfront.report.result import Result


def keep(vertex, count, state):
    """Keep the number of triangles at a vertex."""
    state.per_vertex[vertex] = count


TOTAL = Program(
    {"total": Field(np.int64, length=1)}, step=[Intersect(total="total")], name="triangles"
)
PER_VERTEX = Program(
    {"per_vertex": Field(np.int64)}, step=[Intersect(keep, each="vertex")], name="triangles"
)


@dataclass(frozen=True, repr=False, eq=False)
class Triangles(Result):
    """The triangles of a graph.

    Attributes
    ----------
    total
        How many there are.
    per_vertex
        int64, how many each vertex is a corner of; counted on first access, with the
        options of the call.
    """

    total: int
    _options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def per_vertex(self) -> NDArray[np.int64]:
        """How many triangles each vertex is a corner of."""
        return run_undirected(PER_VERTEX, self.graph, **self._options)["per_vertex"]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the triangles at each vertex."""
        return {"triangles": self.per_vertex}

    def summary(self) -> list[str]:
        """Return how many there are."""
        return [f"{self.total:,} triangles"]

    def verify(self) -> None:
        """Check total and counts against a serial count."""
        from broadfront.verify import verify_triangles

        verify_triangles(self.graph, self.total, self.per_vertex)


def triangles(
    graph: Graph,
    **options: Unpack[Options],
) -> Triangles:
    """Count the triangles of a graph, whatever the direction of its edges.

    Parameters
    ----------
    options
        As in `broadfront.bfs`.

    Examples
    --------
    >>> import broadfront as bf
    >>> graph = bf.from_edges(["a", "b", "c", "c"], ["b", "c", "a", "d"])
    >>> found = bf.triangles(graph)
    >>> found.total
    1
    >>> found.per_vertex
    array([1, 1, 1, 0])
    """
    answer = run_undirected(TOTAL, graph, **options)
    return Triangles(graph, answer.record, int(answer["total"][0]), options)

"""Connected components: which vertices hang together, by the smallest of each.

Method "sampling": the operator `Unite`, which looks at a few edges of each vertex, and then only at
those of vertices outside the largest component. A directed graph is taken both ways.

Method "min_label": everyone starts with its own position for a label, and the smaller label goes
along every edge until nothing changes. It is a few lines, and takes as many rounds as the longest
shortest path from the smallest vertex of a component.

References
----------
Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling
(IPDPS 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront.algorithms.undirected import run_undirected
from broadfront.errors import OptionError
from broadfront.execution.options import Options
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.given import is_word
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph
from broadfront.operators.describe import Advance, Field, Unite
from broadfront.report.result import Result

METHODS = ("sampling", "min_label")


def label_of(source, neighbor, edge, state):
    """Propose the label of the source."""
    return state.component[source]


MIN_LABEL = Program(
    {"component": Field("vertex", combine="min")},
    step=[Advance(label_of, into="component", synchronous=False)],
    name="min_label",
)


COMPONENTS = Program({"component": Field("vertex")}, step=[Unite("component")], name="components")


@dataclass(frozen=True, repr=False, eq=False)
class Components(Result):
    """The components of a graph, weak ones of a directed graph.

    Attributes
    ----------
    component
        For each vertex the position of the smallest vertex of its component.
    count
        How many components there are.
    """

    vertex_columns: ClassVar[tuple[str, ...]] = ("component",)

    component: NDArray[Any]
    count: int

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the component of each vertex."""
        return {"component": self.component}

    def summary(self) -> list[str]:
        """Return how many, and the largest."""
        largest = int(np.bincount(self.component).max(initial=0)) if len(self.component) else 0
        return [f"{self.count:,} components, the largest of {largest:,} vertices"]

    def verify(self) -> None:
        """Check that the classes are the components and the labels their smallest vertices."""
        from broadfront.verify import verify_components

        verify_components(self.graph, self.component, self.count)


def connected_components(
    graph: Graph,
    *,
    method: str = "sampling",
    **options: Unpack[Options],
) -> Components:
    """Find the connected components; of a directed graph the weak ones.

    Parameters
    ----------
    method
        ``"sampling"``, the quick one, or ``"min_label"``, the simple one; the answer is the same.
    options
        As in `broadfront.bfs`.

    Examples
    --------
    >>> import broadfront as bf
    >>> found = bf.connected_components(bf.from_edges([0, 3], [1, 4], num_vertices=5))
    >>> found.component, found.count
    (array([0, 0, 2, 3, 3], dtype=int32), 3)
    """
    if is_word(method, "sampling"):
        answer = run(COMPONENTS, graph, **options)
    elif is_word(method, "min_label"):
        expect_graph(graph)
        everyone = np.arange(graph.num_vertices)
        start = {"component": everyone}
        answer = run_undirected(MIN_LABEL, graph, frontier=everyone, init=start, **options)
    else:
        raise OptionError(f"method={method!r}: expected one of {', '.join(METHODS)}")
    component = answer["component"]
    ids = np.arange(len(component), dtype=component.dtype)
    return Components(graph, answer.record, component, int(np.count_nonzero(component == ids)))

"""Connected components: which vertices hang together, by the smallest of each.

Method "sampling": every vertex hangs under a smaller neighbour where it has one, which is a
forest; trees are compressed to stars; one more edge of each vertex is linked. By then almost
everyone is in the largest component, which a sample finds, and only the vertices outside it look at
their other edges.

Method "min_label": everyone starts with its own position for a label, and the smaller label goes
along every edge until nothing changes. It is a few lines, and takes as many rounds as the longest
shortest path from the smallest vertex of a component.

Invariant: links go from the larger root to the smaller, so roots only get smaller, and the root of
a finished tree is its smallest vertex. A directed graph is taken both ways; since an edge between
the largest component and the rest may be seen from inside alone, no vertex is passed over there.

References
----------
Sutton, Ben-Nun, Barak: Optimizing parallel graph connectivity computation via subgraph sampling
(IPDPS 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront.algorithms.triangles import undirected
from broadfront.errors import OptionError
from broadfront.execution.options import Options
from broadfront.execution.program import Phase, Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.kernel import inner
from broadfront.operators.describe import Advance, Compute, Field, Once
from broadfront.report.result import Result

METHODS = ("sampling", "min_label")
SAMPLES = 1024


def label_of(source, neighbor, edge, state):
    """Propose the label of the source."""
    return state.component[source]


MIN_LABEL = Program(
    {"component": Field("vertex", combine="min")}, step=[Advance(label_of, into="component")]
)


@inner
def link(left, right, component):
    """Hang the larger of two roots under the smaller."""
    one, other = component[component[left]], component[component[right]]
    while one != other:
        high, low = max(one, other), min(one, other)
        above = component[high]
        if above == low:
            break
        if above == high and atomics.compare_and_swap(component, high, high, low):
            break
        one, other = component[component[high]], component[low]


def hang(vertex, state):
    """Hang a vertex under its smallest neighbour, and note an edge that is still to be linked."""
    first, last = state.offsets[vertex], state.offsets[vertex + 1]
    above, second = vertex, vertex
    if first < last:
        smallest = state.targets[first]
        if smallest < vertex:
            above = smallest
            if first + 1 < last:
                second = state.targets[first + 1]
        else:
            second = smallest
    state.component[vertex] = above
    state.second[vertex] = second


def compress(vertex, state):
    """Hang a vertex directly under its root."""
    root = state.component[vertex]
    while root != state.component[root]:
        root = state.component[root]
    state.component[vertex] = root


def link_second(vertex, state):
    """Link the edge that was noted."""
    if state.second[vertex] != vertex:
        link(vertex, state.second[vertex], state.component)


def find_largest(state):
    """Take the most frequent root of a sample for the largest component."""
    if state.passes_over == 0 or state.num_vertices == 0:
        return
    best, most = state.component[0], 0
    for sample in range(SAMPLES):
        state.votes[sample] = state.component[(sample * 2654435761) % state.num_vertices]
    for sample in range(0, SAMPLES, 16):
        votes = 0
        for other in range(SAMPLES):
            votes += state.votes[other] == state.votes[sample]
        if votes > most:
            best, most = state.votes[sample], votes
    state.largest[0] = best


def link_rest(vertex, state):
    """Link the other edges of a vertex outside the largest component."""
    if state.component[vertex] != state.largest[0]:
        for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
            link(vertex, state.targets[edge], state.component)


COMPONENTS = Program(
    fields={
        "component": Field("vertex"),
        "second": Field("vertex"),
        "votes": Field("vertex", length=SAMPLES),
        "largest": Field("vertex", fill=-1, length=1),
    },
    parameters=["passes_over"],
    phases=[
        Phase([Compute(hang), Compute(compress), Compute(link_second), Compute(compress)]),
        Phase([Once(find_largest), Compute(link_rest), Compute(compress)]),
    ],
)


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

    component: NDArray[Any]
    count: int

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the component of each vertex."""
        return {"component": self.component}

    def story(self) -> list[str]:
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
    if method == "sampling":
        parameters = {"passes_over": int(not graph.directed)}
        answer = run(COMPONENTS, graph, parameters=parameters, **options)
    elif method == "min_label":
        everyone = np.arange(graph.num_vertices)
        start = {"component": everyone}
        answer = run(MIN_LABEL, undirected(graph), frontier=everyone, start=start, **options)
    else:
        raise OptionError(f"method={method!r}: expected one of {', '.join(METHODS)}")
    component = answer["component"]
    count = int(np.count_nonzero(component == np.arange(len(component))))
    return Components(graph, answer.record, component, count)

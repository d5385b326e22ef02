"""Checks connected components: each label is the smallest vertex of its component.

Method: a label is a vertex of its own class and no vertex of the class is smaller; both ends of
every arc agree, so no component is split; a serial union-find gives the components once more, and
a vertex whose root is not its label is not connected with it, so none are merged. Directed graphs:
weak components, arcs taken both ways.

Invariant: in the union-find the root of a set is its smallest vertex.

References
----------
Tarjan, van Leeuwen: Worst-case analysis of set union algorithms (JACM 31, 1984), for path halving.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import VerificationError
from broadfront.given import whole
from broadfront.graph.csr import Graph
from broadfront.kernel import kernel
from broadfront.verify.rules import answer, broken_edge, broken_vertex, first, name_of

Array = NDArray[Any]


def verify_components(graph: Graph, component: ArrayLike, count: int | None = None) -> None:
    """Check the labels, and the number if given, of the (weakly) connected components.

    Parameters
    ----------
    component
        The smallest position in the component of each vertex; int32 or the dtype of the graph's
        targets.
    count
        The number of components.

    Raises
    ------
    VerificationError
        Names the broken rule and the first offending vertex or edge.

    Examples
    --------
    >>> import numpy as np
    >>> import broadfront as bf
    >>> from broadfront.verify import verify_components
    >>> graph = bf.from_edges([0, 2], [1, 3], directed=False)
    >>> verify_components(graph, np.array([0, 0, 2, 2], np.int32), count=2)
    >>> verify_components(graph, np.array([0, 0, 0, 0], np.int32))
    Traceback (most recent call last):
    ...
    broadfront.errors.VerificationError: classes are connected: vertex 2: no way to 0
    """
    if count is not None:
        count = whole(count, "count")
    component = answer(graph, "component", component, np.int32, graph.targets.dtype)
    _check_labels(graph, component)
    tail, arc = _first_split(graph.offsets, graph.targets, component)
    if tail >= 0:
        head = int(graph.targets[arc])
        raise broken_edge(
            graph, "both ends of an arc have one label", tail, head,
            f"labels {name_of(graph, component[tail])!r} and {name_of(graph, component[head])!r}",
        )  # fmt: skip
    wrong = first(_roots(graph.offsets, graph.targets) != component)
    if wrong is not None:
        label = name_of(graph, component[wrong])
        raise broken_vertex(graph, "classes are connected", wrong, f"no way to {label!r}")
    found = np.count_nonzero(component == np.arange(graph.num_vertices))
    if count is not None and count != found:
        raise VerificationError("count is the number of labels", f"{count:,}, but {found:,} labels")


def _check_labels(graph: Graph, component: Array) -> None:
    wrong = first((component < 0) | (component >= graph.num_vertices))
    if wrong is not None:
        raise broken_vertex(graph, "labels are vertices", wrong, f"label {component[wrong]}")
    wrong = first(component > np.arange(graph.num_vertices))
    if wrong is not None:
        rule = "labels are the smallest of their class"
        raise broken_vertex(graph, rule, wrong, f"label {name_of(graph, component[wrong])!r}")
    wrong = first(component[component] != component)
    if wrong is not None:
        label, beyond = (
            name_of(graph, place) for place in (component[wrong], component[component[wrong]])
        )
        raise broken_vertex(
            graph, "the label of a label is itself", wrong,
            f"label {label!r}, whose label is {beyond!r}",
        )  # fmt: skip


@kernel
def _first_split(offsets, targets, component):
    for tail in range(len(component)):
        for arc in range(offsets[tail], offsets[tail + 1]):
            if component[targets[arc]] != component[tail]:
                return tail, arc
    return -1, -1


@kernel
def _roots(offsets, targets):
    above = np.arange(len(offsets) - 1)
    for tail in range(len(above)):
        for arc in range(offsets[tail], offsets[tail + 1]):
            one = _root(above, tail)
            other = _root(above, targets[arc])
            if one < other:
                above[other] = one
            else:
                above[one] = other
    for vertex in range(len(above)):
        above[vertex] = _root(above, vertex)
    return above


@kernel
def _root(above, vertex):
    while above[vertex] != vertex:
        above[vertex] = above[above[vertex]]
        vertex = above[vertex]
    return vertex

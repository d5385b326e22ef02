"""A graph and what is asked of it: undirected, with weights, searched from its busiest vertex.

Graphs are made alike, as in the paper: directions are dropped, parallel edges merged, self-loops
dropped, and there are whole weights from 1 to 63 where a graph has none both ways.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.errors import OptionError
from broadfront.graph.csr import Graph
from broadfront.graph.edges import from_edges
from broadfront.graph500.edges import EdgeList

HEAVIEST = 63
DEGREES = (2, 4, 8, 16, 32, 64)
SKEWS = (8, 3, 1)
"""Ratios of a to each of b, c and d in R-MAT; at 1 every edge is as likely as any other."""


class Case:
    """A graph made ready.

    Attributes
    ----------
    name
        What it is called.
    graph
        Undirected, without loops, with weights, and vertices by position.
    source
        The vertex of largest degree.
    """

    def __init__(self, name: str, given: Graph) -> None:
        self.name = name
        if given.num_arcs == 0:
            raise OptionError(f"{name}: no edges, and so nothing to measure")
        source, target = given.sources(), given.targets
        low, high = np.minimum(source, target), np.maximum(source, target)
        weights = given.weights
        if weights is None or given.directed:
            weights = weights_of(low, high)
        self.graph = from_edges(
            low, high, weights.astype(np.float64), given.num_vertices, directed=False, simple=True
        )
        if self.graph.num_arcs == 0:
            raise OptionError(f"{name}: no edges but self-loops, and so nothing to measure")
        self.source = int(np.argmax(self.graph.degrees))

    @property
    def edges(self) -> EdgeList:
        """Each edge once, as the searches of Graph500 take them."""
        source, target = self.graph.sources(), self.graph.targets
        once = source < target
        return EdgeList(
            np.ascontiguousarray(source[once], target.dtype), np.ascontiguousarray(target[once]),
            self.graph.num_vertices,
        )  # fmt: skip


def weights_of(low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float64]:
    """Return weights of edges by their ends: the same both ways, and in every run."""
    weights: NDArray[np.float64] = ((low * 7 + high * 13) % HEAVIEST + 1).astype(np.float64)
    return weights


def tree(levels: int, children: int = 4) -> Graph:
    """Return a tree in which every vertex has as many children: nothing is found twice."""
    size = (children**levels - 1) // (children - 1)
    vertices = np.arange(1, size)
    return from_edges((vertices - 1) // children, vertices, None, size, directed=False)


def degree_specs(scale: int) -> list[tuple[str, str, int]]:
    """Return family, graph and degree of graphs that differ in their average degree."""
    regular = [("regular", f"regular:{2**scale}:{degree}", degree) for degree in DEGREES]
    rmat = [("R-MAT", f"rmat:{scale}:{degree // 2}", degree) for degree in DEGREES]
    return regular + rmat


def skew_specs(scale: int, edge_factor: int = 16) -> list[tuple[str, int]]:
    """Return graphs that differ in how uneven degrees are, and the ratio a : b."""
    found = []
    for ratio in SKEWS:
        a, rest = ratio / (ratio + 3), 1 / (ratio + 3)
        found.append((f"rmat:{scale}:{edge_factor}:a={a:.6f}:b={rest:.6f}:c={rest:.6f}", ratio))
    return found

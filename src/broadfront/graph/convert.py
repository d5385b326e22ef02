"""From SciPy and NetworkX to a `Graph`, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from broadfront.clock import Clock
from broadfront.errors import GraphError, require
from broadfront.graph.build import Columns
from broadfront.graph.csr import Graph
from broadfront.graph.edges import assemble, edge_arrays
from broadfront.graph.labels import Numbered, named, number

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


# ---------------------------------------------------------------------- SciPy


def from_scipy(
    matrix: scipy.sparse.sparray | scipy.sparse.spmatrix,
    directed: bool = True,
    *,
    weighted: bool | None = None,
    simple: bool = False,
) -> Graph:
    """Build a graph from a square SciPy sparse array: a stored entry is an edge, zero included.

    `weighted` None takes the entries as weights unless they are booleans. The blocks of a BSR array
    are filled up with zeros, so there a zero is no edge.
    """
    clock = Clock()
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"an adjacency matrix is square; this one has shape {matrix.shape}")
    entries = matrix.tocoo()
    if matrix.format == "bsr":
        entries.eliminate_zeros()
    keep = entries.dtype.kind != "b" if weighted is None else weighted
    source, target = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    columns = Columns(source, target, entries.data if keep else None)
    return assemble(number(columns, matrix.shape[0]), directed, simple, clock)


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Return the adjacency as a SciPy CSR array; without weights every entry is 1."""
    from scipy.sparse import csr_array

    weights = np.ones(graph.num_arcs, np.int32) if graph.weights is None else graph.weights
    size = (graph.num_vertices, graph.num_vertices)
    return csr_array((weights, graph.targets, graph.offsets), shape=size)


# ---------------------------------------------------------------------- NetworkX


def from_networkx(graph: networkx.Graph, weight: str | None = "weight") -> Graph:
    """Build a graph from a NetworkX one: same direction, same nodes in the same order.

    Where any edge has the attribute `weight`, edges without it weigh 1, as in NetworkX itself.
    """
    clock = Clock()
    positions = {node: place for place, node in enumerate(graph)}
    ends = [(positions[tail], positions[head]) for tail, head in graph.edges()]
    source, target = np.array(ends, np.int64).reshape(-1, 2).T
    names = named(list(graph))
    plain = names.first == 0 or not positions
    found = [] if weight is None else [value for _, _, value in graph.edges(data=weight)]
    weights = None
    if any(value is not None for value in found):
        weights = np.array([1 if value is None else value for value in found])
    columns = Columns(source, target, weights)
    numbered = Numbered(columns, len(positions), None if plain else names)
    return assemble(numbered, graph.is_directed(), False, clock, "networkx")


def to_networkx(graph: Graph) -> networkx.Graph:
    """Return a NetworkX Graph or DiGraph whose nodes are the labels."""
    nx: Any = require("networkx", "networkx")
    result = nx.DiGraph() if graph.directed else nx.Graph()
    names = graph.labels.tolist()
    result.add_nodes_from(names)
    source, target, weight = edge_arrays(graph)
    tails = [names[place] for place in source.tolist()]
    heads = [names[place] for place in target.tolist()]
    if weight is None:
        result.add_edges_from(zip(tails, heads, strict=True))
    else:
        result.add_weighted_edges_from(zip(tails, heads, weight.tolist(), strict=True))
    return result

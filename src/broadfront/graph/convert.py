"""From SciPy and NetworkX to a `Graph`, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from broadfront.clock import Clock
from broadfront.errors import GraphError, require
from broadfront.given import flag
from broadfront.graph.build import Columns
from broadfront.graph.csr import Graph
from broadfront.graph.edges import assemble, edges_with_data
from broadfront.graph.expected import expect_of
from broadfront.graph.labels import named
from broadfront.graph.numbering import Numbered, number

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
    expect_of(matrix, "tocoo", "a SciPy sparse array")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"an adjacency matrix is square; this one has shape {matrix.shape}")
    entries = matrix.tocoo()
    if matrix.format == "bsr":
        entries.eliminate_zeros()
    keep = entries.dtype.kind != "b" if weighted is None else flag(weighted, "weighted")
    source, target = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    columns = Columns(source, target, entries.data if keep else None)
    return assemble(number(columns, matrix.shape[0]), directed, simple, clock)


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Return the adjacency as a SciPy CSR array; without weights every entry is 1.

    Parallel edges are entries of their own, which SciPy adds up when it comes to that.
    """
    from scipy.sparse import csr_array

    weights = np.ones(graph.num_arcs, np.int32) if graph.weights is None else graph.weights
    size = (graph.num_vertices, graph.num_vertices)
    return csr_array((weights, graph.targets, graph.offsets), shape=size)


# ---------------------------------------------------------------------- NetworkX


def from_networkx(
    graph: networkx.Graph,
    weight: str | None = "weight",
    *,
    edge_data: Sequence[str] = (),
    duplicates: str = "min",
) -> Graph:
    """Build a graph from a NetworkX one: same direction, same nodes in the same order.

    Where any edge has the attribute `weight`, edges without it weigh 1, as in NetworkX itself.
    `edge_data` lists attributes that every edge has, `duplicates` is as in `from_edges`.
    """
    clock = Clock()
    expect_of(graph, "is_directed", "a NetworkX graph")
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
    kept = {name: _attributes(graph, name) for name in edge_data}
    return assemble(
        numbered, graph.is_directed(), False, clock, "networkx",
        edge_data=kept, duplicates=duplicates,
    )  # fmt: skip


def _attributes(graph: networkx.Graph, name: str) -> np.ndarray[Any, Any]:
    values = [value for _, _, value in graph.edges(data=name)]
    for edge, value in enumerate(values):
        if value is None:
            raise GraphError(f"edge {edge:,}: {name} is missing")
    return np.array(values)


def to_networkx(graph: Graph) -> networkx.Graph:
    """Return a NetworkX graph whose nodes are the labels, for multiple edges where it has them."""
    nx: Any = require("networkx", "networkx")
    if graph.has_parallel_edges:
        result = nx.MultiDiGraph() if graph.directed else nx.MultiGraph()
    else:
        result = nx.DiGraph() if graph.directed else nx.Graph()
    names = graph.labels.tolist()
    result.add_nodes_from(names)
    source, target, along = edges_with_data(graph)
    tails = [names[place] for place in source.tolist()]
    heads = [names[place] for place in target.tolist()]
    if not along:
        result.add_edges_from(zip(tails, heads, strict=True))
    else:
        values = zip(*(column.tolist() for column in along.values()), strict=True)
        attributes = (dict(zip(along, row, strict=True)) for row in values)
        result.add_edges_from(zip(tails, heads, attributes, strict=True))
    for name, column in graph.vertex_data.items():
        for node, value in zip(names, column.tolist(), strict=True):
            result.nodes[node][name] = value
    return result

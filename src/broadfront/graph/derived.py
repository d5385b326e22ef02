"""Graphs from a graph: with other weights and columns, or of some of its vertices and edges.

Offsets and targets are shared where they stay the same. What an older graph keeps (its transpose,
partitions, layouts) stays with it.

Invariant: both arcs of an undirected edge have the same values. An array that would part them is
refused, with the edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import GraphError
from broadfront.given import vertices as positions_of
from broadfront.graph import build
from broadfront.graph.build import index_dtype
from broadfront.graph.data import plain_data, run_begins
from broadfront.graph.labels import Labels, integer_labels
from broadfront.graph.origin import Origin

if TYPE_CHECKING:
    from broadfront.graph.csr import Graph

Array = NDArray[Any]
Given = Mapping[str, ArrayLike | None]


class Derived:
    """The methods of a `Graph` that return another one."""

    def with_weights(self: Any, weights: ArrayLike | None) -> Graph:
        """Return the graph with other weights, or with none.

        Parameters
        ----------
        weights
            A number for each arc, along ``graph.targets``. Of an undirected graph also one for each
            edge, in the order of ``graph.to_pandas()``; given by arcs, those of an edge must agree.

        Examples
        --------
        >>> import broadfront as bf
        >>> roads = bf.from_edges([0, 1], [1, 2], directed=False).with_weights([30, 50])
        >>> roads.weights
        array([30, 30, 50, 50], dtype=int32)
        """
        from broadfront.graph.edges import plain_weights

        along = None if weights is None else _along_arcs(self, "weight", weights)
        return _changed(self, weights=plain_weights(along, self.num_arcs))

    def with_edge_data(self: Any, **columns: ArrayLike | None) -> Graph:
        """Return the graph with named columns of edges, given as the weights in `with_weights`.

        They are added to those that there are, in whose place they may come; None drops one.
        Functors read ``state.name[edge]``.

        Examples
        --------
        >>> import broadfront as bf
        >>> roads = bf.from_edges([0, 1], [1, 2], directed=False).with_edge_data(lanes=[2, 4])
        >>> roads.edge_data["lanes"]
        array([2, 2, 4, 4])
        """
        given = {name: None if values is None else _along_arcs(self, name, values)
                 for name, values in columns.items()}  # fmt: skip
        data = _replaced(self.edge_data, given, self.num_arcs, "edge", self.vertex_data)
        return _changed(self, edge_data=data)

    def with_vertex_data(self: Any, **columns: ArrayLike | None) -> Graph:
        """Return the graph with named columns of vertices, a number per vertex in each.

        They are added to those that there are, in whose place they may come; None drops one.
        Functors read ``state.name[vertex]``, at their own vertex and at neighbours.

        Examples
        --------
        >>> import broadfront as bf
        >>> hills = bf.generate("path:3").with_vertex_data(elevation=[300, 420, 380])
        >>> hills.vertex_data["elevation"]
        array([300, 420, 380])
        """
        size = self.num_vertices
        data = _replaced(self.vertex_data, columns, size, "vertex", self.edge_data)
        return _changed(self, vertex_data=data)

    def subgraph(self: Any, vertices: ArrayLike) -> Graph:
        """Return the graph of some vertices and all edges between them.

        Parameters
        ----------
        vertices
            Their positions, or a mask that is true for them. In the new graph they have the order
            that they have here, and are called what they are called here: without labels, by
            their positions.

        Examples
        --------
        >>> import broadfront as bf
        >>> part = bf.generate("path:5").subgraph([1, 2, 4])
        >>> part.num_edges, part.labels.tolist()
        (1, [1, 2, 4])
        """
        kept = np.zeros(self.num_vertices, np.bool_)
        kept[positions_of(vertices, self.num_vertices, "vertices")] = True
        arcs = kept[self.sources()] & kept[self.targets]
        return _of_some(self, kept, arcs)

    def edge_subgraph(self: Any, mask: ArrayLike) -> Graph:
        """Return the graph of some edges, with all vertices.

        `mask` is true for those that stay: for each arc or, of an undirected graph, also for each
        edge, as in `with_weights`.

        Examples
        --------
        >>> import broadfront as bf
        >>> roads = bf.from_edges([0, 1], [1, 2], [30, 50])
        >>> roads.edge_subgraph(roads.weights < 40).num_edges
        1
        """
        arcs = np.asarray(mask)
        if arcs.dtype != np.bool_:
            raise GraphError(f"the mask is of {arcs.dtype}; expected bool, one per arc")
        everyone = np.ones(self.num_vertices, np.bool_)
        return _of_some(self, everyone, _along_arcs(self, "the mask", arcs))


def _changed(graph: Graph, **changes: Any) -> Graph:
    """Return a graph with the same rows, and some of what runs along with them changed."""
    same: dict[str, Any] = {
        "weights": graph.weights, "edge_data": graph.edge_data, "vertex_data": graph.vertex_data,
        "directed": graph.directed, "self_loops": graph.num_self_loops, "labels": graph._labels,
        "origin": graph.origin, "parallel": graph.has_parallel_edges,
    }  # fmt: skip
    return type(graph)(graph.offsets, graph.targets, **{**same, **changes})


def _replaced(
    there: Mapping[str, Array], given: Given, length: int, what: str, others: Mapping[str, Array]
) -> dict[str, Array]:
    """Return columns with some added, replaced or, where given as None, dropped."""
    added = {name: values for name, values in given.items() if values is not None}
    kept = {name: values for name, values in there.items() if name not in given}
    return {**kept, **plain_data(added, length, what, others)}


def _along_arcs(graph: Graph, name: str, given: ArrayLike) -> Array:
    """Return an array by arcs that is given by arcs or edges; refuse one that parts an edge."""
    hidden = np.flatnonzero(np.ma.getmask(given))
    if len(hidden):
        raise GraphError(f"arc {int(hidden[0]):,}: {name} is missing")
    try:
        values = np.asarray(given)
    except ValueError as error:
        raise GraphError(f"{name} is no array: {error}") from None
    lengths = {graph.num_arcs: "arcs"}
    if not graph.directed:
        lengths.setdefault(graph.num_edges, "edges")
    if values.ndim != 1 or len(values) not in lengths:
        told = " or ".join(f"{length:,} {what}" for length, what in lengths.items())
        raise GraphError(f"{name} has shape {values.shape}; the graph has {told}")
    if graph.directed:
        return values
    twin = _twins(graph)
    if len(values) != graph.num_arcs:
        once = np.flatnonzero(graph.sources() <= graph.targets)
        spread = np.empty(graph.num_arcs, values.dtype)
        spread[once] = spread[twin[once]] = values
        return spread
    apart = (values != values[twin]) & ((values == values) | (values == values)[twin])
    if apart.any():
        arc = int(np.argmax(apart))
        ends = graph.labels_of([graph.sources()[arc], graph.targets[arc]]).tolist()
        raise GraphError(
            f"{name} of the undirected edge {ends[0]!r} - {ends[1]!r} is {values[arc]} in one "
            f"direction and {values[twin[arc]]} in the other"
        )
    return values


def _twins(graph: Graph) -> Array:
    """Return for each arc of an undirected graph the place of the one the other way."""
    numbers = np.arange(graph.num_arcs, dtype=graph.targets.dtype)
    twins = build.transposed(graph.offsets, graph.targets, numbers, keep=True).weights
    assert twins is not None
    return twins


def _of_some(graph: Graph, kept: Array, arcs: Array) -> Graph:
    """Return the graph of the vertices and arcs for which these are true."""
    sources, targets = graph.sources()[arcs], graph.targets[arcs]
    places = np.flatnonzero(kept)
    index = index_dtype(len(places), len(targets))
    position = np.cumsum(kept) - 1
    offsets = np.zeros(len(places) + 1, index)
    np.cumsum(np.bincount(position[sources], minlength=len(places)), out=offsets[1:])
    goals = position[targets].astype(index)
    found = type(graph)(
        offsets, goals, None if graph.weights is None else graph.weights[arcs],
        directed=graph.directed, self_loops=int(np.count_nonzero(sources == targets)),
        labels=_labels_of(graph, places),
        edge_data={name: column[arcs] for name, column in graph.edge_data.items()},
        vertex_data={name: column[kept] for name, column in graph.vertex_data.items()},
        parallel=graph.has_parallel_edges and not bool(run_begins(offsets, goals).all()),
    )  # fmt: skip
    found.origin = Origin(f"part of {graph.origin.name}", found.num_edges)
    return found


def _labels_of(graph: Graph, places: Array) -> Labels | None:
    """Return what some vertices are called; None where that is their new positions."""
    if len(places) == graph.num_vertices:
        return graph._labels
    names = graph.labels_of(places)
    if names.dtype.kind not in "iu":
        return Labels(names)
    labels = integer_labels(names.astype(np.int64))
    return None if labels.first == 0 or not len(names) else labels

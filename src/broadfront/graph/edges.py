"""From edge arrays to a `Graph`, and back to edge arrays.

Every way in ends in `assemble`: check the weights, build the rows, say what was merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.clock import Clock
from broadfront.errors import GraphError
from broadfront.given import flag
from broadfront.graph.build import Columns
from broadfront.graph.csr import Graph
from broadfront.graph.data import (
    WEIGHT,
    Data,
    check_duplicates,
    plain_data,
    rows_with_data,
    run_begins,
)
from broadfront.graph.labels import objects
from broadfront.graph.numbering import Numbered, number
from broadfront.graph.origin import Origin
from broadfront.graph.soundness import check_rows
from broadfront.progress import Listener, listening

Array = NDArray[Any]

NUMBERS = (int, float, np.number)
INTEGERS = (int, np.integer)


def from_edges(
    source: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike | None = None,
    num_vertices: int | None = None,
    directed: bool = True,
    *,
    simple: bool = False,
    edge_data: Mapping[str, ArrayLike] | None = None,
    duplicates: str = "min",
    progress: Listener | None = None,
) -> Graph:
    """Build a graph from the two ends of its edges.

    Parameters
    ----------
    source, target
        One entry per edge: integers, strings or any hashable objects. Integers of which at least
        half of ``0 .. max`` occur are vertex positions; sparser ones, and everything else, are
        labels.
    weight
        A number per edge; NaN is refused.
    num_vertices
        Says that the ids are positions ``0 .. num_vertices - 1``, isolated vertices included.
    directed
        False stores every edge in both directions.
    simple
        Drop self-loops; parallel edges cannot be kept then.
    edge_data
        Columns by name, a real number per edge in each; functors read ``state.name[edge]``. The
        two arcs of an undirected edge have the same values.
    duplicates
        What becomes of parallel edges, those with both ends in common (in either direction where
        edges have none): ``"min"``, ``"max"`` and ``"sum"`` merge them, the weights and each column
        by itself; ``"first"`` keeps the first of them with all its values; ``"keep"`` keeps
        all, in the order given.
    progress
        Called as ``progress(stage, done, total)`` while the graph is built.

    Examples
    --------
    >>> import broadfront as bf
    >>> graph = bf.from_edges(["oslo", "bern"], ["bern", "rome"], directed=False)
    >>> graph.labels.tolist()
    ['bern', 'oslo', 'rome']
    >>> graph.num_edges
    2
    >>> leaves = {"departure": [8, 9]}
    >>> trains = bf.from_edges([0, 0], [1, 1], edge_data=leaves, duplicates="keep")
    >>> trains.edge_data["departure"]
    array([8, 9])
    """
    clock = Clock()
    source, target = _ids("source", source), _ids("target", target)
    if len(source) != len(target):
        raise GraphError(f"{len(source):,} sources but {len(target):,} targets")
    with listening(progress):
        weights = None if weight is None else present("weight", weight)
        numbered = number(Columns(source, target, weights), num_vertices)
        return assemble(
            numbered, directed, simple, clock, edge_data=edge_data, duplicates=duplicates
        )


def assemble(
    numbered: Numbered,
    directed: bool,
    simple: bool,
    clock: Clock,
    name: str = "edges",
    *,
    edge_data: Mapping[str, ArrayLike] | None = None,
    duplicates: str = "min",
) -> Graph:
    """Build the graph of numbered edges, which are used up; the last step of every way in."""
    directed, simple = flag(directed, "directed"), flag(simple, "simple")
    columns = numbered.columns
    edges = len(columns)
    check_duplicates(duplicates, simple)
    columns.weight = plain_weights(columns.weight, edges)
    rows, along = rows_with_data(
        columns, numbered.num_vertices, plain_data(edge_data, edges, "edge"), duplicates,
        symmetric=not directed, drop_loops=simple,
    )  # fmt: skip
    parallel = duplicates == "keep" and not run_begins(rows.offsets, rows.targets).all()
    graph = Graph(
        rows.offsets, rows.targets, rows.weights,
        directed=directed, self_loops=rows.loops_kept, labels=numbered.labels,
        edge_data=along, parallel=parallel,
    )  # fmt: skip
    dropped = rows.loops_read if simple else 0
    graph.origin = Origin(
        name, edges, edges - dropped - graph.num_edges, rows.loops_read, simple,
        clock.seconds, clock.compile_seconds,
    )  # fmt: skip
    return graph


def undirected(graph: Graph) -> Graph:
    """Return a directed graph, every arc of which is there in both directions, as undirected."""
    loops = graph.num_self_loops
    check_rows(graph.offsets, graph.targets, None, directed=False, self_loops=loops)
    if graph.weights is not None:
        check_rows(graph.offsets, graph.targets, graph.weights, directed=False, self_loops=loops)
    return Graph(
        graph.offsets, graph.targets, graph.weights, directed=False, self_loops=loops,
        labels=graph._labels,
        origin=replace(
            graph.origin, edges_read=(graph.origin.edges_read + graph.origin.self_loops) // 2,
            duplicates=graph.origin.duplicates // 2,
        ),
    )  # fmt: skip


def plain_weights(weight: Array | None, edges: int, before: int = 0) -> Array | None:
    """Return weights as int32, int64, float32 or float64; refuse what is not a number.

    There are `before` edges before these.
    """
    if weight is None:
        return None
    if weight.shape != (edges,):
        raise GraphError(f"{edges:,} edges but weights of shape {weight.shape}")
    kind, size = weight.dtype.kind, weight.dtype.itemsize
    if kind == "f":
        weight = weight.astype(np.float32 if size <= 4 else np.float64, copy=False)
        wrong = np.isnan(weight)
        if wrong.any():
            raise GraphError(f"edge {before + int(np.argmax(wrong)):,}: weight is nan")
        return weight
    if edges == 0:
        return np.empty(0, np.int32)
    if kind not in "iub":
        raise GraphError(f"weights of dtype {weight.dtype} are not real numbers")
    if weight.dtype == np.uint64 and weight.max() > np.iinfo(np.int64).max:
        edge = int(np.argmax(weight))
        raise GraphError(f"edge {before + edge:,}: weight {weight[edge]} is beyond 64-bit integers")
    return weight.astype(integer_weight_dtype(weight), copy=False)


def integer_weight_dtype(weight: Array) -> type[np.int32] | type[np.int64]:
    """Return int32 where the values fit, int64 elsewhere."""
    if weight.dtype == np.int32 or len(weight) == 0:
        return np.int32
    limits = np.iinfo(np.int32)
    fits = weight.min() >= limits.min and weight.max() <= limits.max
    return np.int32 if fits else np.int64


def _ids(side: str, ids: ArrayLike) -> Array:
    """Return ids as an array, of objects unless they are numbers of one kind."""
    if hasattr(ids, "__array__"):
        array = present(side, ids)
    else:
        names = list(ids) if isinstance(ids, Iterable) else [ids]
        kinds = {type(name) for name in names}
        plain = len(kinds) <= 1 and all(issubclass(kind, NUMBERS) for kind in kinds)
        plain = plain or all(issubclass(kind, INTEGERS) for kind in kinds)
        array = np.asarray(names) if plain else objects(names)
    if array.ndim != 1:
        raise GraphError(f"{side} has shape {array.shape}; expected one entry per edge")
    return array


def present(side: str, values: ArrayLike) -> Array:
    """Return values as an array; refuse one that a mask hides."""
    hidden = np.flatnonzero(np.ma.getmask(values))
    if len(hidden):
        raise GraphError(f"edge {int(hidden[0]):,}: {side} is missing")
    try:
        return np.asarray(values)
    except ValueError as error:
        raise GraphError(f"{side} is no array: {error}") from None


def edge_arrays(graph: Graph) -> tuple[Array, Array, Array | None]:
    """Return source, target and weight of each edge; undirected ones once, smaller end first."""
    source, target, along = edges_with_data(graph)
    return source, target, along.get(WEIGHT)


def edges_with_data(graph: Graph) -> tuple[Array, Array, Data]:
    """Return source and target of each edge as `edge_arrays` does, and its columns by name.

    The first of them is the weight where there is one.
    """
    source, target = graph.sources(), graph.targets
    along = {} if graph.weights is None else {WEIGHT: graph.weights}
    along |= graph.edge_data
    if graph.directed:
        return source, target, along
    once = source <= target
    return source[once], target[once], {name: column[once] for name, column in along.items()}

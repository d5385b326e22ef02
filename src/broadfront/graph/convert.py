"""From the objects people have to a `Graph`, and back.

Every way in ends in `assemble`: number the vertices, check the weights, build the rows. No way in
loops over edges in Python except where the object itself is made of Python objects.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.errors import GraphError
from broadfront.graph import build
from broadfront.graph.csr import Graph, Origin
from broadfront.graph.labels import Labels, Numbered, named, number, objects
from broadfront.progress import Listener, listening

if TYPE_CHECKING:
    import networkx
    import pandas
    import scipy.sparse

Array = NDArray[Any]


def from_edges(
    source: ArrayLike,
    target: ArrayLike,
    weight: ArrayLike | None = None,
    num_vertices: int | None = None,
    directed: bool = True,
    *,
    simple: bool = False,
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
        A number per edge; NaN is refused. Of equal edges the smallest weight stays.
    num_vertices
        Says that the ids are positions ``0 .. num_vertices - 1``, isolated vertices included.
    directed
        False stores every edge in both directions.
    simple
        Drop self-loops; duplicates are always merged.
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
    """
    started = time.perf_counter()
    source, target = _ids("source", source), _ids("target", target)
    if len(source) != len(target):
        raise GraphError(f"{len(source):,} sources but {len(target):,} targets")
    with listening(progress):
        numbered = number(source, target, num_vertices)
        return assemble(
            numbered, None if weight is None else np.asarray(weight), directed, simple, started
        )


def assemble(
    numbered: Numbered,
    weight: Array | None,
    directed: bool,
    simple: bool,
    started: float,
    name: str = "edges",
) -> Graph:
    """Build the graph of numbered edges; the last step of every way in."""
    edges = len(numbered.source)
    rows = build.rows(
        numbered.source, numbered.target, plain_weights(weight, edges), numbered.num_vertices,
        symmetric=not directed, drop_loops=simple,
    )  # fmt: skip
    graph = Graph(
        rows.offsets, rows.targets, rows.weights,
        directed=directed, self_loops=rows.loops_kept, labels=numbered.labels,
    )  # fmt: skip
    dropped = rows.loops_read if simple else 0
    graph.origin = Origin(
        name, edges, edges - dropped - graph.num_edges, rows.loops_read, simple,
        time.perf_counter() - started,
    )  # fmt: skip
    return graph


def plain_weights(weight: Array | None, edges: int) -> Array | None:
    """Return weights as int32, int64, float32 or float64; refuse what is not a number."""
    if weight is None:
        return None
    if weight.shape != (edges,):
        raise GraphError(f"{edges:,} edges but weights of shape {weight.shape}")
    kind, size = weight.dtype.kind, weight.dtype.itemsize
    if kind == "f":
        weight = weight.astype(np.float32 if size <= 4 else np.float64, copy=False)
        wrong = np.isnan(weight)
        if wrong.any():
            raise GraphError(f"edge {int(np.argmax(wrong)):,}: weight is nan")
        return weight
    if kind not in "iub":
        raise GraphError(f"weights of dtype {weight.dtype} are not real numbers")
    if weight.dtype == np.uint64 and edges and weight.max() > np.iinfo(np.int64).max:
        edge = int(np.argmax(weight))
        raise GraphError(f"edge {edge:,}: weight {weight[edge]} is beyond 64-bit integers")
    return weight.astype(integer_weight_dtype(weight), copy=False)


def integer_weight_dtype(weight: Array) -> type[np.int32] | type[np.int64]:
    """Return int32 where the values fit, int64 elsewhere."""
    if weight.dtype == np.int32 or len(weight) == 0:
        return np.int32
    limits = np.iinfo(np.int32)
    fits = weight.min() >= limits.min and weight.max() <= limits.max
    return np.int32 if fits else np.int64


def _ids(side: str, ids: ArrayLike) -> Array:
    if isinstance(ids, np.ndarray):
        array = ids
    elif isinstance(ids, Sequence) and ids and not isinstance(ids[0], (int, float, str, np.generic)):
        array = objects(ids)
    elif isinstance(ids, Iterable) and len({type(name) for name in ids}) > 1:
        array = objects(ids)  # NumPy would turn 1 and "a" into "1" and "a"
    else:
        array = np.asarray(ids)
    if array.ndim != 1:
        raise GraphError(f"{side} has shape {array.shape}; expected one entry per edge")
    return array


# ---------------------------------------------------------------------- SciPy


def from_scipy(
    matrix: scipy.sparse.sparray | scipy.sparse.spmatrix,
    directed: bool = True,
    *,
    weighted: bool | None = None,
    simple: bool = False,
) -> Graph:
    """Build a graph from a square SciPy sparse array: a stored entry is an edge, zero included.

    `weighted` None takes the entries as weights unless they are booleans.
    """
    started = time.perf_counter()
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"an adjacency matrix is square; this one has shape {matrix.shape}")
    entries = matrix.tocoo()
    keep = entries.dtype.kind != "b" if weighted is None else weighted
    source, target = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    numbered = number(source, target, matrix.shape[0])
    return assemble(numbered, entries.data if keep else None, directed, simple, started)


def to_scipy(graph: Graph) -> scipy.sparse.csr_array:
    """Return the adjacency as a SciPy CSR array; without weights every entry is 1."""
    from scipy.sparse import csr_array

    weights = np.ones(graph.num_arcs, np.int8) if graph.weights is None else graph.weights
    size = (graph.num_vertices, graph.num_vertices)
    return csr_array((weights, graph.targets, graph.offsets), shape=size)


# ---------------------------------------------------------------------- NetworkX


def from_networkx(graph: networkx.Graph, weight: str | None = "weight") -> Graph:
    """Build a graph from a NetworkX one: same direction, same nodes in the same order.

    Where any edge has the attribute `weight`, edges without it weigh 1, as in NetworkX itself.
    """
    started = time.perf_counter()
    positions = {node: place for place, node in enumerate(graph)}
    ends = [(positions[tail], positions[head]) for tail, head in graph.edges()]
    source, target = np.array(ends, np.int64).reshape(-1, 2).T
    labels: Labels | None = named(list(graph))
    if isinstance(labels, Labels) and np.array_equal(labels.values, np.arange(len(positions))):
        labels = None
    found = [] if weight is None else [value for _, _, value in graph.edges(data=weight)]
    weights = None
    if any(value is not None for value in found):
        weights = np.array([1 if value is None else value for value in found])
    numbered = Numbered(source, target, len(positions), labels)
    return assemble(numbered, weights, graph.is_directed(), False, started, "networkx")


def to_networkx(graph: Graph) -> networkx.Graph:
    """Return a NetworkX Graph or DiGraph whose nodes are the labels."""
    from broadfront.errors import require

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


# ---------------------------------------------------------------------- tables


def from_pandas(frame: pandas.DataFrame, source: str | None = None, target: str | None = None,
                weight: str | None = None, **options: Any) -> Graph:  # fmt: skip
    """Build a graph from a pandas data frame with a row per edge.

    `source`, `target` and `weight` name columns: by default those called so, or the first two.
    Other options are those of `from_edges`.
    """
    columns = edge_columns([str(name) for name in frame.columns], source, target, weight)
    tails, heads, values = (None if name is None else frame[name] for name in columns)
    assert tails is not None
    assert heads is not None
    started = time.perf_counter()
    if tails.dtype.kind in "iu" and heads.dtype.kind in "iu":
        return from_edges(tails.to_numpy(), heads.to_numpy(), _column(values), **options)
    import pandas

    both = pandas.concat([tails, heads], ignore_index=True)
    codes, names = pandas.factorize(both, sort=both.dtype.kind not in "O")
    return _from_codes(codes, names.tolist(), _column(values), started, **options)


def from_polars(frame: Any, source: str | None = None, target: str | None = None,
                weight: str | None = None, **options: Any) -> Graph:  # fmt: skip
    """Build a graph from a Polars data frame with a row per edge; options as `from_pandas`."""
    return from_arrow(frame.to_arrow(), source, target, weight, **options)


def from_arrow(table: Any, source: str | None = None, target: str | None = None,
               weight: str | None = None, **options: Any) -> Graph:  # fmt: skip
    """Build a graph from an Arrow table with a row per edge; options as `from_pandas`."""
    from broadfront.errors import require

    arrow: Any = require("pyarrow", "arrow")
    started = time.perf_counter()
    columns = edge_columns(table.column_names, source, target, weight)
    tails, heads, values = (None if name is None else table[name] for name in columns)
    weights = None if values is None else _present("weight", values)
    if arrow.types.is_integer(tails.type) and arrow.types.is_integer(heads.type):
        return from_edges(
            _present("source", tails), _present("target", heads), weights, **options
        )
    for side, ids in (("source", tails), ("target", heads)):
        _refuse_missing(side, ids)
    kind = tails.type
    both = arrow.chunked_array([*tails.chunks, *heads.cast(kind).chunks], kind)
    encoded = both.dictionary_encode().combine_chunks()
    if isinstance(encoded, arrow.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else arrow.array([], kind)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return _from_codes(codes, encoded.dictionary.to_pylist(), weights, started, **options)


def _refuse_missing(side: str, column: Any) -> None:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise GraphError(f"edge {row:,}: {side} is missing")


def _present(side: str, column: Any) -> Array:
    _refuse_missing(side, column)
    values: Array = column.to_numpy()
    return values


def _column(values: Any) -> Array | None:
    return None if values is None else np.asarray(values)


def _from_codes(
    codes: Array,
    names: list[object],
    weight: Array | None,
    started: float,
    *,
    directed: bool = True,
    simple: bool = False,
    num_vertices: int | None = None,
    progress: Listener | None = None,
    origin: str = "edges",
) -> Graph:
    """Build a graph from names that another library has numbered, both ends in one array."""
    if num_vertices is not None:
        raise GraphError("num_vertices goes with integer ids; these are names")
    edges = len(codes) // 2
    if len(codes) and codes.min() < 0:
        missing = int(np.argmax(codes < 0))
        side = "source" if missing < edges else "target"
        raise GraphError(f"edge {missing % edges:,}: {side} is missing")
    try:
        order = sorted(range(len(names)), key=names.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        order = list(range(len(names)))
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(names))
    codes = place[codes]
    numbered = Numbered(codes[:edges], codes[edges:], len(names), named([names[i] for i in order]))
    with listening(progress):
        return assemble(numbered, weight, directed, simple, started, origin)


def edge_columns(
    names: Sequence[str], source: str | None, target: str | None, weight: str | None
) -> tuple[str, str, str | None]:
    """Return the names of the columns that hold the edges."""
    for wanted in (source, target, weight):
        if wanted is not None and wanted not in names:
            raise GraphError(f"no column {wanted!r}; there are {', '.join(names)}")
    if source is None and target is None:
        if "source" in names and "target" in names:
            source, target = "source", "target"
        elif len(names) >= 2:
            source, target = names[0], names[1]
    if source is None or target is None:
        raise GraphError(f"name the source and the target column; there are {', '.join(names)}")
    return source, target, weight or ("weight" if "weight" in names else None)


def to_pandas(graph: Graph) -> pandas.DataFrame:
    """Return a data frame with a row per edge, of an undirected graph each edge once."""
    from broadfront.errors import require

    pandas_: Any = require("pandas", "pandas")
    source, target, weight = edge_arrays(graph)
    names = graph.labels
    columns = {"source": names[source], "target": names[target]}
    if weight is not None:
        columns["weight"] = weight
    return pandas_.DataFrame(columns)


def edge_arrays(graph: Graph) -> tuple[Array, Array, Array | None]:
    """Return source, target and weight of each edge; undirected ones once, smaller end first."""
    source, target, weight = graph.sources(), graph.targets, graph.weights
    if graph.directed:
        return source, target, weight
    once = source <= target
    return source[once], target[once], None if weight is None else weight[once]

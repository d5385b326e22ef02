"""From tables with a row per edge (pandas, Polars, Arrow) to a `Graph`, and back.

Names are numbered by the table's own library, never by a Python loop over edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.errors import GraphError, require
from broadfront.graph.csr import Graph
from broadfront.graph.edges import assemble, edge_arrays, from_edges
from broadfront.graph.labels import Numbered, named
from broadfront.progress import Listener, listening

if TYPE_CHECKING:
    import pandas

Array = NDArray[Any]


def from_pandas(frame: pandas.DataFrame, source: str | None = None, target: str | None = None,
                weight: str | None = None, **options: Any) -> Graph:  # fmt: skip
    """Build a graph from a pandas data frame with a row per edge.

    `source`, `target` and `weight` name columns: by default those called so, or the first two.
    Other options are those of `from_edges`.
    """
    source, target, weight = edge_columns(list(frame.columns), source, target, weight)
    tails, heads = frame[source], frame[target]
    values = None if weight is None else frame[weight]
    clock = Clock()
    if tails.dtype.kind in "iu" and heads.dtype.kind in "iu":
        return from_edges(tails.to_numpy(), heads.to_numpy(), _column(values), **options)
    import pandas

    both = pandas.concat([tails, heads], ignore_index=True)
    codes, names = pandas.factorize(both, sort=both.dtype.kind not in "O")
    return _from_codes(codes, names.tolist(), _column(values), clock, **options)


def from_polars(frame: Any, source: str | None = None, target: str | None = None,
                weight: str | None = None, **options: Any) -> Graph:  # fmt: skip
    """Build a graph from a Polars data frame with a row per edge; options as `from_pandas`."""
    return from_arrow(frame.to_arrow(), source, target, weight, **options)


def from_arrow(table: Any, source: str | None = None, target: str | None = None,
               weight: str | None = None, **options: Any) -> Graph:  # fmt: skip
    """Build a graph from an Arrow table with a row per edge; options as `from_pandas`."""
    arrow: Any = require("pyarrow", "arrow")
    clock = Clock()
    source, target, weight = edge_columns(table.column_names, source, target, weight)
    tails, heads = table[source], table[target]
    weights = None if weight is None else _present("weight", table[weight])
    if arrow.types.is_integer(tails.type) and arrow.types.is_integer(heads.type):
        return from_edges(_present("source", tails), _present("target", heads), weights, **options)
    for side, ids in (("source", tails), ("target", heads)):
        _refuse_missing(side, ids)
    kind = tails.type
    both = arrow.chunked_array([*tails.chunks, *heads.cast(kind).chunks], kind)
    encoded = both.dictionary_encode().combine_chunks()
    if isinstance(encoded, arrow.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else arrow.array([], kind)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return _from_codes(codes, encoded.dictionary.to_pylist(), weights, clock, **options)


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
    clock: Clock,
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
        return assemble(numbered, weight, directed, simple, clock, origin)


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
    pandas_: Any = require("pandas", "pandas")
    source, target, weight = edge_arrays(graph)
    names = graph.labels
    columns = {"source": names[source], "target": names[target]}
    if weight is not None:
        columns["weight"] = weight
    return pandas_.DataFrame(columns)

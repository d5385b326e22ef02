"""From tables with a row per edge (pandas, Polars, Arrow) to a `Graph`, and back.

Names are numbered by the table's own library, never by a Python loop over edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.errors import GraphError, OptionError, require
from broadfront.graph.build import Columns
from broadfront.graph.csr import Graph
from broadfront.graph.edges import assemble, edges_with_data, from_edges
from broadfront.graph.expected import expect_of
from broadfront.graph.heads import WEIGHT, known, place
from broadfront.graph.labels import is_missing, ordered
from broadfront.graph.numbering import Numbered
from broadfront.progress import Listener, listening

if TYPE_CHECKING:
    import pandas

Array = NDArray[Any]


def from_pandas(frame: pandas.DataFrame, source: Any = None, target: Any = None,
                weight: Any = None, edge_data: Sequence[str] = (),
                **options: Any) -> Graph:  # fmt: skip
    """Build a graph from a pandas data frame with a row per edge.

    `source`, `target` and `weight` name columns: by default those with well-known names (source and
    target, from and to, src and dst, node1 and node2; weight), or else the first two. `edge_data`
    lists the names of more columns to keep. Other options are those of `from_edges`.
    """
    expect_of(frame, "columns", "a pandas data frame")
    names = list(frame.columns)
    source, target, weight = edge_columns(names, source, target, weight, edge_data)
    tails, heads = frame[source], frame[target]
    values = None if weight is None else np.asarray(frame[weight])
    if edge_data:
        options["edge_data"] = {name: _numbers(name, frame[name]) for name in edge_data}
    clock = Clock()
    if len(frame) == 0 or (tails.dtype.kind in "iuf" and heads.dtype.kind in "iuf"):
        return from_edges(tails, heads, values, **options)
    import pandas

    if (tails.dtype.kind in "iuf") != (heads.dtype.kind in "iuf"):
        tails, heads = tails.astype(object), heads.astype(object)
    both = pandas.concat([tails, heads], ignore_index=True)
    codes, names = pandas.factorize(both)
    return _from_codes(codes, names.tolist(), values, clock, **options)


def from_polars(frame: Any, source: str | None = None, target: str | None = None,
                weight: str | None = None, edge_data: Sequence[str] = (),
                **options: Any) -> Graph:  # fmt: skip
    """Build a graph from a Polars data frame with a row per edge; options as `from_pandas`."""
    require("pyarrow", "arrow")
    expect_of(frame, "to_arrow", "a Polars data frame")
    return from_arrow(frame.to_arrow(), source, target, weight, edge_data, **options)


def from_arrow(table: Any, source: str | None = None, target: str | None = None,
               weight: str | None = None, edge_data: Sequence[str] = (),
               **options: Any) -> Graph:  # fmt: skip
    """Build a graph from an Arrow table or batch, a row per edge; options as `from_pandas`."""
    arrow: Any = require("pyarrow", "arrow")
    clock = Clock()
    expect_of(table, "schema", "an Arrow table")
    if isinstance(table, arrow.RecordBatch):
        table = arrow.Table.from_batches([table])
    source, target, weight = edge_columns(table.column_names, source, target, weight, edge_data)
    tails, heads = (_decoded(arrow, table[name]) for name in (source, target))
    weights = None if weight is None else column_array("weight", table[weight])
    if edge_data:
        options["edge_data"] = {name: column_array(name, table[name]) for name in edge_data}
    numeric = [_is_numeric(arrow, column.type) for column in (tails, heads)]
    if len(table) == 0 or all(numeric):
        ends = column_array("source", tails), column_array("target", heads)
        return from_edges(*ends, weights, **options)
    for side, ids in (("source", tails), ("target", heads)):
        _refuse_missing(side, ids)
    kind = tails.type
    try:
        if any(numeric):
            raise arrow.ArrowTypeError
        both = arrow.chunked_array([*tails.chunks, *heads.cast(kind).chunks], kind)
    except arrow.ArrowException as error:
        raise GraphError(f"source is {kind} and target {heads.type}: expected one type") from error
    encoded = both.dictionary_encode().combine_chunks()
    if isinstance(encoded, arrow.ChunkedArray):
        encoded = encoded.chunk(0)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    return _from_codes(codes, encoded.dictionary.to_pylist(), weights, clock, **options)


def _numbers(name: str, column: Any) -> Array:
    """Return a column of a data frame as an array of numbers; refuse missing ones of its own."""
    missing = np.flatnonzero(column.isna())
    if len(missing) and column.dtype.kind != "f":
        raise GraphError(f"edge {int(missing[0]):,}: {name} is missing")
    return np.asarray(column.to_numpy())


def _is_numeric(arrow: Any, kind: Any) -> bool:
    return bool(arrow.types.is_integer(kind) or arrow.types.is_floating(kind))


def _decoded(arrow: Any, column: Any) -> Any:
    """Return a column of values and not of codes for them."""
    is_coded = arrow.types.is_dictionary(column.type)
    return column.cast(column.type.value_type) if is_coded else column


def _refuse_missing(side: str, column: Any) -> None:
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise GraphError(f"edge {row:,}: {side} is missing")


def column_array(side: str, column: Any) -> Array:
    """Return an Arrow column as an array; refuse missing values."""
    _refuse_missing(side, column)
    values: Array = column.to_numpy()
    return values


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
    **columns_and_duplicates: Any,
) -> Graph:
    """Build a graph from names that another library has numbered, both ends in one array."""
    if num_vertices is not None:
        raise GraphError("num_vertices goes with integer ids; these are names")
    edges = len(codes) // 2
    if len(codes) and codes.min() < 0:
        missing = int(np.argmax(codes < 0))
        side = "source" if missing < edges else "target"
        raise GraphError(f"edge {missing % edges:,}: {side} is missing")
    for code, name in enumerate(names):
        if is_missing(name):
            raise GraphError(f"edge {int(np.argmax(codes == code)) % edges:,}: an end is missing")
    places, labels = ordered(names)
    codes = places[codes]
    columns = Columns(codes[:edges], codes[edges:], weight)
    with listening(progress):
        return assemble(
            Numbered(columns, len(names), labels), directed, simple, clock, origin,
            **columns_and_duplicates,
        )  # fmt: skip


def edge_columns(
    names: Sequence[Any], source: Any, target: Any, weight: Any, others: Sequence[str] = ()
) -> tuple[Any, ...]:
    """Return the names of the columns that hold source, target and weight (None: no weights).

    `others` are names of more columns, which must be there too.
    """
    if isinstance(others, str):
        raise OptionError(f"edge_data={others!r}: expected a list of names")
    listed = ", ".join(map(str, names))
    if source is None and target is None and len(names) >= 2:
        source, target = (names[column] for column in (known(names) or (0, 1))[:2])
    if source is None or target is None:
        raise GraphError(f"name the source and the target column; there are {listed}")
    usual = place(WEIGHT, names)
    if weight is None and usual >= 0 and names[usual] not in (source, target, *others):
        weight = names[usual]
    chosen = [name for name in (source, target, weight, *others) if name is not None]
    for name in chosen:
        if name not in names:
            raise GraphError(f"no column {name!r}; there are {listed}")
        if list(names).count(name) > 1:
            raise GraphError(f"more than one column is called {name!r}")
    if len(set(chosen)) < len(chosen):
        raise GraphError(f"one column is named twice: {', '.join(map(str, chosen))}")
    return source, target, weight


def to_pandas(graph: Graph) -> pandas.DataFrame:
    """Return a data frame with a row per edge, of an undirected graph each edge once."""
    pandas_: Any = require("pandas", "pandas")
    source, target, along = edges_with_data(graph)
    ends = {"source": graph.labels_of(source), "target": graph.labels_of(target)}
    return pandas_.DataFrame({**ends, **along})

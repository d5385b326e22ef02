"""Parquet: a table with a row per edge, through PyArrow (an extra).

Direction and, without labels, the number of vertices travel in the table's own metadata. Labels
travel as the ends of edges: a labelled vertex without edges does not.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from os import PathLike, fspath
from typing import IO, Any, NamedTuple

import numpy as np

from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError, require
from broadfront.graph import files
from broadfront.graph.csr import Graph
from broadfront.graph.edges import assemble, edge_arrays
from broadfront.graph.labels import label_integers
from broadfront.graph.lines import FREE_VERTICES
from broadfront.graph.tables import column_array, edge_columns, from_arrow

METADATA = b"broadfront"


def read(
    path: str | PathLike[str],
    clock: Clock,
    *,
    directed: bool | None = None,
    simple: bool = False,
    num_vertices: int | None = None,
    columns: tuple[int | str, ...] | None = None,
) -> Graph:
    """Read an edge table; `columns` names or counts (from 0) source, target and maybe weight."""
    arrow: Any = require("pyarrow", "arrow")
    parquet: Any = require("pyarrow.parquet", "arrow")
    try:
        table = parquet.read_table(arrow.BufferReader(arrow.py_buffer(files.content(path))))
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise FormatError(path, f"expected a Parquet file: {str(error).splitlines()[0]}") from error
    own = _own(path, table.schema.metadata)
    directed = own.directed if directed is None else directed
    num_vertices = own.vertices if num_vertices is None else num_vertices
    try:
        if own.labelled and columns is None and num_vertices is None:
            return _labelled(table, directed, simple, clock, fspath(path))
        names = _names(table.column_names, columns)
        graph = from_arrow(
            table, **names, directed=directed, simple=simple, num_vertices=num_vertices
        )
    except (GraphError, arrow.ArrowException, ValueError) as error:
        raise FormatError(path, str(error)) from error
    graph.origin = replace(
        graph.origin,
        name=fspath(path),
        seconds=clock.seconds,
        compile_seconds=clock.compile_seconds,
    )
    return graph


def _labelled(table: Any, directed: bool, simple: bool, clock: Clock, path: str) -> Graph:
    """Read a table whose integers are labels, however dense they are."""
    source, target, weight = edge_columns(table.column_names, None, None, None)
    ends = [column_array(side, table[side]) for side in (source, target)]
    if any(ids.dtype.kind != "i" for ids in ends):
        raise GraphError("the metadata promises integers")
    weights = None if weight is None else column_array("weight", table[weight])
    return assemble(label_integers(*ends), weights, directed, simple, clock, path)


def _names(heads: list[str], columns: tuple[int | str, ...] | None) -> dict[str, str]:
    """Return the names of the chosen columns by what they hold."""
    if columns is not None and len(columns) not in (2, 3):
        raise GraphError(f"columns={columns!r} names {len(columns)}; expected 2 or 3")
    names = []
    for column in columns or ():
        if isinstance(column, int) and not 0 <= column < len(heads):
            raise GraphError(f"column {column} is not in 0..{len(heads) - 1}")
        names.append(heads[column] if isinstance(column, int) else column)
    return dict(zip(("source", "target", "weight"), names, strict=False))


class _Own(NamedTuple):
    directed: bool = True
    vertices: int | None = None
    labelled: bool = False
    """Whether integers are labels and not positions."""


def _own(path: str | PathLike[str], metadata: dict[bytes, bytes] | None) -> _Own:
    text = (metadata or {}).get(METADATA)
    if text is None:
        return _Own()
    try:
        found = json.loads(text)
        directed, vertices = found["directed"], found.get("vertices")
        labelled = found.get("labels") == "integer"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        directed = vertices = labelled = None
    if type(directed) is not bool or type(vertices) not in (int, type(None)):
        raise FormatError(path, "Broadfront's own metadata is not understood")
    most = FREE_VERTICES + 64 * os.path.getsize(path)
    if vertices is not None and not 0 <= vertices <= most:
        raise FormatError(path, f"the metadata promises {vertices:.3g} vertices: not in this file")
    return _Own(directed, vertices, labelled)


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write the edges as columns source, target and, with weights, weight."""
    arrow: Any = require("pyarrow", "arrow")
    parquet: Any = require("pyarrow.parquet", "arrow")
    source, target, weight = edge_arrays(graph)
    about: dict[str, object] = {"directed": graph.directed}
    if graph.labelled:
        about["labels"] = "integer" if graph.labels.dtype.kind == "i" else "string"
        source, target = (_labels(graph.labels, ids) for ids in (source, target))
    else:
        about["vertices"] = graph.num_vertices
    columns = {"source": source, "target": target}
    if weight is not None:
        columns["weight"] = weight
    table = arrow.table(columns)
    parquet.write_table(
        table.replace_schema_metadata({METADATA: json.dumps(about).encode()}), stream
    )


def _labels(labels: Any, ids: Any) -> Any:
    if labels.dtype.kind == "O":
        return [str(name) for name in labels[ids].tolist()]
    return np.asarray(labels)[ids]

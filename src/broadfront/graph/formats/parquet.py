"""Parquet: a table with a row per edge, through PyArrow (an extra).

Direction and the number of vertices travel in the table's own metadata.
"""

from __future__ import annotations

import json
from dataclasses import replace
from os import PathLike, fspath
from typing import IO, Any, NamedTuple

import numpy as np

from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError, require
from broadfront.graph import files
from broadfront.graph.csr import Graph
from broadfront.graph.edges import edge_arrays
from broadfront.graph.tables import from_arrow

METADATA = b"broadfront"


def read(
    path: str | PathLike[str],
    clock: Clock,
    *,
    directed: bool | None = None,
    simple: bool = False,
    num_vertices: int | None = None,
    columns: tuple[str, ...] | None = None,
) -> Graph:
    """Read an edge table; `columns` names source, target and maybe weight."""
    arrow: Any = require("pyarrow", "arrow")
    parquet: Any = require("pyarrow.parquet", "arrow")
    try:
        table = parquet.read_table(arrow.BufferReader(arrow.py_buffer(files.content(path))))
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise FormatError(path, f"expected a Parquet file: {str(error).splitlines()[0]}") from error
    own = _own(table.schema.metadata)
    directed = own.directed if directed is None else directed
    num_vertices = own.vertices if num_vertices is None else num_vertices
    names = dict(zip(("source", "target", "weight"), columns or (), strict=False))
    try:
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


class _Own(NamedTuple):
    directed: bool = True
    vertices: int | None = None


def _own(metadata: dict[bytes, bytes] | None) -> _Own:
    try:
        found = json.loads((metadata or {}).get(METADATA, b"{}"))
        return _Own(bool(found.get("directed", True)), found.get("vertices"))
    except (ValueError, AttributeError):
        return _Own()


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write the edges as columns source, target and, with weights, weight."""
    arrow: Any = require("pyarrow", "arrow")
    parquet: Any = require("pyarrow.parquet", "arrow")
    source, target, weight = edge_arrays(graph)
    about: dict[str, object] = {"directed": graph.directed}
    if graph.labelled:
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

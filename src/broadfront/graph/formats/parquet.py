"""Parquet: a table with a row per edge, through PyArrow (an extra).

Direction travels in the table's own metadata, and so does the number of vertices where these are
called by consecutive integers. Other labels travel as the ends of edges: a vertex without edges
does not.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import IO, Any, NamedTuple

from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError, require
from broadfront.graph import files
from broadfront.graph.build import Columns
from broadfront.graph.csr import Graph
from broadfront.graph.data import DUPLICATES
from broadfront.graph.edges import assemble, edges_with_data
from broadfront.graph.labels import MOST_VERTICES
from broadfront.graph.lines import FREE_VERTICES
from broadfront.graph.numbering import InMemory, Numbered, count_from, label_integers
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
    edge_data: Sequence[str] | None = None,
    duplicates: str | None = None,
    mapped: bool = True,
    unpack_limit: int | None = None,
) -> Graph:
    """Read an edge table; `columns` names or counts (from 0) source, target and maybe weight.

    A table that Broadfront wrote says itself what else it holds.
    """
    arrow: Any = require("pyarrow", "arrow")
    parquet: Any = require("pyarrow.parquet", "arrow")
    content = files.content(path, mapped=mapped, unpack_limit=unpack_limit)
    try:
        file = parquet.ParquetFile(arrow.BufferReader(arrow.py_buffer(content)))
        _refuse_too_much(path, file.metadata, files.most_unpacked(path, unpack_limit))
        table = file.read()
    except (FormatError, MemoryError):  # Arrow's own is of both families
        raise
    except (arrow.ArrowException, OSError, ValueError, OverflowError) as error:
        raise FormatError(path, f"expected a Parquet file: {str(error).splitlines()[0]}") from error
    own = _own(path, table.schema.metadata)
    directed = own.directed if directed is None else directed
    along = own.edge_data if edge_data is None else edge_data
    duplicates = own.duplicates if duplicates is None else duplicates
    try:
        if own.labelled and columns is None and num_vertices is None:
            return _labelled(
                table, own, directed, simple, clock, fspath(path),
                edge_data=along, duplicates=duplicates,
            )  # fmt: skip
        num_vertices = own.vertices if num_vertices is None else num_vertices
        names = _chosen(table.column_names, columns)
        graph = from_arrow(
            table, **names, edge_data=along, directed=directed, simple=simple,
            num_vertices=num_vertices, duplicates=duplicates,
        )  # fmt: skip
    except MemoryError:
        raise
    except (GraphError, arrow.ArrowException, ValueError) as error:
        raise FormatError(path, str(error)) from error
    graph.origin = replace(
        graph.origin,
        name=fspath(path),
        seconds=clock.seconds,
        compile_seconds=clock.compile_seconds,
    )
    return graph


def _refuse_too_much(path: str | PathLike[str], metadata: Any, most: int) -> None:
    """Refuse a table that is larger than it may be, by what it says of itself, before it is read.

    A run of equal values takes a few bytes however long it is: rows count at full width too.
    """
    groups = range(metadata.num_row_groups)
    unpacked = sum(metadata.row_group(group).total_byte_size for group in groups)
    if max(unpacked, 8 * metadata.num_rows * metadata.num_columns) > most:
        raise files.unpacks_to_too_much(path, most)


def _labelled(
    table: Any,
    own: _Own,
    directed: bool,
    simple: bool,
    clock: Clock,
    path: str,
    *,
    edge_data: Sequence[str],
    duplicates: str,
) -> Graph:
    """Read a table whose integers are labels, however dense they are."""
    source, target, weight = edge_columns(table.column_names, None, None, None, edge_data)
    ends = [column_array(side, table[side]) for side in (source, target)]
    if any(ids.dtype.kind != "i" for ids in ends):
        raise GraphError("the metadata promises integers")
    weights = None if weight is None else column_array("weight", table[weight])
    columns = Columns(ends[0], ends[1], weights)
    if own.vertices is None:
        numbering = label_integers(InMemory(columns))
    else:
        numbering = count_from(own.first, own.vertices, InMemory(columns))
    numbered = Numbered(columns, *numbering)
    along = {name: column_array(name, table[name]) for name in edge_data}
    return assemble(numbered, directed, simple, clock, path, edge_data=along, duplicates=duplicates)


def _chosen(heads: list[str], columns: tuple[int | str, ...] | None) -> dict[str, str]:
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
    first: int = 0
    """The first of the labels, where these are consecutive: where `vertices` is known."""
    edge_data: tuple[str, ...] = ()
    duplicates: str = "min"


def _own(path: str | PathLike[str], metadata: dict[bytes, bytes] | None) -> _Own:
    text = (metadata or {}).get(METADATA)
    if text is None:
        return _Own()
    try:
        found = json.loads(text)
        directed, vertices = found["directed"], found.get("vertices")
        labelled, first = found.get("labels") == "integer", found.get("first", 0)
        along, duplicates = found.get("edge_data", []), found.get("duplicates", "min")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        directed = vertices = labelled = first = along = duplicates = None
    known = type(directed) is bool and type(vertices) in (int, type(None))
    known = known and type(along) is list and all(type(name) is str for name in along)
    known = known and duplicates in DUPLICATES
    if not known or type(first) is not int or abs(first) >= MOST_VERTICES:
        raise FormatError(path, "Broadfront's own metadata is not understood")
    most = FREE_VERTICES + 64 * os.path.getsize(path)
    if vertices is not None and not 0 <= vertices <= most:
        raise FormatError(path, f"the metadata promises {vertices:.3g} vertices: not in this file")
    return _Own(directed, vertices, labelled, first, tuple(along), duplicates)


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write the edges as columns source, target, weight where there is one, and all others."""
    arrow: Any = require("pyarrow", "arrow")
    parquet: Any = require("pyarrow.parquet", "arrow")
    source, target, along = edges_with_data(graph)
    about: dict[str, object] = {"directed": graph.directed}
    if graph.labelled:
        source, target = (_names(graph, ids) for ids in (source, target))
        about["labels"] = "string" if isinstance(source, list) else "integer"
    if graph.first_label is not None:
        about |= {"vertices": graph.num_vertices, "first": graph.first_label}
    if graph.edge_data:
        about["edge_data"] = list(graph.edge_data)
    if graph.has_parallel_edges:
        about["duplicates"] = "keep"
    table = arrow.table({"source": source, "target": target, **along})
    parquet.write_table(
        table.replace_schema_metadata({METADATA: json.dumps(about).encode()}), stream
    )


def _names(graph: Graph, ids: Any) -> Any:
    names = graph.labels_of(ids)
    return [str(name) for name in names.tolist()] if names.dtype.kind == "O" else names

"""`read`: a graph from a file, by its suffix, or from a generator's specification.

The table `READERS` is all that knows which suffix is which format.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import Any

from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError, OptionError
from broadfront.given import flag, is_integer, is_path, is_word
from broadfront.graph import files, store
from broadfront.graph.csr import Graph
from broadfront.graph.formats import dimacs, edgelist, matrixmarket, metis, parquet
from broadfront.graph.generate import generate, is_spec
from broadfront.graph.lines import Text
from broadfront.progress import Listener, listening

READERS: dict[str, Callable[..., Graph]] = {
    ".mtx": matrixmarket.read,
    ".gr": dimacs.read,
    ".graph": metis.read,
    **dict.fromkeys((".el", ".wel", ".txt", ".csv", ".tsv", ".edges", ".dat"), edgelist.read),
    ".parquet": parquet.read,
    ".bfg": store.read,
}
BINARY = (".parquet", ".bfg")
FLAGS = {"directed", "simple", "header"}
NOT_EDGES = {".co": "DIMACS coordinates, not edges", ".names": "names of vertices, not edges"}


def read(
    source: str | PathLike[str],
    *,
    directed: bool | None = None,
    simple: bool | None = None,
    num_vertices: int | None = None,
    columns: tuple[int | str, ...] | None = None,
    edge_data: Sequence[str] | None = None,
    duplicates: str | None = None,
    header: bool | None = None,
    ids: str | None = None,
    map: bool = True,
    unpack_limit: int | None = None,
    progress: Listener | None = None,
) -> Graph:
    """Read a graph from a file, or generate one from a specification such as ``kron:20``.

    Parameters
    ----------
    source
        A path whose suffix names the format (`.mtx`, `.el`, `.wel`, `.txt`, `.csv`, `.tsv`,
        `.edges`, `.dat`, `.gr`, `.graph`, `.parquet`, `.bfg`), plain or as `.gz`, `.xz`, `.zst`;
        or a specification as in `broadfront.generate`.
    directed
        Whether edges have a direction, where the file does not say; edge lists are directed by
        default.
    simple
        Drop self-loops; parallel edges cannot be kept then.
    num_vertices
        For edge lists and tables: ids are ``0 .. num_vertices - 1``, isolated ones included.
    columns
        For edge lists and tables: the columns of source, target and maybe weight, by name or, from
        0, by position.
    edge_data
        For tables (`.parquet`): the names of more columns to keep, as in `from_edges`.
    duplicates
        For tables (`.parquet`): what becomes of parallel edges, as in `from_edges`.
    header
        For edge lists: whether the first line names the columns; by default found by looking.
    ids
        For edge lists: ``"integer"`` or ``"string"``; by default found by looking.
    map
        Whether a plain file is mapped to memory. A mapped file must keep its length and content:
        while it is read, and of a `.bfg` file as long as the graph is used. Without a map the
        file is copied into memory, and a `.bfg` file is checked before `read` returns.
    unpack_limit
        The most bytes that a compressed file may unpack to; by default 1 GiB, or 100 times the
        bytes of the file where that is more.
    progress
        Called as ``progress(stage, done, total)`` during long work.

    Raises
    ------
    FormatError
        The file is not what its suffix says; names the file and the line.
    """
    clock = Clock()
    given: dict[str, Any] = {
        "directed": directed, "simple": simple, "num_vertices": num_vertices,
        "columns": columns, "header": header, "ids": ids, "edge_data": edge_data,
        "duplicates": duplicates,
    }  # fmt: skip
    options = {name: value for name, value in given.items() if value is not None}
    if not is_path(source):
        raise OptionError(f"source={source!r:.60}: expected a path, or a specification of a graph")
    map = flag(map, "map")
    for name in FLAGS & options.keys():
        options[name] = flag(options[name], name)
    if not (ids is None or is_word(ids, "integer") or is_word(ids, "string")):
        raise OptionError(f"ids={ids!r}: expected 'integer' or 'string'")
    if unpack_limit is not None and not (is_integer(unpack_limit) and unpack_limit >= 0):
        raise OptionError(f"unpack_limit={unpack_limit!r}: expected a number of bytes")
    with listening(progress):
        if not os.path.exists(source) and is_spec(fspath(source)):
            return _generated(fspath(source), options)
        return _read_file(source, clock, options, map, unpack_limit)


def _generated(spec: str, options: dict[str, Any]) -> Graph:
    for name in options:
        if name != "simple":
            raise OptionError(f"{name}= goes with files; {spec!r} is generated")
    return generate(spec, **options)


def _read_file(
    path: str | PathLike[str],
    clock: Clock,
    options: dict[str, Any],
    mapped: bool,
    unpack_limit: int | None,
) -> Graph:
    suffix = files.suffixes(path)[0]
    reader = READERS.get(suffix)
    if not os.path.exists(path):
        raise FileNotFoundError(2, "no such file, and no generator of that name", fspath(path))
    if os.path.isdir(path):
        raise FormatError(path, "expected a file, found a folder")
    if reader is None:
        known = " ".join(READERS)
        raise FormatError(path, NOT_EDGES.get(suffix, f"unknown suffix {suffix!r}; known: {known}"))
    for name in options:
        if name not in (reader.__kwdefaults__ or {}):
            raise OptionError(f"{name}= does not go with {suffix} files")
    try:
        if suffix in BINARY:
            return reader(path, clock, mapped=mapped, unpack_limit=unpack_limit, **options)
        return reader(Text(path, mapped=mapped, unpack_limit=unpack_limit), clock, **options)
    except GraphError as error:
        raise FormatError(path, str(error)) from error

"""`write`: a graph into a file, in the format its suffix names, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import IO

from broadfront.errors import GraphError, OptionError
from broadfront.graph import files, store
from broadfront.graph.csr import Graph
from broadfront.graph.formats import dimacs, edgelist, matrixmarket, metis, parquet

WRITERS: dict[str, Callable[[Graph, IO[bytes], str], None]] = {
    ".mtx": matrixmarket.write,
    ".gr": dimacs.write,
    ".graph": metis.write,
    **dict.fromkeys((".el", ".wel", ".txt", ".csv", ".tsv", ".edges", ".dat"), edgelist.write),
    ".parquet": parquet.write,
    ".bfg": store.write,
}


def write(graph: Graph, path: str | PathLike[str]) -> None:
    """Write `graph` to `path`; ``.gz``, ``.xz`` and ``.zst`` behind the suffix compress it."""
    suffix = files.suffixes(path)[0]
    writer = WRITERS.get(suffix)
    if writer is None:
        raise OptionError(f"{path}: unknown suffix {suffix!r}; known: {' '.join(WRITERS)}")
    try:
        with files.written(path) as stream:
            writer(graph, stream, suffix)
    except UnicodeEncodeError as error:
        raise GraphError(f"{path}: a label has no form in UTF-8: {error.object!r:.60}") from error

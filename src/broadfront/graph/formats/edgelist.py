"""Edge lists: a line per edge, two columns or three, found by looking.

What separates columns, whether there is a header, which columns hold the ends and whether ids are
integers or names is read off the first lines; every later line must keep to it. Files by Broadfront
say in a comment whether they are directed and how many vertices they have.

Integers are as in `broadfront.from_edges`, except that a file in which of ``0 .. max`` only 0 does
not occur counts from 1: it has no vertex 0.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import IO, Any

from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.errors import FormatError
from broadfront.graph.columns import Layout, read_columns
from broadfront.graph.csr import Graph
from broadfront.graph.digits import columns_of_text
from broadfront.graph.edges import assemble, edge_arrays
from broadfront.graph.labels import Numbered, number
from broadfront.graph.lines import SAMPLE_BYTES, Text
from broadfront.graph.names import read_names

COMMENTS = "#%"
INTEGER = re.compile(r"[+-]?\d+")
KNOWN_HEADS = {"source", "target", "from", "to", "src", "dst", "weight", "node1", "node2"}
OWN_COMMENT = re.compile(r"# broadfront: (directed|undirected), (\d+) vertices(, \w+ weights)?")
DEFAULT_SEPARATORS = {".csv": ",", ".tsv": "\t"}

Column = int | str


@dataclass(frozen=True)
class Look:
    """What the first lines show."""

    layout: Layout
    begin: int
    """The byte where the edges begin."""
    names: bool
    """Whether ids are names and not integers."""
    directed: bool | None = None
    num_vertices: int | None = None


def read(
    text: Text,
    clock: Clock,
    *,
    directed: bool | None = None,
    simple: bool = False,
    num_vertices: int | None = None,
    columns: tuple[Column, ...] | None = None,
    header: bool | None = None,
    ids: str | None = None,
) -> Graph:
    """Read an edge list; `columns` names or counts (from 0) source, target and maybe weight."""
    look = _look(text, columns, header, ids)
    num_vertices = look.num_vertices if num_vertices is None else num_vertices
    directed = look.directed if directed is None else directed
    weight: NDArray[Any] | None
    if look.names:
        numbered, weight = read_names(text, look.begin, look.layout)
        if num_vertices is not None:
            raise FormatError(text.path, "num_vertices goes with integer ids; these are names")
    else:
        source, target, weight = read_columns(text, look.begin, look.layout)
        numbered = _numbered(text, source, target, num_vertices)
    return assemble(numbered, weight, directed is not False, simple, clock, text.path)


def _numbered(
    text: Text, source: NDArray[Any], target: NDArray[Any], num_vertices: int | None
) -> Numbered:
    largest = int(max(source.max(initial=-1), target.max(initial=-1)))
    if num_vertices is not None and largest >= num_vertices:
        raise FormatError(
            text.path, f"vertex id {largest} is not below the number of vertices, {num_vertices}"
        )
    return number(source, target, num_vertices, from_one=True)


def _look(
    text: Text, columns: tuple[Column, ...] | None, header: bool | None, ids: str | None
) -> Look:
    lines = _sample(text)
    comments = [line for _, line in lines if line.lstrip()[:1] in COMMENTS]
    rows = [(start, line) for start, line in lines if line.strip() and line not in comments]
    own = next((found for line in comments if (found := OWN_COMMENT.match(line))), None)
    about: dict[str, Any] = {}
    if own:
        about = {"directed": own[1] == "directed", "num_vertices": int(own[2])}
        text.refuse_absurd(about["num_vertices"], 0, 0)
    if not rows:
        if own:
            layout = Layout(weight=2 if own[3] else -1, columns=3 if own[3] else 2)
            return Look(layout, len(text.data), False, **about)
        raise FormatError(text.path, "expected edges, found no line but comments")
    separator = _separator(text, [line for _, line in rows])
    fields = [_split(text, start, line, separator) for start, line in rows]
    if header is None:
        header = _has_header(fields, columns)
    begin = text.line_end(rows[0][0]) + 1 if header else rows[0][0]
    heads = fields[0] if header else None
    shown = fields[1:] if header else fields
    width = len((shown or fields)[0])
    chosen = _columns(text, columns, heads, width, rows[0][0])
    layout = Layout(
        *chosen, columns=0 if columns else width, separator=separator, comments=COMMENTS
    )
    names = ids == "string" or (ids is None and not _all_integers(shown, chosen[:2]))
    return Look(layout, begin, names, **about)


def _sample(text: Text) -> list[tuple[int, str]]:
    """Return the first lines, each with the position it begins at."""
    lines: list[tuple[int, str]] = []
    position = 0
    while position < len(text.data) and (position < SAMPLE_BYTES or not _any_row(lines)):
        end = text.line_end(position)
        lines.append((position, text.decoded(position, end).rstrip("\r")))
        position = end + 1
    return lines


def _any_row(lines: list[tuple[int, str]]) -> bool:
    return bool(lines) and bool(lines[-1][1].strip()) and lines[-1][1].lstrip()[0] not in COMMENTS


def _separator(text: Text, lines: list[str]) -> str:
    """Return the character that cuts every line into the same number of fields, or empty."""
    suffix = next((end for end in DEFAULT_SEPARATORS if end in text.path.lower()), "")
    candidates = dict.fromkeys([DEFAULT_SEPARATORS.get(suffix, ","), ",", "\t", ";", "|"])
    for separator in candidates:
        if all(separator in line for line in lines):
            return separator
    return ""


def _split(text: Text, start: int, line: str, separator: str) -> list[str]:
    if not separator:
        return line.split()
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=separator))]
    except csv.Error as error:
        raise text.error(str(error), start) from error


def _has_header(fields: list[list[str]], columns: tuple[Column, ...] | None) -> bool:
    if columns and any(isinstance(column, str) for column in columns):
        return True
    first = fields[0]
    if any(field.lower() in KNOWN_HEADS for field in first):
        return True
    return (
        len(fields) > 1
        and not any(INTEGER.fullmatch(field) for field in first[:2])
        and all(INTEGER.fullmatch(field) for field in fields[1][:2])
    )


def _columns(
    text: Text,
    columns: tuple[Column, ...] | None,
    heads: list[str] | None,
    width: int,
    position: int,
) -> tuple[int, int, int]:
    """Return the positions of source, target and weight; -1 for no weight."""
    if columns is None and heads and {"source", "target"} <= {head.lower() for head in heads}:
        lower = [head.lower() for head in heads]
        weight = lower.index("weight") if "weight" in lower else -1
        return lower.index("source"), lower.index("target"), weight
    if columns is None:
        if width not in (2, 3):
            raise text.error(
                f"found {width} columns; name two, or three with the weight, by columns=(...)"
                if width > 3
                else "expected a source and a target, found one column",
                position,
            )
        return 0, 1, 2 if width == 3 else -1
    if len(columns) not in (2, 3):
        raise FormatError(text.path, f"columns={columns!r} names {len(columns)}; expected 2 or 3")
    places = [_place(text, column, heads, width) for column in columns]
    return places[0], places[1], places[2] if len(places) == 3 else -1


def _place(text: Text, column: Column, heads: list[str] | None, width: int) -> int:
    if isinstance(column, int):
        if not 0 <= column < width:
            raise FormatError(text.path, f"column {column} is not in 0..{width - 1}")
        return column
    if heads is None or column not in heads:
        raise FormatError(text.path, f"no column {column!r}; there are {', '.join(heads or [])}")
    return heads.index(column)


def _all_integers(rows: list[list[str]], columns: tuple[int, ...]) -> bool:
    ids = [row[column] for row in rows for column in columns if column < len(row)]
    return all(INTEGER.fullmatch(name) for name in ids if name)


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write a line per edge, of undirected graphs each edge once."""
    separator = DEFAULT_SEPARATORS.get(suffix, "\t" if graph.labelled else " ")
    source, target, weight = edge_arrays(graph)
    if suffix in DEFAULT_SEPARATORS:
        heads = ["source", "target"] + (["weight"] if weight is not None else [])
        stream.write((separator.join(heads) + "\n").encode())
    elif suffix not in (".el", ".wel") and not graph.labelled:
        kind = "directed" if graph.directed else "undirected"
        weights = "" if graph.weights is None else f", {graph.weights.dtype} weights"
        stream.write(f"# broadfront: {kind}, {graph.num_vertices} vertices{weights}\n".encode())
    names = graph.labels if graph.labelled else None
    ends = [source, target] if names is None else [names[source], names[target]]
    for block in columns_of_text([*ends, *([] if weight is None else [weight])], separator):
        stream.write(block)

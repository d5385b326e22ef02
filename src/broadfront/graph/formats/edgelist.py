"""Edge lists: a line per edge, two columns or three, found by looking.

What separates columns, whether there is a header, which columns hold the ends and whether ids are
integers or names is read off the first lines; every later line must keep to it. Files by Broadfront
say in a comment whether they are directed, how many vertices they have and what their labels are.

Integers are as in `broadfront.from_edges`, except that a file in which of ``0 .. max`` only 0 does
not occur counts from 1: it has no vertex 0. Where the file says how many vertices there are, in a
comment of the SNAP collection or in a first line of counts, ids above that number are labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, NamedTuple

from broadfront.clock import Clock
from broadfront.errors import FormatError
from broadfront.graph import comments, heads
from broadfront.graph.build import Columns
from broadfront.graph.columns import read_columns
from broadfront.graph.comments import Own
from broadfront.graph.csr import Graph
from broadfront.graph.digits import SEPARATORS, columns_of_text
from broadfront.graph.edges import assemble, edge_arrays
from broadfront.graph.heads import Places
from broadfront.graph.labels import Consecutive
from broadfront.graph.layout import NUMBER, Layout, split_line
from broadfront.graph.lines import SAMPLE_BYTES, Text, counts
from broadfront.graph.listing import Listing
from broadfront.graph.names import Names
from broadfront.graph.numbering import (
    Ends,
    Numbering,
    label_integers,
    number_read,
    vertex_count,
)

COMMENTS = "#%"
COMMENT_SIGNS = tuple(COMMENTS)
INTEGER = re.compile(r"[+-]?[0-9]+")
QUOTED = re.compile(r'(?<![^\s,;|])"(?:[^"]|"")*"(?![^\s,;|])')
DEFAULT_SEPARATORS = {".csv": ",", ".tsv": "\t"}

Column = int | str
Edges = tuple[Iterator[Columns], Callable[[Ends], Numbering]]


@dataclass(frozen=True)
class Look:
    """What the first lines show."""

    layout: Layout
    begin: int
    """The byte where the edges begin."""
    names: bool
    """Whether ids are names and not integers."""
    own: Own | None = None
    said: Said | None = None


class Said(NamedTuple):
    """How many vertices the file says there are, and where it does."""

    vertices: int
    position: int
    edges: int | None = None
    """How many edges, where a line of counts says so."""
    problem: str = ""
    """What is wrong with that line if it holds no counts."""


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
    edges = listed(
        text, directed=directed, num_vertices=num_vertices, columns=columns, header=header, ids=ids
    )
    return assemble(edges.numbered(), edges.directed, simple, clock, text.path)


def listed(
    text: Text,
    *,
    directed: bool | None = None,
    num_vertices: int | None = None,
    columns: tuple[Column, ...] | None = None,
    header: bool | None = None,
    ids: str | None = None,
) -> Listing:
    """Return the edges of a list, which is looked at, to be read."""
    look = _look(text, columns, header, ids)
    if look.own is not None and directed is None:
        directed = look.own.directed
    blocks, number = (_names if look.names else _integers)(text, look, vertex_count(num_vertices))
    return Listing(blocks, look.layout.weight >= 0, number, directed is not False)


def _names(text: Text, look: Look, num_vertices: int | None) -> Edges:
    """Return edges whose ends are names, and what numbers these."""
    if num_vertices is not None:
        raise FormatError(text.path, "num_vertices goes with integer ids; these are names")
    names = Names()

    def number(ends: Ends) -> Numbering:
        _confirmed(text, look.said, len(ends))
        return names.number(ends)

    return names.read(text, look.begin, look.layout), number


def _integers(text: Text, look: Look, num_vertices: int | None) -> Edges:
    """Do so for ends that are integers; a number of vertices from the user comes first."""
    own = look.own if num_vertices is None else None
    layout = replace(look.layout, vertices=num_vertices)
    if own is not None and own.labels is None:
        layout = replace(look.layout, vertices=own.vertices, base=own.first)

    def number(ends: Ends) -> Numbering:
        if own is not None:
            text.refuse_absurd(own.vertices, 0, 0)
        said = _confirmed(text, look.said, len(ends))
        if own is not None and own.labels is not None:
            return label_integers(ends)
        if layout.vertices is None:
            return number_read(ends, said)
        labels = Consecutive(layout.base, layout.vertices) if layout.base else None
        return Numbering(layout.vertices, labels)

    return read_columns(text, look.begin, layout), number


# ---------------------------------------------------------------------- looking


def _look(
    text: Text, columns: tuple[Column, ...] | None, header: bool | None, ids: str | None
) -> Look:
    remarks, rows = _sample(text)
    own = next((found for _, line in remarks if (found := comments.own(line))), None)
    if not rows:
        if own:
            layout = Layout(weight=2 if own.weighted else -1, columns=3 if own.weighted else 2)
            return Look(layout, text.size, False, own)
        raise FormatError(text.path, "expected edges, found no line but comments")
    separator = _separator(text, [line for _, line in rows])
    fields = [split_line(line, separator) for _, line in rows]
    said = _counts(rows, fields) if own is None and header is None and columns is None else None
    if header is None:
        header = own is None and (said is not None or _has_header(fields, columns))
    begin = text.line_end(rows[0][0]) + 1 if header else rows[0][0]
    shown = fields[1:] if header else fields
    width = len((shown or fields)[0])
    chosen = _columns(text, columns, fields[0] if header else None, width, rows[0][0])
    layout = Layout(
        *chosen, columns=0 if columns else width, separator=separator, comments=COMMENTS
    )
    ids = (own.labels if own else None) if ids is None else ids
    names = ids == "string" or (ids is None and not _all_integers(shown, chosen[:2]))
    return Look(layout, begin, names, own, said or _said(remarks))


def _counts(rows: list[tuple[int, str]], fields: list[list[str]]) -> Said | None:
    """Return what a first line of counts says: one of another width than all lines below it."""
    first, widths = fields[0], {len(row) for row in fields[1:]}
    if len(first) < 2 or len(widths) != 1 or len(first) in widths or not widths <= {2, 3}:
        return None
    numbers = counts(first[:2])
    if not all(numbers):
        return None
    problem = (
        f"found {len(first)} columns, and {widths.pop()} in the lines below; "
        "header=True skips this line"
    )
    return Said(numbers[0], rows[0][0], numbers[1], problem) if numbers else None


def _said(remarks: list[tuple[int, str]]) -> Said | None:
    """Return what a comment of the SNAP collection says."""
    for position, line in remarks:
        vertices = comments.vertices_said(line)
        if vertices is not None:
            return Said(vertices, position)
    return None


def _confirmed(text: Text, said: Said | None, edges: int) -> int | None:
    """Return the number of vertices that the file says; refuse counts that are wrong."""
    if said is None:
        return None
    if said.edges not in (None, edges):
        raise text.error(said.problem, said.position)
    text.refuse_absurd(said.vertices, 0, said.position)
    return said.vertices


def _sample(text: Text) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return the comments, and the first lines that are none, each with where it begins."""
    remarks: list[tuple[int, str]] = []
    rows: list[tuple[int, str]] = []
    position = 0
    while (position < SAMPLE_BYTES or not rows) and text.reaches(position):
        line = text.line(position)
        if line.lstrip(" \t")[:1] in COMMENT_SIGNS:
            remarks.append((position, line))
        elif line.strip():
            rows.append((position, line))
        position = text.line_end(position) + 1
    return remarks, rows


def _separator(text: Text, lines: list[str]) -> str:
    """Return the character that stands in every line, outside of quotes, or empty for blanks."""
    suffix = next((end for end in DEFAULT_SEPARATORS if end in text.path.lower()), "")
    bare = [QUOTED.sub("x", line) for line in lines]
    for separator in dict.fromkeys([DEFAULT_SEPARATORS.get(suffix, ","), *SEPARATORS]):
        if all(separator in line for line in bare):
            return "" if separator == "\t" and _any_blanks(bare) else separator
    return ""


def _any_blanks(lines: list[str]) -> bool:
    """Return whether blanks cut numbers apart in fields between tabs: then tabs are blanks too."""
    cut = any(" " in field.strip() for line in lines for field in line.split("\t"))
    words = [word for line in lines[1:] or lines for word in line.split()]
    return cut and all(map(NUMBER.fullmatch, words))


def _has_header(fields: list[list[str]], columns: tuple[Column, ...] | None) -> bool:
    if columns and any(isinstance(column, str) for column in columns):
        return True
    first = fields[0]
    if heads.known(first):
        return True
    ends = [column for column in columns or (0, 1) if isinstance(column, int)][:2]
    return (
        len(fields) > 1
        and not any(INTEGER.fullmatch(field) for field in _picked(first, ends))
        and all(INTEGER.fullmatch(field) for field in _picked(fields[1], ends))
    )


def _picked(row: list[str], columns: Sequence[int]) -> list[str]:
    return [row[column] for column in columns if 0 <= column < len(row)]


def _columns(
    text: Text,
    columns: tuple[Column, ...] | None,
    header: list[str] | None,
    width: int,
    position: int,
) -> Places:
    """Return where source, target and weight are."""
    if columns is None:
        places = heads.known(header or [])
        if places is None and width not in (2, 3):
            raise text.error(
                f"found {width} columns; name two, or three with the weight, by columns=(...)"
                if width > 3
                else "expected a source and a target, found one column",
                position,
            )
        return places or Places(0, 1, 2 if width == 3 else -1)
    if len(columns) not in (2, 3):
        raise FormatError(text.path, f"columns={columns!r} names {len(columns)}; expected 2 or 3")
    places = Places(*(_place(text, column, header, width) for column in columns))
    if len({*places}) < 3:
        raise FormatError(text.path, f"columns={columns!r} names one column twice")
    return places


def _place(text: Text, column: Column, header: list[str] | None, width: int) -> int:
    if isinstance(column, int):
        if not 0 <= column < width:
            raise FormatError(text.path, f"column {column} is not in 0..{width - 1}")
        return column
    if header is None or column not in header:
        raise FormatError(text.path, f"no column {column!r}; there are {', '.join(header or [])}")
    return header.index(column)


def _all_integers(rows: list[list[str]], columns: tuple[int, ...]) -> bool:
    ids = [name for row in rows for name in _picked(row, columns)]
    return all(INTEGER.fullmatch(name) for name in ids if name)


# ---------------------------------------------------------------------- writing


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write a line per edge, of undirected graphs each edge once."""
    separator = DEFAULT_SEPARATORS.get(suffix, "\t" if graph.labelled else " ")
    source, target, weight = edge_arrays(graph)
    if suffix in DEFAULT_SEPARATORS:
        names = ["source", "target"] + (["weight"] if weight is not None else [])
        stream.write((separator.join(names) + "\n").encode())
    elif suffix not in (".el", ".wel") or graph.labelled:
        stream.write(f"{comments.written(graph)}\n".encode())
    ends = [graph.labels_of(ids) for ids in (source, target)]
    for block in columns_of_text([*ends, *([] if weight is None else [weight])], separator):
        stream.write(block)

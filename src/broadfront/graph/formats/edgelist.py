"""Edge lists: a line per edge, two columns or three, found by looking.

What separates columns, whether there is a header, which columns hold the ends and whether ids are
integers or names is read off the first lines; every later line must keep to it. Files by Broadfront
say in a comment whether they are directed, how many vertices they have and what their labels are.

Integers are as in `broadfront.from_edges`, except that a file in which of ``0 .. max`` only 0 does
not occur counts from 1: it has no vertex 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, Any, NamedTuple

from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.errors import FormatError
from broadfront.graph import heads
from broadfront.graph.columns import read_columns
from broadfront.graph.csr import Graph
from broadfront.graph.digits import SEPARATORS, columns_of_text
from broadfront.graph.edges import assemble, edge_arrays
from broadfront.graph.heads import Places
from broadfront.graph.labels import label_integers, number, vertex_count
from broadfront.graph.layout import Layout
from broadfront.graph.lines import SAMPLE_BYTES, Text
from broadfront.graph.names import read_names

COMMENTS = "#%"
COMMENT_SIGNS = tuple(COMMENTS)
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?[0-9.]+(e[+-]?[0-9]+)?", re.IGNORECASE)
OWN_COMMENT = re.compile(
    r"# broadfront: (?P<kind>directed|undirected), (?P<vertices>[0-9]{1,18}) vertices"
    r"(?P<weights>, \w+ weights)?(, (?P<labels>integer|string) labels)?"
)
QUOTED = re.compile(r'(?<![^\s,;|])"(?:[^"]|"")*"(?![^\s,;|])')
QUOTED_FIELD = re.compile(r'\s*"(?:[^"]|"")*"')
WORD = re.compile(r'"(?:[^"]|"")*"|[^ \t\r]+')
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
    own: Own | None = None


class Own(NamedTuple):
    """What Broadfront's own comment says."""

    directed: bool
    vertices: int
    weighted: bool
    labels: str | None


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
    labelled = False
    if look.own is not None:
        directed = look.own.directed if directed is None else directed
        labelled = look.own.labels is not None and num_vertices is None
        if look.own.labels is None and num_vertices is None:
            num_vertices = look.own.vertices
    weight: NDArray[Any] | None
    if look.names:
        if num_vertices is not None:
            raise FormatError(text.path, "num_vertices goes with integer ids; these are names")
        numbered, weight = read_names(text, look.begin, look.layout)
    else:
        layout = replace(look.layout, vertices=vertex_count(num_vertices))
        source, target, weight = read_columns(text, look.begin, layout)
        if labelled:
            numbered = label_integers(source, target)
        else:
            numbered = number(source, target, num_vertices, from_one=True)
    return assemble(numbered, weight, directed is not False, simple, clock, text.path)


# ---------------------------------------------------------------------- looking


def _look(
    text: Text, columns: tuple[Column, ...] | None, header: bool | None, ids: str | None
) -> Look:
    comments, rows = _sample(text)
    own = next((found for line in comments if (found := _own(text, line))), None)
    if not rows:
        if own:
            layout = Layout(weight=2 if own.weighted else -1, columns=3 if own.weighted else 2)
            return Look(layout, len(text.data), False, own)
        raise FormatError(text.path, "expected edges, found no line but comments")
    separator = _separator(text, [line for _, line in rows])
    fields = [_split(line, separator) for _, line in rows]
    if header is None:
        header = own is None and _has_header(fields, columns)
    begin = text.line_end(rows[0][0]) + 1 if header else rows[0][0]
    shown = fields[1:] if header else fields
    width = len((shown or fields)[0])
    chosen = _columns(text, columns, fields[0] if header else None, width, rows[0][0])
    layout = Layout(
        *chosen, columns=0 if columns else width, separator=separator, comments=COMMENTS
    )
    ids = (own.labels if own else None) if ids is None else ids
    names = ids == "string" or (ids is None and not _all_integers(shown, chosen[:2]))
    return Look(layout, begin, names, own)


def _own(text: Text, line: str) -> Own | None:
    found = OWN_COMMENT.match(line)
    if not found:
        return None
    own = Own(
        found["kind"] == "directed", int(found["vertices"]), bool(found["weights"]), found["labels"]
    )
    text.refuse_absurd(own.vertices, 0, 0)
    return own


def _sample(text: Text) -> tuple[list[str], list[tuple[int, str]]]:
    """Return the comments, and the first lines that are none with where they begin."""
    comments: list[str] = []
    rows: list[tuple[int, str]] = []
    position = 0
    while position < len(text.data) and (position < SAMPLE_BYTES or not rows):
        line = text.line(position)
        if line.lstrip(" \t")[:1] in COMMENT_SIGNS:
            comments.append(line)
        elif line.strip():
            rows.append((position, line))
        position = text.line_end(position) + 1
    return comments, rows


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


def _split(line: str, separator: str) -> list[str]:
    """Return the fields of a line as the kernels see them, without their quotes."""
    if not separator:
        return [_bare(word) for word in WORD.findall(line)]
    fields: list[str] = []
    position = 0
    while position <= len(line):
        quoted = QUOTED_FIELD.match(line, position)
        end = line.find(separator, quoted.end() if quoted else position)
        end = len(line) if end < 0 else end
        fields.append(_bare(line[position:end].strip()))
        position = end + 1
    return fields


def _bare(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


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
        stream.write(f"{_comment(graph)}\n".encode())
    ends = [graph.labels[ids] if graph.labelled else ids for ids in (source, target)]
    for block in columns_of_text([*ends, *([] if weight is None else [weight])], separator):
        stream.write(block)


def _comment(graph: Graph) -> str:
    kind = "directed" if graph.directed else "undirected"
    parts = [f"# broadfront: {kind}", f"{graph.num_vertices} vertices"]
    if graph.weights is not None:
        parts.append(f"{graph.weights.dtype} weights")
    if graph.labelled:
        integers = graph.labels.dtype.kind == "i" and graph.labels.min(initial=0) >= 0
        parts.append("integer labels" if integers else "string labels")
    return ", ".join(parts)

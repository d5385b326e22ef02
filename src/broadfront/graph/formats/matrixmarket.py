"""MatrixMarket ``.mtx``: a square sparse matrix whose entries are the edges.

Reads coordinate matrices, pattern, integer or real, general (directed) or symmetric (undirected).
Rows keep their numbers as labels: row 1 is the vertex called 1, at position 0 as in SciPy.
"""

from __future__ import annotations

from typing import IO

from broadfront.clock import Clock
from broadfront.errors import FormatError
from broadfront.graph.columns import read_columns
from broadfront.graph.csr import Graph
from broadfront.graph.digits import columns_of_text
from broadfront.graph.edges import assemble, edge_arrays
from broadfront.graph.labels import Consecutive
from broadfront.graph.layout import Layout
from broadfront.graph.lines import Text, counts
from broadfront.graph.listing import Listing
from broadfront.graph.numbering import Ends, Numbering

BANNER = "%%MatrixMarket matrix coordinate <pattern|integer|real> <general|symmetric>"


def read(text: Text, clock: Clock, *, directed: bool | None = None, simple: bool = False) -> Graph:
    """Read a matrix; `directed` False also stores a general one symmetric."""
    entries = listed(text, directed=directed)
    return assemble(entries.numbered(), entries.directed, simple, clock, text.path)


def listed(text: Text, *, directed: bool | None = None) -> Listing:
    """Return the entries to be read, as many as the header promises."""
    field, symmetry = _banner(text)
    sizes, position, size, count = _sizes(text)
    weighted = field != "pattern"
    layout = Layout(
        weight=2 if weighted else -1, columns=3 if weighted else 2, base=1, comments="%",
        vertices=size, whole=field == "integer",
    )  # fmt: skip

    def number(ends: Ends) -> Numbering:
        text.refuse_absurd(size, count, sizes)
        if len(ends) != count:
            raise FormatError(
                text.path, f"the header promises {count:,} entries, found {len(ends):,}"
            )
        return Numbering(size, Consecutive(1, size))

    directed = symmetry != "symmetric" if directed is None else directed
    return Listing(
        read_columns(text, position, layout), weighted, number, directed, field == "real"
    )


def _banner(text: Text) -> tuple[str, str]:
    words = text.line(0).lower().split()
    if not words or words[0] != "%%matrixmarket":
        raise text.error(f"expected the banner {BANNER!r}", 0)
    known = (
        len(words) == 5
        and words[1:3] == ["matrix", "coordinate"]
        and words[3] in ("pattern", "integer", "real", "double")
        and words[4] in ("general", "symmetric")
    )
    if not known:
        raise text.error(f"expected {BANNER!r}, found {' '.join(words[1:])!r}", 0)
    return words[3].replace("double", "real"), words[4]


def _sizes(text: Text) -> tuple[int, int, int, int]:
    """Return where the sizes and the entries begin, and the number of vertices and entries."""
    position = text.line_end(0) + 1
    while text.reaches(position):
        line, end = text.line(position), text.line_end(position) + 1
        if line.strip() and not line.startswith("%"):
            sizes = counts(line.split())
            if len(sizes) != 3:
                raise text.error("expected rows, columns and entries as three numbers", position)
            rows, columns, entries = sizes
            if rows != columns:
                raise text.error(
                    f"an adjacency matrix is square; this one is {rows:,} x {columns:,}", position
                )
            return position, end, rows, entries
        position = end
    raise FormatError(text.path, "expected rows, columns and entries, found the end of the file")


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write the adjacency matrix; of an undirected graph the lower triangle."""
    target, source, weight = edge_arrays(graph)
    if graph.directed:
        source, target = target, source
    field = "pattern" if weight is None else "integer" if weight.dtype.kind == "i" else "real"
    symmetry = "general" if graph.directed else "symmetric"
    stream.write(f"%%MatrixMarket matrix coordinate {field} {symmetry}\n".encode())
    stream.write(f"{graph.num_vertices} {graph.num_vertices} {len(source)}\n".encode())
    values = [] if weight is None else [weight]
    for block in columns_of_text([source, target, *values], base=1):
        stream.write(block)

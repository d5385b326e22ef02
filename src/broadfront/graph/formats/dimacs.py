"""DIMACS ``.gr``: a problem line, then a line per edge, vertices from 1.

The shortest-path form (``p sp``, lines ``a from to length``) is directed and weighted; the PACE
forms (``p tw`` and kin, lines ``u v``) and the colouring form (``p edge``, lines ``e u v``) are
undirected and not.
"""

from __future__ import annotations

from typing import IO

from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError
from broadfront.graph.columns import Layout, read_columns
from broadfront.graph.csr import Graph
from broadfront.graph.digits import columns_of_text
from broadfront.graph.edges import assemble, edge_arrays
from broadfront.graph.labels import Numbered
from broadfront.graph.lines import Text


def read(text: Text, clock: Clock, *, directed: bool | None = None, simple: bool = False) -> Graph:
    """Read either form; `directed` overrides what the form says."""
    position, form, vertices, edges = _problem(text)
    weighted = form == "sp"
    tag = {"sp": "a", "edge": "e", "col": "e"}.get(form, "")
    first = 1 if tag else 0
    layout = Layout(
        first, first + 1, first + 2 if weighted else -1, first + (3 if weighted else 2),
        comments="c", tag=tag, base=1,
    )  # fmt: skip
    columns = read_columns(text, position, layout)
    if len(columns.source) != edges:
        raise FormatError(
            text.path, f"the problem line promises {edges:,} edges, found {len(columns.source):,}"
        )
    largest = 1 + int(max(columns.source.max(initial=-1), columns.target.max(initial=-1)))
    if largest > vertices:
        raise FormatError(
            text.path, f"the problem line promises {vertices:,} vertices, found vertex {largest:,}"
        )
    directed = weighted if directed is None else directed
    numbered = Numbered(columns.source, columns.target, vertices, None)
    return assemble(numbered, columns.weight, directed, simple, clock, text.path)


def _problem(text: Text) -> tuple[int, str, int, int]:
    """Return where the edges begin, the form, and the number of vertices and edges."""
    position = 0
    while position < len(text.data):
        words = text.line(position).split()
        end = text.line_end(position) + 1
        if words and not words[0].startswith("c"):
            if words[0] != "p" or len(words) != 4 or not all(map(str.isdecimal, words[2:])):
                if words[:3] == ["p", "aux", "sp"]:
                    raise text.error("these are coordinates, not edges", position)
                raise text.error("expected a problem line 'p FORM VERTICES EDGES'", position)
            vertices, edges = map(int, words[2:])
            text.refuse_absurd(vertices, edges, position)
            return end, words[1], vertices, edges
        position = end
    raise FormatError(text.path, "expected a problem line 'p FORM VERTICES EDGES', found none")


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write a weighted or directed graph in the shortest-path form, others in PACE's."""
    if not graph.directed and not graph.weighted:
        source, target, _ = edge_arrays(graph)
        stream.write(f"p tw {graph.num_vertices} {len(source)}\n".encode())
        blocks = columns_of_text([source, target], base=1)
    elif graph.weights is None:
        raise GraphError("a .gr file of a directed graph needs weights; this graph has none")
    else:
        stream.write(f"p sp {graph.num_vertices} {graph.num_arcs}\n".encode())
        blocks = columns_of_text([graph.sources(), graph.targets, graph.weights], base=1, tag="a ")
    for block in blocks:
        stream.write(block)

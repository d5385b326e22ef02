"""DIMACS ``.gr``: a problem line, then a line per edge, vertices from 1.

The shortest-path form (``p sp``, lines ``a from to length``) is directed and weighted; the PACE
forms (``p tw`` and kin, lines ``u v``) and the colouring form (``p edge``, lines ``e u v``) are
undirected and not. Vertices keep their numbers as labels. An undirected graph with weights is
written in the shortest-path form, every edge in both directions, under a comment that says so.
"""

from __future__ import annotations

from typing import IO, NamedTuple

from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError
from broadfront.graph.columns import read_columns
from broadfront.graph.csr import Graph
from broadfront.graph.digits import columns_of_text
from broadfront.graph.edges import assemble, edge_arrays, undirected
from broadfront.graph.labels import Consecutive
from broadfront.graph.layout import Layout
from broadfront.graph.lines import Text, counts
from broadfront.graph.listing import Listing
from broadfront.graph.numbering import Ends, Numbering

UNDIRECTED = "c broadfront: undirected"


def read(text: Text, clock: Clock, *, directed: bool | None = None, simple: bool = False) -> Graph:
    """Read either form; `directed` overrides what the form says."""
    problem = _problem(text)
    edges = _listed(text, problem, directed)
    if directed is None and problem.symmetric:
        return undirected(assemble(edges.numbered(), True, simple, clock, text.path))
    return assemble(edges.numbered(), edges.directed, simple, clock, text.path)


def listed(text: Text, *, directed: bool | None = None) -> Listing:
    """Return the edges of either form to be read."""
    problem = _problem(text)
    if directed is None and problem.symmetric:
        raise FormatError(
            text.path,
            "every edge stands here in both directions: say directed=True or False",
        )
    return _listed(text, problem, directed)


def _listed(text: Text, problem: Problem, directed: bool | None) -> Listing:
    weighted = problem.form == "sp"
    tag = {"sp": "a", "edge": "e", "col": "e"}.get(problem.form, "")
    first = 1 if tag else 0
    layout = Layout(
        first, first + 1, first + 2 if weighted else -1, first + (3 if weighted else 2),
        comments="c", tag=tag, base=1, vertices=problem.vertices,
    )  # fmt: skip

    def number(ends: Ends) -> Numbering:
        text.refuse_absurd(problem.vertices, problem.edges, problem.begin)
        if len(ends) != problem.edges:
            raise FormatError(
                text.path,
                f"the problem line promises {problem.edges:,} edges, found {len(ends):,}",
            )
        return Numbering(problem.vertices, Consecutive(1, problem.vertices))

    directed = weighted if directed is None else directed
    return Listing(read_columns(text, problem.end, layout), weighted, number, directed)


class Problem(NamedTuple):
    """What the problem line says, and the comments before it."""

    form: str
    vertices: int
    edges: int
    symmetric: bool
    """Whether the edges are of an undirected graph, and every one is there in both directions."""
    begin: int
    end: int
    """Where the edges begin."""


def _problem(text: Text) -> Problem:
    position = 0
    symmetric = False
    while text.reaches(position):
        line = text.line(position)
        words = line.split()
        end = text.line_end(position) + 1
        if words and not words[0].startswith("c"):
            sizes = counts(words[2:])
            if words[0] != "p" or len(sizes) != 2:
                if words[:3] == ["p", "aux", "sp"]:
                    raise text.error("these are coordinates, not edges", position)
                raise text.error("expected a problem line 'p FORM VERTICES EDGES'", position)
            vertices, edges = sizes
            return Problem(words[1], vertices, edges, symmetric and words[1] == "sp", position, end)
        symmetric = symmetric or line == UNDIRECTED
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
        if not graph.directed:
            stream.write(f"{UNDIRECTED}\n".encode())
        stream.write(f"p sp {graph.num_vertices} {graph.num_arcs}\n".encode())
        blocks = columns_of_text([graph.sources(), graph.targets, graph.weights], base=1, tag="a ")
    for block in blocks:
        stream.write(block)

"""METIS ``.graph``: a header, then the neighbours of each vertex on a line of their own.

Undirected; vertices from 1; every edge stands at both of its ends. The header's third word says
whether vertex sizes, vertex weights and edge weights are there; only edge weights are kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError
from broadfront.graph.csr import Graph
from broadfront.graph.edges import assemble
from broadfront.graph.fields import skip_blanks, skip_line
from broadfront.graph.labels import Numbered
from broadfront.graph.lines import NEWLINE, Text, counts
from broadfront.graph.numbers import integer
from broadfront.kernel import kernel

PERCENT = ord("%")
ROWS_PER_BLOCK = 1 << 14
FINE, NOT_A_NUMBER, OUT_OF_RANGE, NO_WEIGHT, TOO_MANY_LINES, TOO_MANY_EDGES = range(6)


class Header(NamedTuple):
    """What the first line promises."""

    begin: int
    vertices: int
    edges: int
    edge_weights: bool
    skipped: int
    """Numbers at the start of each line that belong to the vertex."""


def read(text: Text, clock: Clock, *, directed: bool | None = None, simple: bool = False) -> Graph:
    """Read the neighbour lists; `directed` True keeps the two directions apart."""
    header = _header(text)
    arcs = 2 * header.edges
    source, target = np.empty(arcs, np.int64), np.empty(arcs, np.int64)
    weight = np.empty(arcs, np.int64) if header.edge_weights else None
    problem, position, found, lines = _read(
        text.data, header.begin, header.vertices, header.skipped, source, target, weight
    )
    if problem != FINE:
        raise text.error(
            {
                NOT_A_NUMBER: f"expected a whole number, found {text.token(position)!r}",
                OUT_OF_RANGE: f"neighbour {text.token(position)} is not in 1..{header.vertices}",
                NO_WEIGHT: "a neighbour without its weight",
                TOO_MANY_LINES: f"the header promises {header.vertices:,} vertices, found more",
                TOO_MANY_EDGES: f"the header promises {header.edges:,} edges, found more",
            }[problem],
            position,
        )
    if lines < header.vertices or found != arcs:
        raise FormatError(
            text.path,
            f"the header promises {header.vertices:,} vertices and {header.edges:,} edges, "
            f"found {lines:,} lines and {found / 2:,.1f} edges",
        )
    numbered = Numbered(source, target, header.vertices, None)
    graph = assemble(numbered, weight, True, simple, clock, text.path)
    return graph if directed else _undirected(text, graph)


def _undirected(text: Text, graph: Graph) -> Graph:
    """Return the same rows as an undirected graph, which they must be."""
    turned = graph.transpose
    same = np.array_equal(graph.offsets, turned.offsets)
    same = same and np.array_equal(graph.targets, turned.targets)
    if not same:
        raise FormatError(text.path, "an edge stands at one of its ends only")
    if graph.weights is not None and not np.array_equal(graph.weights, turned.weights):  # type: ignore[arg-type]
        raise FormatError(text.path, "an edge has two weights")
    undirected = Graph(
        graph.offsets, graph.targets, graph.weights,
        directed=False, self_loops=graph.num_self_loops,
    )  # fmt: skip
    about = graph.origin
    undirected.origin = replace(
        about, edges_read=about.edges_read // 2, duplicates=about.duplicates // 2
    )
    return undirected


def _header(text: Text) -> Header:
    position = 0
    while position < len(text.data):
        line, end = text.line(position), text.line_end(position) + 1
        if not line.lstrip().startswith("%"):
            words = line.split()
            numbers = counts(words)
            if not 2 <= len(numbers) <= 4:
                raise text.error(
                    "expected the header 'VERTICES EDGES [FORMAT [WEIGHTS]]'", position
                )
            vertices, edges = numbers[:2]
            text.refuse_absurd(vertices, edges, position)
            kinds = words[2].zfill(3) if len(words) > 2 else "000"
            if len(kinds) > 3 or set(kinds) - {"0", "1"}:
                raise text.error(f"expected a format of three digits 0 or 1: {kinds!r}", position)
            per_vertex = numbers[3] if len(numbers) > 3 else 1
            skipped = (kinds[0] == "1") + (per_vertex if kinds[1] == "1" else 0)
            return Header(end, vertices, edges, kinds[2] == "1", skipped)
        position = end
    raise FormatError(text.path, "expected the header 'VERTICES EDGES', found no line but comments")


@kernel
def _read(data, position, vertices, skipped, source, target, weight):
    """Read neighbour lists; return a problem, where, and how many arcs and lines there were."""
    end = len(data)
    vertex = 0
    arcs = 0
    while position < end:
        if data[position] == PERCENT:
            position = skip_line(data, position, end) + 1
            continue
        column = 0
        while True:
            position = skip_blanks(data, position, end, -1)
            if position >= end or data[position] == NEWLINE:
                break
            if vertex >= vertices:
                return TOO_MANY_LINES, position, arcs, vertex
            value, after = integer(data, position, end)
            if value < 0:
                return NOT_A_NUMBER, position, arcs, vertex
            if column >= skipped:
                if value < 1 or value > vertices:
                    return OUT_OF_RANGE, position, arcs, vertex
                if arcs >= len(source):
                    return TOO_MANY_EDGES, position, arcs, vertex
                source[arcs] = vertex
                target[arcs] = value - 1
                if weight is not None:
                    after = skip_blanks(data, after, end, -1)
                    value, beyond = integer(data, after, end)
                    if beyond == after:
                        return NO_WEIGHT, position, arcs, vertex
                    if value < 0:
                        return NOT_A_NUMBER, after, arcs, vertex
                    weight[arcs] = value
                    after = beyond
                arcs += 1
            position = after
            column += 1
        position += 1
        vertex += 1
    return FINE, position, arcs, min(vertex, vertices)


def write(graph: Graph, stream: IO[bytes], suffix: str) -> None:
    """Write neighbour lists; METIS knows undirected graphs with whole weights and no loops."""
    if graph.directed:
        raise GraphError("METIS files hold undirected graphs; this one is directed")
    if graph.num_self_loops:
        raise GraphError("METIS files hold no self-loops; this graph has some (simple=True drops)")
    if graph.weights is not None and graph.weights.dtype.kind != "i":
        raise GraphError(f"METIS files hold whole weights; these are {graph.weights.dtype}")
    form = "" if graph.weights is None else " 1"
    stream.write(f"{graph.num_vertices} {graph.num_edges}{form}\n".encode())
    for begin in range(0, graph.num_vertices, ROWS_PER_BLOCK):
        stream.write(_block(graph, begin, min(begin + ROWS_PER_BLOCK, graph.num_vertices)))


def _block(graph: Graph, begin: int, end: int) -> bytes:
    cuts = graph.offsets[begin : end + 1].tolist()
    words: NDArray[Any] = graph.targets[cuts[0] : cuts[-1]] + 1
    step = 1
    if graph.weights is not None:
        words = np.stack([words, graph.weights[cuts[0] : cuts[-1]]], axis=1).ravel()
        step = 2
    spelled = list(map(str, words.tolist()))
    rows = [
        " ".join(spelled[step * (first - cuts[0]) : step * (last - cuts[0])])
        for first, last in zip(cuts, cuts[1:], strict=False)
    ]
    return ("\n".join(rows) + "\n").encode()

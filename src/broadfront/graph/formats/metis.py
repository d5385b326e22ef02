"""METIS ``.graph``: a header, then the neighbours of each vertex on a line of their own.

Undirected; vertices from 1, which stay their labels; every edge stands at both of its ends. The
header's third word says whether vertex sizes, vertex weights and edge weights are there; only edge
weights are kept.
"""

from __future__ import annotations

from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.clock import Clock
from broadfront.errors import FormatError, GraphError
from broadfront.graph.build import Columns, index_dtype
from broadfront.graph.columns import copied, joined
from broadfront.graph.csr import Graph
from broadfront.graph.edges import assemble, integer_weight_dtype
from broadfront.graph.fields import skip_blanks, skip_line
from broadfront.graph.labels import Consecutive
from broadfront.graph.lines import NEWLINE, Lines, Text, counts
from broadfront.graph.numbering import Numbered
from broadfront.graph.numbers import integer
from broadfront.graph.soundness import mixed
from broadfront.kernel import kernel

PERCENT = ord("%")
ROWS_PER_BLOCK = 1 << 14
FINE, NOT_A_NUMBER, OUT_OF_RANGE, NO_WEIGHT, TOO_MANY_LINES = range(5)


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
    lists: list[Lists] = []
    lines = 0
    for batch in text.batches(header.begin):
        lists += _read_batch(text, batch, lines, header, directed is True)
        lines += sum(found.lines for found in lists[-len(batch) :])
    text.refuse_absurd(header.vertices, header.edges, header.begin - 1)
    arcs = sum(found.arcs for found in lists)
    if lines < header.vertices or arcs != 2 * header.edges:
        raise FormatError(
            text.path,
            f"the header promises {header.vertices:,} vertices and {header.edges:,} edges, "
            f"found {min(lines, header.vertices):,} lines and {arcs / 2:,.1f} edges",
        )
    if directed is not True:
        _check_both_ends(text, lists)
    columns = joined([found.columns for found in lists], header.edge_weights)
    numbered = Numbered(columns, header.vertices, Consecutive(1, header.vertices))
    return assemble(numbered, directed is True, simple, clock, text.path)


class Lists(NamedTuple):
    """The neighbours in a piece of the file; of an undirected edge the end that is smaller."""

    lines: int
    columns: Columns
    arcs: int
    balance: int
    """The hashes of all arcs less those of the arcs turned around, modulo 2**64."""
    weighted_balance: int
    """The same with weights."""


def _read_batch(
    text: Text, batch: list[Lines], before: int, header: Header, both: bool
) -> list[Lists]:
    """Read pieces of the file; so many lists come `before` them."""
    rows = threads.run(lambda place: int(_count_rows(batch[place].data)), len(batch))
    first = np.cumsum([before, *rows]).tolist()

    def read_piece(place: int) -> Lists:
        found = _read_lists(batch[place], first[place], header, both)
        text.let_go(batch[place])
        return found._replace(lines=rows[place])

    return threads.run(read_piece, len(batch), "reading edges")


def _check_both_ends(text: Text, lists: list[Lists]) -> None:
    """Refuse edges that do not stand at both of their ends with one weight."""
    if sum(found.balance for found in lists) % 2**64:
        raise FormatError(text.path, "an edge stands at one of its ends only")
    if sum(found.weighted_balance for found in lists) % 2**64:
        raise FormatError(text.path, "an edge has two weights")


def _read_lists(lines: Lines, vertex: int, header: Header, both: bool) -> Lists:
    room = len(lines.data) // 2 + 1
    index = index_dtype(header.vertices, 0)
    source, target = np.empty(room, index), np.empty(room, index)
    weight = np.empty(room, np.int64) if header.edge_weights else None
    problem, position, kept, arcs, *balances = _read(
        lines.data, vertex, header.vertices, header.skipped, both, source, target, weight
    )
    if problem != FINE:
        raise lines.error(
            {
                NOT_A_NUMBER: f"expected a whole number, found {lines.token(position)!r}",
                OUT_OF_RANGE: f"neighbour {lines.token(position)} is not in 1..{header.vertices}",
                NO_WEIGHT: "a neighbour without its weight",
                TOO_MANY_LINES: f"the header promises {header.vertices:,} vertices, found more",
            }[problem],
            position,
        )
    columns = Columns(copied(source[:kept]), copied(target[:kept]))
    if weight is not None:
        columns.weight = copied(weight[:kept], integer_weight_dtype(weight[:kept]))
    return Lists(0, columns, arcs, *map(int, balances))


def _header(text: Text) -> Header:
    position = 0
    while text.reaches(position):
        line, end = text.line(position), text.line_end(position) + 1
        if not line.lstrip().startswith("%"):
            words = line.split()
            numbers = counts(words)
            if not 2 <= len(numbers) <= 4:
                raise text.error(
                    "expected the header 'VERTICES EDGES [FORMAT [WEIGHTS]]'", position
                )
            vertices, edges = numbers[:2]
            kinds = words[2].zfill(3) if len(words) > 2 else "000"
            if len(kinds) > 3 or set(kinds) - {"0", "1"}:
                raise text.error(f"expected a format of three digits 0 or 1: {kinds!r}", position)
            per_vertex = numbers[3] if len(numbers) > 3 else 1
            skipped = (kinds[0] == "1") + (per_vertex if kinds[1] == "1" else 0)
            return Header(end, vertices, edges, kinds[2] == "1", skipped)
        position = end
    raise FormatError(text.path, "expected the header 'VERTICES EDGES', found no line but comments")


@kernel
def _count_rows(data):
    """Return the number of lines that are no comments."""
    rows = 0
    position = 0
    while position < len(data):
        rows += data[position] != PERCENT
        position = skip_line(data, position, len(data)) + 1
    return rows


@kernel
def _read(data, vertex, vertices, skipped, both, source, target, weight):
    """Read neighbour lists from `vertex` on, to keep `both` directions or one.

    Returns a problem, where, how many arcs were kept and how many there were, and the balances.
    """
    end = len(data)
    position = kept = arcs = 0
    balance = weighted = np.uint64(0)
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
                return TOO_MANY_LINES, position, kept, arcs, balance, weighted
            value, after = integer(data, position, end)
            if value < 0:
                return NOT_A_NUMBER, position, kept, arcs, balance, weighted
            if column >= skipped:
                if value < 1 or value > vertices:
                    return OUT_OF_RANGE, position, kept, arcs, balance, weighted
                problem, length, after = _length(data, after, end, weight)
                if problem:
                    place = position if problem == NO_WEIGHT else after
                    return problem, place, kept, arcs, balance, weighted
                tail, head, bits = np.uint64(vertex), np.uint64(value - 1), np.uint64(length)
                balance += mixed(tail, head, np.uint64(0)) - mixed(head, tail, np.uint64(0))
                weighted += mixed(tail, head, bits) - mixed(head, tail, bits)
                if both or vertex <= value - 1:
                    source[kept] = vertex
                    target[kept] = value - 1
                    if weight is not None:
                        weight[kept] = length
                    kept += 1
                arcs += 1
            position = after
            column += 1
        position += 1
        vertex += 1
    return np.int64(FINE), position, kept, arcs, balance, weighted


@kernel
def _length(data, position, end, weight):
    """Read the weight at `position`, where there are weights; return a problem, it, and its end."""
    if weight is None:
        return np.int64(FINE), np.int64(0), position
    begin = skip_blanks(data, position, end, -1)
    value, after = integer(data, begin, end)
    if after == begin:
        return np.int64(NO_WEIGHT), value, begin
    if value < 0:
        return np.int64(NOT_A_NUMBER), value, begin
    return np.int64(FINE), value, after


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

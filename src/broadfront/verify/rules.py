"""What all verifiers share: the form of an answer, and the error that names a broken rule.

An answer is an array with one entry per vertex, in vertex order. The error carries the first
offending vertex or edge by the user's labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from broadfront.errors import VerificationError, VertexError
from broadfront.graph.csr import Graph
from broadfront.graph.expected import expect_graph

Array = NDArray[Any]
Positions = int | Sequence[int] | Array


def answer(graph: Graph, name: str, values: ArrayLike, *allowed: DTypeLike) -> Array:
    """Return `values` as a read-only array, or refuse its shape or dtype."""
    expect_graph(graph)
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.empty(())
    if array.shape != (graph.num_vertices,):
        raise VerificationError(
            "one entry per vertex",
            f"{name} has shape {array.shape}, the graph {graph.num_vertices:,} vertices",
        )
    dtypes = [np.dtype(dtype) for dtype in allowed]
    if array.dtype not in dtypes:
        wanted = " or ".join(dict.fromkeys(map(str, dtypes)))
        raise VerificationError("dtype", f"{name} has dtype {array.dtype}, expected {wanted}")
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def positions(graph: Graph, sources: Positions) -> Array:
    """Return one source or many as an array of positions, each once."""
    expect_graph(graph)
    try:
        places = np.atleast_1d(np.asarray(sources, dtype=np.int64))
    except (ValueError, TypeError, OverflowError):
        raise VertexError(f"sources={sources!r:.60}: expected positions of vertices") from None
    if places.ndim != 1:
        raise VertexError(f"sources={sources!r:.60}: expected positions of vertices")
    wrong = first((places < 0) | (places >= graph.num_vertices))
    if wrong is not None:
        raise VertexError(f"no vertex at position {places[wrong]}")
    distinct: Array = np.unique(places)
    return distinct


def first(marks: Array) -> int | None:
    """Return the place of the first True, None where there is none."""
    if len(marks) == 0:
        return None
    place = int(np.argmax(marks))
    return place if marks[place] else None


def name_of(graph: Graph, vertex: int) -> object:
    """Return the user's name of the vertex at a position; the position where there is no vertex."""
    if not 0 <= vertex < graph.num_vertices:
        return int(vertex)
    names: list[object] = graph.labels_of([vertex]).tolist()
    return names[0]


def broken_vertex(graph: Graph, rule: str, vertex: int, problem: str) -> VerificationError:
    """Return the error for a vertex that breaks `rule`."""
    return VerificationError(rule, f"vertex {name_of(graph, vertex)!r}: {problem}")


def broken_edge(graph: Graph, rule: str, tail: int, head: int, problem: str) -> VerificationError:
    """Return the error for an edge that breaks `rule`."""
    arrow = "->" if graph.directed else "-"
    ends = f"{name_of(graph, tail)!r} {arrow} {name_of(graph, head)!r}"
    return VerificationError(rule, f"edge {ends}: {problem}")

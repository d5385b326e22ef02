"""What the comments of an edge list say about the graph.

Broadfront's own comment tells direction, number of vertices and labels. The line ``# Nodes: N
Edges: M`` of the SNAP collection tells how many vertices there are, and not how they are called.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from broadfront.graph.csr import Graph

OWN = re.compile(
    r"# broadfront: (?P<kind>directed|undirected), (?P<vertices>[0-9]{1,18}) vertices"
    r"(?P<weights>, \w+ weights)?"
    r"(, (?P<labels>integer|string) labels|, labels from (?P<first>[0-9]{1,18}))?"
)
SNAP = re.compile(r"\s*[#%]\s*nodes:\s*(?P<vertices>[0-9]{1,18})\s+edges:\s*[0-9]", re.IGNORECASE)


class Own(NamedTuple):
    """What Broadfront's own comment says."""

    directed: bool
    vertices: int
    weighted: bool
    labels: str | None
    """``integer`` or ``string``; None where labels are consecutive integers."""
    first: int
    """The first of consecutive labels; 0 where there are none but positions."""


def own(line: str) -> Own | None:
    """Return what Broadfront has written; None where this is another comment."""
    found = OWN.match(line)
    if not found:
        return None
    return Own(
        found["kind"] == "directed", int(found["vertices"]), bool(found["weights"]),
        found["labels"], int(found["first"] or 0),
    )  # fmt: skip


def vertices_said(line: str) -> int | None:
    """Return the number of vertices in a comment of the SNAP collection.

    >>> vertices_said("# Nodes: 75879 Edges: 508837")
    75879
    """
    found = SNAP.match(line)
    return int(found["vertices"]) if found else None


def written(graph: Graph) -> str:
    """Return Broadfront's own comment for a graph."""
    kind = "directed" if graph.directed else "undirected"
    parts = [f"# broadfront: {kind}", f"{graph.num_vertices} vertices"]
    if graph.weights is not None:
        parts.append(f"{graph.weights.dtype} weights")
    if graph.labelled:
        integers = graph.labels.dtype.kind == "i" and graph.labels.min(initial=0) >= 0
        counted = integers and graph.first_label is not None
        told = f"labels from {graph.first_label}" if counted else "integer labels"
        parts.append(told if integers else "string labels")
    return ", ".join(parts)

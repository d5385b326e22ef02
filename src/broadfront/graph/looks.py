"""How a graph looks: as plain values, in one line, as a table in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from broadfront.sizes import size_text

if TYPE_CHECKING:
    from broadfront.graph.csr import Graph


def facts(graph: Graph) -> dict[str, object]:
    """Return what matters of the graph as plain values, for tables and JSON."""
    degrees = graph.degrees
    known: dict[str, object] = {
        "vertices": graph.num_vertices,
        "edges": graph.num_edges,
        "directed": graph.directed,
        "weights": None,
        "degree_min": int(degrees.min()) if len(degrees) else 0,
        "degree_mean": float(degrees.mean()) if len(degrees) else 0.0,
        "degree_max": int(degrees.max(initial=0)),
        "isolated": int(np.count_nonzero(_isolated(graph))),
        "self_loops": graph.num_self_loops,
        "labels": graph._labels.kind if graph._labels is not None else "positions",
        "bytes": graph.nbytes,
    }
    weights = graph.weights
    if weights is not None:
        known["weights"] = str(weights.dtype)
        if len(weights):
            known["weight_min"], known["weight_max"] = (
                weights.min().item(),
                weights.max().item(),
            )
    for name, columns in (("edge_data", graph.edge_data), ("vertex_data", graph.vertex_data)):
        if columns:
            known[name] = ", ".join(columns)
    if graph.has_parallel_edges:
        known["parallel_edges"] = "kept"
    return known


def _isolated(graph: Graph) -> NDArray[np.bool_]:
    alone: NDArray[np.bool_] = graph.degrees == 0
    if graph.directed:
        alone[graph.targets] = False
    return alone


def line(graph: Graph) -> str:
    """Return the graph in one line."""
    degrees = graph.degrees
    parts = [
        "directed" if graph.directed else "undirected",
        f"{graph.num_vertices:,} vertices",
        f"{graph.num_edges:,} edges",
    ]
    if graph.weights is not None:
        extent = f" {graph.weights.min()}..{graph.weights.max()}" if graph.num_arcs else ""
        parts.append(f"weights {graph.weights.dtype}{extent}")
    if graph.edge_data:
        parts.append(f"edge data {', '.join(graph.edge_data)}")
    if graph.vertex_data:
        parts.append(f"vertex data {', '.join(graph.vertex_data)}")
    if len(degrees):
        parts.append(f"degree {degrees.min():,}..{degrees.max():,} mean {degrees.mean():.1f}")
    if graph._labels is not None:
        parts.append(f"labels {graph._labels.kind}")
    parts.append(size_text(graph.nbytes))
    return f"Graph({', '.join(parts)})"


def table(graph: Graph) -> str:
    """Return the graph as a table of HTML."""
    known = {"origin": str(graph.origin), **facts(graph)}
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name.replace('_', ' '))}</th>"
        f"<td style='text-align:left'>{escape(_html_value(value))}</td></tr>"
        for name, value in known.items()
    )
    return f"<table><caption>broadfront.Graph</caption>{rows}</table>"


def _html_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)

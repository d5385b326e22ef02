"""What the tests of transports have run in processes of their own: every primitive, and examples."""

from __future__ import annotations

from typing import Any

import numpy as np

import broadfront as bf

PRIMITIVES: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "bfs": (bf.bfs, "parent", {"source": 0, "deterministic": True}),
    "sssp": (bf.sssp, "distance", {"source": 0}),
    "components": (bf.connected_components, "component", {}),
    "pagerank": (bf.pagerank, "rank", {}),
    "betweenness": (bf.betweenness, "centrality", {"sources": [0, 1, 2]}),
    "triangles": (bf.triangles, "per_vertex", {}),
}


def primitive(name: str, spec: str, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the answer of a primitive, and for each pair of devices the bytes that were sent."""
    function, column, given = PRIMITIVES[name]
    result = function(bf.generate(spec), **given, **options)
    return getattr(result, column), sent(result.report)


def sent(report: Any) -> np.ndarray:
    """Return for each device the bytes that it has sent to each, as the record has them."""
    return np.array([device.sent_bytes.sum(axis=0) for device in report.devices])

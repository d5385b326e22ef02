"""What a run has needed of memory that grows, as a profile for runs like it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from broadfront.backends.cpu.exchange.runs import HEAD
from broadfront.backends.cpu.operators import frontier
from broadfront.devices.profile import MemoryProfile
from broadfront.graph.csr import Graph
from broadfront.partition.outline import Outline

if TYPE_CHECKING:
    from broadfront.execution.program import Program


def needs(
    program: Program, graph: Graph, work: frontier.Work, part: Outline | None = None
) -> MemoryProfile:
    """Return the factors of what one device has needed, of the whole graph or of its part."""
    told = _told(graph.origin.name, graph.directed, graph.num_vertices, graph.num_arcs)
    first = frontier.NEED if work.checks else frontier.ROOM
    places = max(work.fronts[first : first + frontier.GROWING].tolist())
    size = graph.num_vertices if part is None else part.positions
    queue = max(0, places - frontier.SLACK) / max(1, size)
    if part is None:
        return MemoryProfile(program.name, told, queue)
    asked = np.maximum(0, work.mail.asked - HEAD)
    others = np.arange(part.count) != part.device
    near = others & (part.crossing > 0)
    return MemoryProfile(
        program.name,
        told,
        queue,
        float((asked[near] / part.crossing[near]).max(initial=0.0)),
        float(asked[part.device]) / max(1, part.num_arcs),
        float(asked[others & ~near].max(initial=0)) / max(1, size),
    )


@lru_cache(maxsize=64)
def _told(name: str, directed: bool, vertices: int, arcs: int) -> str:
    kind = "directed" if directed else "undirected"
    return f"{name}: {kind}, {vertices:,} vertices, {arcs:,} arcs"

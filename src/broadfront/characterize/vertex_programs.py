"""The four primitives by gather-apply-scatter, as a user would write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from broadfront.execution.answer import Answer
from broadfront.graph.csr import Graph
from broadfront.models.gas import VertexProgram, run
from broadfront.operators.describe import Field

DAMPING = 0.85


def _arrive(vertex, state):
    state.depth[vertex] = state.iteration
    return True


def _is_new(neighbor, state):
    return state.depth[neighbor] < 0


def _through(neighbor, vertex, edge, state):
    return state.distance[neighbor] + state.weight[edge]


def _come_closer(vertex, total, state):
    closer = total < state.distance[vertex]
    if closer:
        state.distance[vertex] = total
    return closer


def _is_closer(vertex, neighbor, edge, state):
    return state.distance[vertex] + state.weight[edge] < state.distance[neighbor]


def _label_of(neighbor, state):
    return state.label[neighbor]


def _take_smaller(vertex, total, state):
    smaller = total < state.label[vertex]
    if smaller:
        state.label[vertex] = total
    return smaller


def _has_larger(vertex, neighbor, edge, state):
    return state.label[vertex] < state.label[neighbor]


def _share(neighbor, state):
    ways = state.offsets[neighbor + 1] - state.offsets[neighbor]
    return state.rank[neighbor] / ways if ways > 0 else 0.0


def _move(vertex, total, state):
    state.rank[vertex] = (1 - DAMPING + DAMPING * state.stuck[0]) / state.num_vertices + (
        DAMPING * total
    )
    return state.rank[vertex] if state.offsets[vertex + 1] == state.offsets[vertex] else 0.0


BFS = VertexProgram(
    {"depth": Field(np.int32, fill=-1)}, apply=_arrive, scatter=_is_new, name="bfs by GAS"
)
SSSP = VertexProgram(
    {"distance": Field(np.float64, fill=np.inf)}, gather=_through, sum="min", apply=_come_closer,
    scatter=_is_closer, name="sssp by GAS",
)  # fmt: skip
COMPONENTS = VertexProgram(
    {"label": Field(np.int64)}, gather=_label_of, sum="min", identity=2**62, apply=_take_smaller,
    scatter=_has_larger, name="components by GAS",
)  # fmt: skip
PAGERANK = VertexProgram(
    {"rank": Field(np.float64), "stuck": Field(np.float64, length=1)}, gather=_share, apply=_move,
    sums=("stuck",), limit=20, name="pagerank by GAS",
)  # fmt: skip


def search(graph: Graph, source: int, **options: Any) -> Answer:
    """Search from a source: `depth`."""
    return run(BFS, graph, frontier=[source], **options)


def shortest_paths(graph: Graph, source: int, **options: Any) -> Answer:
    """Find shortest paths from a source: `distance`."""
    start = {"distance": {source: 0.0}}
    return run(SSSP, graph, frontier=[source], init=start, **options)


def components(graph: Graph, **options: Any) -> Answer:
    """Give every vertex the smallest number in its component: `label`."""
    everyone = np.arange(graph.num_vertices)
    return run(COMPONENTS, graph, frontier=everyone, init={"label": everyone}, **options)


def pagerank(graph: Graph, **options: Any) -> Answer:
    """Rank vertices by 20 iterations: `rank`."""
    even = 1 / max(1, graph.num_vertices)
    stuck = np.array([np.count_nonzero(graph.degrees == 0) * even])
    start = {"rank": np.full(graph.num_vertices, even), "stuck": stuck}
    return run(PAGERANK, graph, init=start, **options)

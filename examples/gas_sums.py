"""Connected components and PageRank by gather-apply-scatter.

A vertex takes the smallest label around it and wakes those whose label is larger. For PageRank all
vertices are active in every superstep; who has no way out gives to everyone.
"""

import numpy as np

import broadfront as bf
from broadfront import gas


def label_of(neighbor, state):
    return state.label[neighbor]


def take_smaller(vertex, total, state):
    smaller = total < state.label[vertex]
    if smaller:
        state.label[vertex] = total
    return smaller


def has_larger(vertex, neighbor, edge, state):
    return state.label[vertex] < state.label[neighbor]


def share(neighbor, state):
    ways = state.offsets[neighbor + 1] - state.offsets[neighbor]
    return state.rank[neighbor] / ways if ways > 0 else 0.0


def move(vertex, total, state):
    rank = (0.15 + 0.85 * state.stuck[0]) / state.num_vertices + 0.85 * total
    change = abs(rank - state.rank[vertex])
    state.rank[vertex] = rank
    return change, rank if state.offsets[vertex + 1] == state.offsets[vertex] else 0.0


def stands_still(state):
    return state.change[0] < 1e-6


COMPONENTS = gas.VertexProgram(
    {"label": bf.Field(np.int64)}, gather=label_of, gather_along="both", sum="min",
    identity=2**62, apply=take_smaller, scatter=has_larger, scatter_along="both",
)  # fmt: skip
TOTAL = bf.Field(np.float64, length=1)
PAGERANK = gas.VertexProgram(
    {"rank": bf.Field(np.float64), "change": TOTAL, "stuck": TOTAL},
    gather=share, apply=move, sums=("change", "stuck"), until=stands_still, limit=100,
)  # fmt: skip


def components(graph, **options):
    everyone = np.arange(graph.num_vertices)
    return gas.run(COMPONENTS, graph, frontier=everyone, init={"label": everyone}, **options)


def pagerank(graph, style="activate", **options):
    even = 1 / max(1, graph.num_vertices)
    stuck = np.count_nonzero(np.diff(graph.offsets) == 0) * even
    start = {"rank": np.full(graph.num_vertices, even), "stuck": np.array([stuck])}
    return gas.run(PAGERANK, graph, init=start, style=style, **options)


if __name__ == "__main__":
    print(components(bf.generate("kron:10"))["label"][:10])
    print(pagerank(bf.generate("kron:10"))["rank"].argsort()[-5:])

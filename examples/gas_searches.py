"""Breadth-first search and shortest paths by gather-apply-scatter.

A vertex that was reached wakes those that are not; a vertex that came closer wakes neighbours that
come closer through it.
"""

import numpy as np

import broadfront as bf
from broadfront import gas


def arrive(vertex, state):
    state.depth[vertex] = state.iteration
    return True


def is_new(neighbor, state):
    return state.depth[neighbor] < 0


def through(neighbor, vertex, edge, state):
    return state.distance[neighbor] + state.weight[edge]


def come_closer(vertex, total, state):
    closer = total < state.distance[vertex]
    if closer:
        state.distance[vertex] = total
    return closer


def is_closer(vertex, neighbor, edge, state):
    return state.distance[vertex] + state.weight[edge] < state.distance[neighbor]


BFS = gas.VertexProgram({"depth": bf.Field(np.int32, fill=-1)}, apply=arrive, scatter=is_new)
SSSP = gas.VertexProgram(
    {"distance": bf.Field(np.float64, fill=np.inf)},
    gather=through, sum="min", apply=come_closer, scatter=is_closer,
)  # fmt: skip


def search(graph, source, **options):
    return gas.run(BFS, graph, frontier=[source], **options)


def shortest_paths(graph, source, **options):
    start = {"distance": {source: 0.0}}
    return gas.run(SSSP, graph, frontier=[source], init=start, **options)


if __name__ == "__main__":
    print(search(bf.generate("kron:10"), 5)["depth"][:10])
    print(shortest_paths(bf.generate("kron:10:weights=1-63"), 5)["distance"][:10])

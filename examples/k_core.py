"""k-core: the largest part of a graph in which every vertex has k neighbours.

Whoever has fewer than k neighbours left drops out and takes one from each of its neighbours; the
vertex that falls from k to k - 1 by that is the next to drop out.
"""

import numpy as np

import broadfront as bf


def take_one(source, neighbor, edge, state):
    return -1


def falls_out(vertex, before, after, state):
    return before >= state.k > after


K_CORE = bf.Program(
    fields={"left": bf.Field(np.int32, combine="sum")},
    step=[bf.Advance(take_one, into="left", activate=falls_out)],
    parameters=["k"],
)


def k_core(graph, k):
    degrees = graph.degrees
    few = np.flatnonzero(degrees < k)
    answer = bf.run(K_CORE, graph, frontier=few, init={"left": degrees}, parameters={"k": k})
    return np.flatnonzero(answer["left"] >= k)


if __name__ == "__main__":
    print(len(k_core(bf.generate("kron:10:simple=yes"), 16)))

"""Most reliable paths: the likeliest way from a source to each vertex, and the way itself.

An edge works with a probability, its weight; a way works if all of its edges do. What is kept for a
vertex is a record: the chance of the best way to it, how many edges it has, and the vertex before.
Of equally likely ways the shortest is kept, then the one from the smallest vertex.
"""

import numpy as np

import broadfront as bf

WAY = np.dtype([("chance", np.float64), ("edges", np.int32), ("before", np.int32)])
NO_WAY = (0.0, 2**31 - 1, 2**31 - 1)


def through_edge(source, neighbor, edge, state):
    chance, edges, _ = state.way[source]
    return chance * state.weight[edge], edges + 1, state.ids[source]


def likelier(one, other):
    if one[0] != other[0]:
        return one if one[0] > other[0] else other
    return one if (one[1], one[2]) <= (other[1], other[2]) else other


MOST_RELIABLE_PATH = bf.Program(
    fields={"way": bf.Field(WAY, NO_WAY, bf.Monoid(likelier, NO_WAY, idempotent=True))},
    step=[bf.Advance(through_edge, into="way")],
)


def most_reliable_path(graph, source, target, **options):
    first = {"way": {source: (1.0, 0, source)}}
    way = bf.run(MOST_RELIABLE_PATH, graph, frontier=[source], init=first, **options)["way"]
    path = [target] if way["chance"][target] > 0 else []
    while path and path[0] != source:
        path.insert(0, int(way["before"][path[0]]))
    return float(way["chance"][target]), path


if __name__ == "__main__":
    network = bf.generate("grid:8x8:weights=1-9")
    print(most_reliable_path(network.with_weights(network.weights / 10), 0, 63))

"""Widest paths: by how wide a way can each vertex be reached from a source?

A way is as wide as its narrowest edge. The widest proposal stays, and the widest go first.
"""

import numpy as np

import broadfront as bf


def through_edge(source, neighbor, edge, state):
    return min(state.width[source], state.weight[edge])


def widest_first(vertex, state):
    return -state.width[vertex]


WIDEST_PATH = bf.Program(
    fields={"width": bf.Field(np.float64, fill=0, combine="max")},
    step=[bf.Advance(through_edge, into="width", priority=widest_first)],
)


def widest_path(graph, source):
    start = {"width": {source: np.inf}}
    return bf.run(WIDEST_PATH, graph, frontier=[source], init=start)["width"]


if __name__ == "__main__":
    print(widest_path(bf.generate("kron:10:weights=1-63"), 5)[:10])

"""Shortest paths of at most k edges: Bellman-Ford, stopped after k rounds.

An iteration sees only what the iterations before it have found, so after k of them every
distance is that of the best way of at most k edges.
"""

import numpy as np

import broadfront as bf


def through_edge(source, neighbor, edge, state):
    return state.distance[source] + state.weight[edge]


def at_most_k_edges(graph, source, k, **options):
    rounds = bf.Program(
        fields={"distance": bf.Field(np.float64, fill=np.inf, combine="min")},
        phases=[bf.Phase([bf.Advance(through_edge, into="distance")], limit=k)],
    )
    start = {"distance": {source: 0.0}}
    return bf.run(rounds, graph, frontier=[source], init=start, **options)["distance"]


if __name__ == "__main__":
    print(at_most_k_edges(bf.generate("kron:8:weights=1-63"), 5, 2)[:8])

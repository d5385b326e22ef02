"""Reachability: which of up to 64 sources reaches each vertex? One bit for each of them.

A vertex hands its bits on; those that a neighbour lacks are added, and it hands them on in turn.
"""

import numpy as np

import broadfront as bf


def hand_on(source, neighbor, edge, state):
    return state.bits[source]


REACHABILITY = bf.Program(
    fields={"bits": bf.Field(np.uint64, combine="or")},
    step=[bf.Advance(hand_on, into="bits")],
)


def reachability(graph, sources):
    start = {source: np.uint64(1 << place) for place, source in enumerate(sources)}
    return bf.run(REACHABILITY, graph, frontier=sources, init={"bits": start})["bits"]


if __name__ == "__main__":
    print(reachability(bf.generate("rmat:10:2:directed=yes"), [1, 2, 3])[:10])

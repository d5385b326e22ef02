"""Reachability from 256 sources at once: a set of 256 bits at each vertex, in four words.

A vertex hands its set on; what a neighbour lacks is added to its set, and handed on in turn.
"""

import numpy as np

import broadfront as bf


def hand_on(source, neighbor, edge, state):
    return state.reached_by[source]


BIT_SETS = bf.Program(
    fields={"reached_by": bf.Field(np.uint64, width=4, combine="or")},
    step=[bf.Advance(hand_on, into="reached_by")],
)


def reached_by(graph, sources, **options):
    sets = np.zeros((graph.num_vertices, 4), np.uint64)
    place = np.arange(len(sources))
    np.bitwise_or.at(sets, (sources, place // 64), np.uint64(1) << (place % 64).astype(np.uint64))
    answer = bf.run(BIT_SETS, graph, frontier=sources, init={"reached_by": sets}, **options)
    octets = answer["reached_by"].view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")[:, : len(sources)].astype(bool)


if __name__ == "__main__":
    print(reached_by(bf.generate("rmat:10:2:directed=yes"), np.arange(256)).sum())

"""Reachability: which of up to 64 sources reaches each vertex? One bit for each of them.

A vertex hands on the bits that it has and the neighbour lacks; adding them up sets them.
"""

import numpy as np

import broadfront as bf
from broadfront import atomics


def hand_on(vertex, state):
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        neighbor = state.targets[edge]
        if state.bits[vertex] & ~state.bits[neighbor] != 0:
            before = atomics.bitwise_or(state.bits, neighbor, state.bits[vertex])
            if state.bits[vertex] & ~before != 0:
                state.changed[0] = 1


def quiet(state):
    changed = state.changed[0]
    state.changed[0] = 0
    return changed == 0


REACHABILITY = bf.Program(
    fields={"bits": bf.Field(np.uint64), "changed": bf.Field(np.int64, length=1)},
    phases=[bf.Phase([bf.Compute(hand_on)], until=quiet)],
)


def reachability(graph, sources):
    start = {source: np.uint64(1 << place) for place, source in enumerate(sources)}
    return bf.run(REACHABILITY, graph, start={"bits": start})["bits"]


if __name__ == "__main__":
    print(reachability(bf.generate("rmat:10:2:directed=yes"), [1, 2, 3])[:10])

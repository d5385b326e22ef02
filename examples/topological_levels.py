"""Levels of a directed graph without cycles: the most edges that lead to each vertex.

A vertex waits for all arcs that come to it, and goes on when the last one has (Kahn). Those on
a cycle, and behind one, wait for ever.
"""

import numpy as np

import broadfront as bf


def one_less(source, neighbor, edge, state):
    return -1


def waits_no_more(vertex, before, after, state):
    return after == 0


def note(vertex, state):
    state.level[vertex] = state.iteration + 1


WAITING = -1
LEVELS = bf.Program(
    fields={"waits": bf.Field(np.int64, combine="sum"), "level": bf.Field(np.int32, fill=WAITING)},
    step=[
        bf.Advance(one_less, into="waits", activate=waits_no_more),
        bf.Compute(note, over="frontier"),
    ],
)


def topological_levels(graph, **options):
    waits = np.diff(graph.transpose.offsets)
    first = np.flatnonzero(waits == 0)
    start = {"waits": waits, "level": np.where(waits == 0, 0, WAITING)}
    return bf.run(LEVELS, graph, frontier=first, init=start, **options)["level"]


if __name__ == "__main__":
    print(topological_levels(bf.from_edges([0, 0, 1, 2], [1, 2, 3, 1])))

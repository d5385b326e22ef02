"""A maximal matching by handshakes: free vertices pick a free neighbour, and mutual picks marry.

A pick is the smallest neighbour, so in each round at least one pair agrees. What a vertex needs of
its pick comes along the edge: on several devices no other vertex can be looked at.
"""

import numpy as np

import broadfront as bf

NOBODY = 2**31 - 1


def offer(neighbor, vertex, edge, state):
    is_free = state.mate[neighbor] == NOBODY and neighbor != vertex
    return state.ids[neighbor] if is_free else NOBODY


def pick(vertex, best, state):
    state.pick[vertex] = best if state.mate[vertex] == NOBODY else NOBODY


def picks(vertex, state):
    return state.pick[vertex] != NOBODY


def shake_hands(source, neighbor, edge, state):
    agree = state.pick[source] == state.ids[neighbor] and state.pick[neighbor] == state.ids[source]
    return state.ids[source] if agree else NOBODY


ID = bf.Field(np.int32, fill=NOBODY, combine="min")
ROUND = [
    bf.Phase([bf.Reduce(offer, pick, NOBODY, "min"), bf.Filter(picks, over="vertices")]),
    bf.Phase([bf.Advance(shake_hands, into="mate")], limit=1),
]
MATCHING = bf.Program({"mate": ID, "pick": ID}, phases=[bf.Repeat(ROUND)])


def matching(graph, **options):
    return bf.run(MATCHING, graph, **options)["mate"]


if __name__ == "__main__":
    print((matching(bf.generate("kron:10")) != NOBODY).sum() // 2)

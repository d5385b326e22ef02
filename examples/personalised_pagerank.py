"""Personalised PageRank by residual push: only what is near the source is looked at.

A vertex keeps a part of its residual and hands the rest to its neighbours; who comes to more than
epsilon per neighbour by that is the next to push. What is kept and what is left add up to 1
(Andersen, Chung, Lang 2006).
"""

import broadfront as bf

KEPT = 0.15


def degree(vertex, state):
    return state.offsets[vertex + 1] - state.offsets[vertex]


def keep(vertex, state):
    state.rank[vertex] += KEPT * state.residual[vertex]
    state.share[vertex] = (1 - KEPT) * state.residual[vertex] / max(1, degree(vertex, state))
    state.residual[vertex] = 0


def hand_on(source, neighbor, edge, state):
    return state.share[source]


def is_much(vertex, before, after, state):
    return after > state.epsilon * degree(vertex, state)


REAL = bf.Field(float)
RESIDUAL_PUSH = bf.Program(
    fields={"rank": REAL, "share": REAL, "residual": bf.Field(float, combine="sum")},
    step=[bf.Compute(keep, over="frontier"), bf.Advance(hand_on, "residual", activate=is_much)],
    parameters=["epsilon"],
)


def personalised_pagerank(graph, source, epsilon=1e-6, **options):
    start, number = {"residual": {source: 1.0}}, {"epsilon": epsilon}
    return bf.run(
        RESIDUAL_PUSH, graph, frontier=[source], init=start, parameters=number, **options
    )["rank"]


if __name__ == "__main__":
    print(personalised_pagerank(bf.generate("kron:10:simple=yes"), 7).argsort()[-5:])

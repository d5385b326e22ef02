"""The shortest way to one vertex of a grid, with an estimate of what is left (A*).

Vertices are served in the order of distance and estimate together; the search is over when the
goal's turn comes. The estimate never exceeds what is left, as edges weigh 1 at least.
"""

import numpy as np

import broadfront as bf


def one_further(source, neighbor, edge, state):
    return state.distance[source] + state.weight[edge]


def estimate(vertex, state):
    here, there, wide = state.ids[vertex], state.goal, state.wide
    left = abs(here // wide - there // wide) + abs(here % wide - there % wide)
    return state.distance[vertex] + left


def goal(state):
    return state.goal


FAR = 2**62
SEARCH = bf.Program(
    fields={"distance": bf.Field(np.int64, fill=FAR, combine="min")},
    step=[bf.Advance(one_further, into="distance", priority=estimate, goal=goal)],
    parameters=["goal", "wide"],
)


def distance_to(graph, source, goal, wide, **options):
    start, there = {"distance": {source: 0}}, {"goal": goal, "wide": wide}
    answer = bf.run(SEARCH, graph, frontier=[source], init=start, parameters=there, **options)
    return int(answer["distance"][goal])


if __name__ == "__main__":
    print(distance_to(bf.generate("grid:20x20:0:weights=1-9"), 0, 399, 20))

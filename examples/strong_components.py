"""Strongly connected components by colours: the highest id that reaches a vertex is its colour.

Who keeps its own id is a root; its component is what reaches it, going back, within its colour.
What is left over is coloured anew (Orzan 2004). A component is named by its highest id.
"""

import broadfront as bf


def is_left(vertex, state):
    return state.component[vertex] < 0


def own_colour(vertex, state):
    state.colour[vertex] = state.ids[vertex] if state.component[vertex] < 0 else -1


def hand_on(source, neighbor, edge, state):
    return state.colour[source] if state.component[neighbor] < 0 else -1


def is_root(vertex, state):
    if state.component[vertex] < 0 and state.colour[vertex] == state.ids[vertex]:
        state.component[vertex] = state.ids[vertex]
    return state.component[vertex] == state.ids[vertex] == state.colour[vertex]


def hand_back(source, neighbor, edge, state):
    return state.component[source] if state.colour[neighbor] == state.component[source] else -1


NUMBER = bf.Field("vertex", fill=-1, combine="max")
COLOUR = bf.Phase([bf.Compute(own_colour), bf.Filter(is_left, over="vertices")])
REACH = bf.Phase([bf.Advance(hand_on, into="colour")])
ROOTS = bf.Phase([bf.Filter(is_root, over="vertices")])
BACK = bf.Phase([bf.Advance(hand_back, into="component", along="in", cond=is_left)])
LEFT = bf.Phase([bf.Filter(is_left, over="vertices")])
ROUND = bf.Repeat([COLOUR, REACH, ROOTS, BACK, LEFT])
STRONG_COMPONENTS = bf.Program({"colour": NUMBER, "component": NUMBER}, phases=[ROUND])


def strong_components(graph, **options):
    return bf.run(STRONG_COMPONENTS, graph, **options)["component"]


if __name__ == "__main__":
    print(len(set(strong_components(bf.generate("rmat:10:2:directed=yes")).tolist())))

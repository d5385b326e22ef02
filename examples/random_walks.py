"""Random walks: many walkers at each vertex, each of which takes one of the edges at random.

Counted is how often each vertex is visited. A walker's choice is drawn from its number, its vertex
and the step; on several devices `relabel=False` keeps the order of edges, and so the walks.
"""

import broadfront as bf


def walkers_along(source, neighbor, edge, state):
    first, going = state.offsets[source], 0
    degree = state.offsets[source + 1] - first
    for walker in range(state.here[source]):
        draw = bf.random(walker, state.ids[source], state.iteration)
        going += int(draw * degree) == edge - first
    return going


def arrive(vertex, state):
    state.here[vertex] = state.coming[vertex]
    state.visits[vertex] += state.coming[vertex]
    state.coming[vertex] = 0


def random_walks(graph, walkers=10, steps=10, **options):
    step = [bf.Advance(walkers_along, into="coming"), bf.Compute(arrive)]
    program = bf.Program(
        fields={
            "here": bf.Field(int, fill=walkers), "visits": bf.Field(int, fill=walkers),
            "coming": bf.Field(int, combine="sum"),
        },
        phases=[bf.Phase(step, limit=steps)],
    )  # fmt: skip
    everyone = range(graph.num_vertices)
    return bf.run(program, graph, frontier=everyone, **options)["visits"]


if __name__ == "__main__":
    print(random_walks(bf.generate("kron:8:simple=yes")).argsort()[-5:])

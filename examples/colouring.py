"""Jones-Plassmann colouring: of those without a colour whoever drew the highest lot chooses.

It takes the smallest colour that no neighbour has. Lots are drawn once, so the colouring is the
same on any number of devices. For graphs without self-loops.
"""

import broadfront as bf


def choose(vertex, state):
    first, last = state.offsets[vertex], state.offsets[vertex + 1]
    lot, choice = bf.random(0, state.ids[vertex], 0), state.colour[vertex]
    for colour in range(last - first if choice < 0 else -1, -1, -1):
        free = True
        for edge in range(first, last):
            other = state.targets[edge]
            free &= state.colour[other] != colour
            free &= state.colour[other] >= 0 or bf.random(0, state.ids[other], 0) < lot
        choice = colour if free else choice
    state.choice[vertex] = choice


def take_it(vertex, state):
    state.colour[vertex] = state.choice[vertex]
    return int(state.colour[vertex] < 0)


def all_coloured(state):
    return state.left[0] == 0


CHOICE = bf.Field(int, fill=-1)
FIELDS = {"colour": CHOICE, "choice": CHOICE, "left": bf.Field(int, length=1)}
ROUND = [bf.Compute(choose), bf.Compute(take_it, sums=("left",))]
COLOURING = bf.Program(FIELDS, phases=[bf.Phase(ROUND, until=all_coloured)])


def colouring(graph, **options):
    return bf.run(COLOURING, graph, **options)["colour"]


if __name__ == "__main__":
    print(colouring(bf.generate("kron:10:simple=yes")).max() + 1)

"""Luby's maximal independent set: in each round whoever drew more than its neighbours joins.

Those who see a neighbour in the set are out; the others draw again. For graphs without self-loops.
"""

import broadfront as bf

OUT, IN = -1.0, 2.0


def draw_lots(vertex, state):
    if 0 <= state.lot[vertex] < IN:
        state.lot[vertex] = bf.random(state.seed, state.ids[vertex], state.iteration)


def lot_of(neighbor, state):
    return state.lot[neighbor]


def decide(vertex, highest, state):
    lot = state.lot[vertex]
    if 0 <= lot < IN:
        state.lot[vertex] = OUT if highest == IN else IN if lot > highest else lot
    return int(0 <= state.lot[vertex] < IN)


def all_decided(state):
    return state.undecided[0] == 0


ROUND = [bf.Compute(draw_lots), bf.Reduce(lot_of, decide, OUT, "max", sums=("undecided",))]
INDEPENDENT_SET = bf.Program(
    fields={"lot": bf.Field(float), "undecided": bf.Field(int, length=1)},
    phases=[bf.Phase(ROUND, until=all_decided)],
    parameters=["seed"],
)


def independent_set(graph, seed=0, **options):
    answer = bf.run(INDEPENDENT_SET, graph, parameters={"seed": seed}, **options)
    return (answer["lot"] == IN).nonzero()[0]


if __name__ == "__main__":
    print(len(independent_set(bf.generate("kron:10:simple=yes"))))

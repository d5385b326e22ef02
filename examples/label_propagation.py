"""Communities by label propagation: everyone takes the label that most of its neighbours have.

All at once, in rounds; of equally frequent labels the smallest wins, so the answer is the same for
any number of threads. Lists of neighbours are short enough to count labels by looking twice.
"""

import numpy as np

import broadfront as bf


def listen(vertex, state):
    best, most = state.label[vertex], 0
    first, last = state.offsets[vertex], state.offsets[vertex + 1]
    for edge in range(first, last):
        label, votes = state.label[state.targets[edge]], 0
        for other in range(first, last):
            votes += state.label[state.targets[other]] == label
        if votes > most or (votes == most and label < best):
            best, most = label, votes
    state.heard[vertex] = best


def adopt(vertex, state):
    changed = state.label[vertex] != state.heard[vertex]
    state.label[vertex] = state.heard[vertex]
    return changed


def settled(state):
    state.rounds[0] += 1
    return state.changes[0] == 0 or state.rounds[0] >= state.most_rounds


LABEL_PROPAGATION = bf.Program(
    fields={
        "label": bf.Field("vertex"),
        "heard": bf.Field("vertex"),
        "changes": bf.Field(np.float64, length=1),
        "rounds": bf.Field(np.int64, length=1),
    },
    phases=[bf.Phase([bf.Compute(listen), bf.Compute(adopt, sums=("changes",))], until=settled)],
    parameters=["most_rounds"],
    unordered=True,  # counting goes through neighbours in any order
)


def label_propagation(graph, most_rounds=20):
    start = {"label": np.arange(graph.num_vertices)}
    parameters = {"most_rounds": most_rounds}
    return bf.run(LABEL_PROPAGATION, graph, init=start, parameters=parameters)["label"]


if __name__ == "__main__":
    print(len(np.unique(label_propagation(bf.generate("smallworld:1000:10:0.05")))))

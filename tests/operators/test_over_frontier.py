"""Compute and Filter over a frontier do the same be it a queue or a bitmap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import broadfront as bf
from broadfront.algorithms.bfs import FIELDS, HOP

GRAPH = bf.generate("kron:11")
SOURCE = int(np.argmax(GRAPH.degrees))


def count(vertex, state):
    state.seen[vertex] += 1


def is_even(vertex, state):
    return state.ids[vertex] % 2 == 0


def expected() -> tuple[np.ndarray, np.ndarray]:
    """Search level by level in plain Python, going on from even vertices only."""
    depth = np.full(GRAPH.num_vertices, -1)
    depth[SOURCE], level, seen = 0, [SOURCE], np.zeros(GRAPH.num_vertices, int)
    while level:
        following = {int(n) for v in level for n in GRAPH.neighbors(v) if depth[n] < 0}
        for vertex in following:
            depth[vertex] = depth[level[0]] + 1
            seen[vertex] += 1
        level = [vertex for vertex in following if vertex % 2 == 0]
    return depth, seen


@pytest.mark.parametrize("direction", ["push", "pull", None])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_direction_agrees_with_plain_python(direction: str | None, threads: int) -> None:
    step = [
        replace(HOP, direction=direction),
        bf.Compute(count, over="frontier"),
        bf.Filter(is_even),
    ]
    program = bf.Program({**FIELDS, "seen": bf.Field(np.int32)}, step=step)
    start = {"depth": {SOURCE: 0}, "parent": {SOURCE: SOURCE}}
    answer = bf.run(program, GRAPH, frontier=[SOURCE], init=start, threads=threads)
    depth, seen = expected()
    assert (depth > 1).any()
    np.testing.assert_array_equal(answer["depth"].view(np.int32), depth)
    np.testing.assert_array_equal(answer["seen"], seen)


def one_and_id(vertex, state):
    return 1, state.ids[vertex] / 2


def test_totals_over_the_frontier_are_those_of_its_vertices() -> None:
    sums = {name: bf.Field(dtype, length=1) for name, dtype in (("n", np.int64), ("half", float))}
    program = bf.Program(sums, step=[bf.Compute(one_and_id, ("n", "half"), over="frontier")])
    frontier = np.flatnonzero(GRAPH.degrees > 3)
    for where in ({"devices": "python"}, {"threads": 1}, {"threads": 2}, *(
        {"devices": devices, "partitioner": partitioner}
        for devices in (2, 3) for partitioner in ("range", "random", "metis")
    )):  # fmt: skip
        answer = bf.run(program, GRAPH, frontier=frontier, **where)
        assert (answer["n"][0], answer["half"][0]) == (len(frontier), frontier.sum() / 2)


def least_around(vertex, state):
    found = state.least[vertex]
    for edge in range(state.offsets[vertex], state.offsets[vertex + 1]):
        found = min(found, state.least[state.targets[edge]] + 1)
    state.found[vertex] = found


def changed(vertex, state):
    return state.found[vertex] != state.least[vertex]


def take_over(vertex, state):
    state.least[vertex] = state.found[vertex]


def wake(source, neighbor, edge, state):
    return 1


def test_gathering_over_the_frontier_and_waking_neighbours() -> None:
    """What a `Reduce` over the frontier does, and a `Filter` of those that change."""
    fields = {"least": bf.Field(np.int64, fill=99), "found": bf.Field(np.int64, fill=99),
              "woken": bf.Field(np.int64, combine="sum")}  # fmt: skip
    step = [bf.Compute(least_around, over="frontier"), bf.Filter(changed),
            bf.Compute(take_over, over="frontier"), bf.Advance(wake, into="woken")]  # fmt: skip
    program = bf.Program(fields, step=step, unordered=True)
    graph = bf.generate("grid:4x4:0")
    expected = [x + y for y in range(4) for x in range(4)]
    for where in ({"devices": "python"}, {"threads": 2}, {"devices": 3, "partitioner": "random"}):
        answer = bf.run(
            program, graph, frontier=[1, 4], init={"least": {0: 0}}, **where
        )  # fmt: skip
        assert answer["least"].tolist() == expected

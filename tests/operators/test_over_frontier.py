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

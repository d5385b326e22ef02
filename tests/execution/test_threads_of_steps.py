"""How many threads a run of one step has, which goes from its frontier once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront.operators.describe import Compute


def depth_by_one(source, neighbor, edge, state):
    return state.depth[source] + 1


def walk(vertex, state):
    for _ in range(1000):
        state.depth[vertex] = (state.depth[vertex] * 5 + 1) & 1023


def step(**how: Any) -> bf.Program:
    field = bf.Field(np.int64, fill=1 << 20, combine="min")
    advance = bf.Advance(depth_by_one, into="depth", synchronous=False, **how)
    return bf.Program({"depth": field}, phases=[bf.Phase([advance], limit=1)])


WALK = bf.Program(
    {"depth": bf.Field(np.int64)}, phases=[bf.Phase([Compute(walk, over="frontier")])]
)
LEVELS = bf.Program(
    {"depth": bf.Field(np.int64, fill=1 << 20, combine="min")},
    step=[bf.Advance(depth_by_one, into="depth", synchronous=False)],
)
STEPS = {
    "few": (step(), [0], 1), "many": (step(), range(1 << 14), 2),
    "always pulls": (step(direction="pull"), [0], 2), "a loop in a functor": (WALK, [0], 2),
    "goes on": (LEVELS, [0], 2),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_little_work_that_can_be_counted_has_one_thread(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broadfront.threads.count", lambda: 2)
    program, frontier, threads = STEPS[name]
    graph = bf.generate("uniform:14:16")
    answer = bf.run(program, graph, frontier=list(frontier))
    assert answer.record.threads == threads
    alone = bf.run(program, graph, frontier=list(frontier), threads=1)
    np.testing.assert_array_equal(answer["depth"], alone["depth"])

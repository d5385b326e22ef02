"""The goal of a prioritised `Advance` is a vertex of the graph, or an error before it is looked at.

The loops are those of `sssp` with a target.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import broadfront as bf
from broadfront import Advance, Field, Program
from broadfront.algorithms.sssp import nearest_first, shortest_paths, through_edge

SIZE = 40
LINE = bf.from_edges(range(SIZE - 1), range(1, SIZE), np.ones(SIZE - 1), directed=False)
TO_TARGET = shortest_paths(np.dtype(np.float64), None, True)
WHERE: list[dict[str, Any]] = [
    {"threads": 1},
    {"threads": 2},
    {"devices": 3, "threads": 1},
    {"devices": 3, "threads": 2, "relabel": False},
]


def distances(program: Program, target: Any, **where: Any) -> np.ndarray:
    start = {"distance": {0: 0.0}}
    given = {"target": target}
    return bf.run(program, LINE, frontier=[0], init=start, parameters=given, **where)["distance"]


@pytest.mark.parametrize("where", WHERE, ids=str)
def test_a_goal_outside_the_graph(where: dict[str, Any]) -> None:
    for target in (-1, SIZE, 10**12, -(1 << 63), (1 << 63) - 1):
        with pytest.raises(bf.VertexError, match="the goal of an Advance is not a vertex"):
            distances(TO_TARGET, target, **where)
        assert distances(TO_TARGET, SIZE - 1, **where).tolist() == list(range(SIZE))


def not_whole(state):  # type: ignore[no-untyped-def]
    return state.target + 0.5


def test_a_goal_that_is_not_whole() -> None:
    step = Advance(through_edge, into="distance", priority=nearest_first, goal=not_whole)
    fields = {"distance": Field(np.float64, fill=np.inf, combine="min")}
    with pytest.raises(bf.FunctorError, match="not_whole returns float64"):
        distances(Program(fields, step=[step], parameters=["target"]), 3, threads=1)

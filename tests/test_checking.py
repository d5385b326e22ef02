"""NUMBA_BOUNDSCHECK=1: an index outside a field raises, in functors and in what operators do."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
import broadfront as bf
from broadfront import Compute, Field, Program, atomics

def functor(vertex, state):
    if state.how == 0:
        state.found[vertex + state.shift] = 1
    elif state.how == 1:
        state.other[vertex] = state.found[vertex + state.shift] + 1
    else:
        atomics.add(state.found, vertex + state.shift, 1)

fields = {"found": Field(np.int64), "other": Field(np.int64)}
program = Program(fields, step=[Compute(functor)], parameters=["how", "shift"])
graph = bf.from_edges([0, 1, 2, 3], [1, 2, 3, 0])

for how in (0, 1, 2):
    for shift in (0, 1, -1):
        try:
            answer = bf.run(program, graph, parameters={"how": how, "shift": shift}, threads=1)
            print(answer["found"].sum() + answer["other"].sum())
        except IndexError as error:
            print(error)
print(bf.bfs(graph, 0).depth.tolist())
"""


def test_an_index_outside_a_field_raises() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1"}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    outside = "('outside state.found: index, length', {}, 4)"
    assert done.stdout.splitlines() == [
        *("4", outside.format(4), outside.format(-1)),
        *("4", outside.format(4), outside.format(-1)),
        *("4", "an index is outside state.found", "an index is outside state.found"),
        "[0, 1, 2, 3]",
    ]

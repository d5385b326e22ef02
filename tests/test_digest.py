"""Loops kept on disk: found again by what they mean, and not taken for each other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import numpy as np
import broadfront as bf

def write_one(vertex, state):
    state.number[vertex] = 1

def write_two(vertex, state):
    state.number[vertex] = 2

graph = bf.from_edges([0], [1])
for functor in [(write_one, write_two)[int(name) - 1] for name in sys.argv[1:]]:
    program = bf.Program({"number": bf.Field(np.int64)}, step=[bf.Compute(functor)])
    answer = bf.run(program, graph)
    print(answer["number"][0], answer.record.compile_seconds > 0)
"""


def test_loops_kept_by_several_processes_do_not_mix(tmp_path: Path) -> None:
    """The parts of both loops have the same names and types, and are the first to be compiled."""

    def answers(*names: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *names],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        return done.stdout.splitlines()

    answers()  # compiles what a graph needs, so that the next two compile only their loops
    assert answers("1") == ["1 True"]
    assert answers("2") == ["2 True"]
    assert answers("1", "2") == ["1 False", "2 False"]
    assert answers("2", "1") == ["2 False", "1 False"]

"""Functors that need the interpreter: they print, raise with values, and go back to Python.

What was just compiled and what comes from the disk do the same, on any thread and device.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import numba
import numpy as np
import broadfront as bf
from broadfront import Compute, Field, Program

SALT = int(sys.argv[1])

@numba.njit
def helped(number):
    print("helper", number)
    return number

def functor(vertex, state):
    state.found[vertex] = SALT
    if state.how == 0 and vertex == 2:
        print("vertex", vertex, 0.5)
        helped(vertex)
    if state.how == 1 and vertex == 2:
        raise ValueError("no", vertex, 0.5)
    if state.how == 2:
        with numba.objmode(length="int64"):
            length = len(str(10 * vertex))
        state.found[vertex] = length

program = Program({"found": Field(np.int64)}, step=[Compute(functor)], parameters=["how"])
graph = bf.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
compiled = 0.0
for options in eval(sys.argv[2]):
    for how in (0, 1, 2):
        try:
            answer = bf.run(program, graph, parameters={"how": how}, relabel=False, **options)
            compiled += answer.record.compile_seconds
            print(answer["found"].sum() % SALT, flush=True)
        except ValueError as error:
            print(error, flush=True)
print("compiled" if compiled else "loaded")
"""
EXPECTED = "vertex 2 0.5\nhelper 2\n0\n('no', 2, 0.5)\n7\n"


@pytest.mark.parametrize(
    "options",
    [
        [{"threads": 1}, {"threads": 2}],
        [{"devices": 2, "threads": 1}, {"devices": 2, "threads": 2}],
    ],
    ids=["alone", "devices"],
)
def test_functors_in_python(options: list[dict[str, int]], tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    salt = str(secrets.randbelow(1 << 32) + 100)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", str(script), salt, repr(options)],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said = done.stdout.rpartition("\n")[0].rpartition("\n")[0] + "\n"
        assert said == EXPECTED * len(options)

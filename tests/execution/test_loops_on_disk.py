"""Compiled loops are kept on disk by what they mean: edits are noticed, comments are not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from broadfront.algorithms.bfs import BFS, BFS_TO_TARGET
from broadfront.algorithms.brandes import weighted_brandes
from broadfront.algorithms.components import COMPONENTS
from broadfront.algorithms.pagerank import PROGRAMS as PAGERANK
from broadfront.algorithms.sssp import shortest_paths
from broadfront.algorithms.triangles import TOTAL
from broadfront.backends.cpu.loop.across import Across
from broadfront.backends.cpu.loop.fused import fused
from broadfront.digest import digest_of
from k_core import K_CORE
from widest_path import WIDEST_PATH

SCRIPT = """
import sys
import numpy as np
import broadfront as bf
from broadfront import Compute, Field, Program
sys.path.insert(0, sys.argv[1])
from functors import further
program = Program({"depth": Field(np.int32)}, step=[Compute(further)])
graph = bf.from_edges([0, 1], [1, 2])
answer = bf.run(program, graph, init={"depth": np.array([0, 1, 2], np.int32)})
print(answer["depth"].tolist(), answer.record.compile_seconds > 0)
"""

FUNCTORS = """
from broadfront.kernel import inner
STEP = {step}
@inner
def helper(value):
    return value {sign} STEP
def further(vertex, state):
    {comment}state.depth[vertex] = helper(state.depth[vertex]) {more}
"""


def test_edits_are_noticed_and_comments_are_not(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
                   "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip

    def answer(**parts: object) -> str:
        given = {"step": 1, "sign": "+", "more": "", "comment": "", **parts}
        (tmp_path / "functors.py").write_text(textwrap.dedent(FUNCTORS).format(**given))
        return subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path)], env=environment,
            capture_output=True, text=True, check=True, timeout=300,
        ).stdout.strip()  # fmt: skip

    assert answer() == "[1, 2, 3] True"
    assert answer() == "[1, 2, 3] False"
    assert answer(comment="# only a comment\n    ") == "[1, 2, 3] False"
    assert answer(step=2) == "[2, 3, 4] True"
    assert answer(sign="-") == "[-1, 0, 1] True"
    assert answer(more="+ 5") == "[6, 7, 8] True"
    assert answer(step=2) == "[2, 3, 4] False"


PROGRAMS = {
    "bfs": BFS,
    "bfs to a target": BFS_TO_TARGET,
    "sssp": shortest_paths(np.dtype(np.float64), None),
    "components": COMPONENTS,
    "pagerank": PAGERANK[False, False],
    "brandes": weighted_brandes(np.dtype(np.float64)),
    "triangles": TOTAL,
    "k-core": K_CORE,
    "widest path": WIDEST_PATH,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_every_loop_means_can_be_told(name: str) -> None:
    """Or it would compile in each process anew; told twice, it is told alike."""
    program = PROGRAMS[name].on(np.dtype(np.int32))
    names = program.state_names

    def meanings() -> list[str]:
        across = Across(program, names, np.dtype(np.int32), True)
        loops = [fused(program, names), fused(program, names, large=True),
                 fused(program, names, across=across)]  # fmt: skip
        return [digest_of(loop)[0] for loop in loops]

    first = meanings()
    assert meanings() == first
    assert first[0] != first[2]

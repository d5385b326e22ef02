"""Compiled loops are kept on disk by what they mean: edits are noticed, comments are not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

SCRIPT = """
import sys
import numpy as np
import broadfront as bf
from broadfront import Advance, Field, Program
sys.path.insert(0, sys.argv[1])
from functors import further
program = Program({"depth": Field(np.int32, fill=99, combine="min")},
                  step=[Advance(further, into="depth")])
graph = bf.from_edges([0, 1], [1, 2])
answer = bf.run(program, graph, frontier=[0], start={"depth": {0: 0}})
print(answer["depth"].tolist(), answer.record.compile_seconds > 0)
"""

FUNCTORS = """
from broadfront.kernel import inner
STEP = {step}
@inner
def helper(value):
    return value {sign} STEP
def further(source, neighbor, edge, state):
    {comment}return helper(state.depth[source]) {more}
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

    assert answer() == "[0, 1, 2] True"
    assert answer() == "[0, 1, 2] False"
    assert answer(comment="# only a comment\n    ") == "[0, 1, 2] False"
    assert answer(step=2) == "[0, 2, 4] True"
    assert answer(sign="-") == "[0, -1, -2] True"
    assert answer(more="+ 5") == "[0, 6, 12] True"
    assert answer(step=2) == "[0, 2, 4] False"

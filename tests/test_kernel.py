"""Compiling: once per machine, and told apart from the work."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numba
import numpy as np

from broadfront import clock
from broadfront.clock import Clock

SCRIPT = """
import broadfront as bf
from broadfront.clock import Clock
clock = Clock()
graph = bf.generate("kron:8")
print(graph.origin.compile_seconds, clock.load_seconds)
"""


def test_a_second_process_does_not_compile(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    compiling, loading = [], []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment, capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        compiled, loaded = map(float, done.stdout.split())
        compiling.append(compiled)
        loading.append(loaded)
    assert compiling[0] > 0
    assert compiling[1] == 0
    assert loading[1] > 0


def test_compiling_is_counted_apart() -> None:
    def doubled(values):  # type: ignore[no-untyped-def]
        for place in range(len(values)):
            values[place] *= 2
        return values.sum()

    compiled = numba.njit(doubled)  # noqa: TID251 - what is kept on disk would not compile again
    seen: list[bool] = []
    watch = Clock()
    with clock.watching(seen.append):
        assert compiled(np.arange(4)) == 12
    assert seen == [True, False]
    assert watch.compile_seconds > 0
    assert watch.seconds >= 0
    once = watch.compile_seconds
    compiled(np.arange(4))
    assert watch.compile_seconds == once


def test_loading_is_counted_apart() -> None:
    watch = Clock()
    with clock.loading(), clock.loading():
        time.sleep(0.02)
    assert watch.load_seconds >= 0.02
    assert watch.seconds >= 0
    once = watch.load_seconds
    time.sleep(0.01)
    assert watch.load_seconds == once
    assert watch.compile_seconds == 0

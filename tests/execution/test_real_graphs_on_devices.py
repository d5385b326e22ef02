"""Answers on many devices are those of one on the real graphs beside the repository, too.

Which partitioner, number of devices, way to keep ids and memory to begin with a case gets goes
round, so that every problem meets all of them over the graphs, and every graph over the problems.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import broadfront as bf
from problems import ALIKE, PROBLEMS, same

GRAPHS: dict[str, dict[str, Any]] = {
    "musae-github.csv": {"directed": False},
    "USA-road-d.NY.gr.gz": {},
    "npm-deps-2017.runtime.el.zst": {"num_vertices": 304_031},
    "moby-thesaurus.el.zst": {},
    "copter2.graph.xz": {},
    "git-commits-git.el.zst": {},
    "routes.dat": {"columns": (2, 4)},
    "karate.graph": {},
    "lesmis.graph": {},
    "chesapeake.mtx": {},
}
DEEP = ("USA-road-d.NY.gr.gz", "git-commits-git.el.zst")
"""Thousands of levels: slow where many devices share a core, so these get two."""
DEVICES = [2, 3, 4, 8]
PARTITIONERS = ["random", "static", "range", "biased", "metis"]


@cache
def kinds(path: Path) -> tuple[bf.Graph, bf.Graph]:
    """Return a graph without weights, and with weights of float64."""
    graph = bf.read(path, **GRAPHS[path.name])
    rng = np.random.default_rng(1)
    source, target = graph.sources(), graph.targets
    if not graph.directed:
        source, target = source[source <= target], target[source <= target]
    ends = {"num_vertices": graph.num_vertices, "directed": graph.directed}
    weight = rng.integers(1, 100, len(source)).astype(np.float64)
    return (
        bf.from_edges(source, target, **ends),
        bf.from_edges(source, target, weight=weight, **ends),
    )


@pytest.mark.parametrize("turn", range(len(PROBLEMS)), ids=PROBLEMS)
@pytest.mark.parametrize("name", GRAPHS)
def test_the_answers_of_one_device(real_graphs: Path, name: str, turn: int) -> None:
    problem = list(PROBLEMS.values())[turn]
    graph = kinds(real_graphs / name)[problem.weighted]
    round_ = turn + list(GRAPHS).index(name)
    expected = problem.solve(graph, threads=1)
    where = {
        "devices": 2 if name in DEEP else DEVICES[round_ % len(DEVICES)],
        "partitioner": PARTITIONERS[round_ % len(PARTITIONERS)],
        "execution": "bsp",
        "relabel": round_ % 3 != 0 or list(PROBLEMS)[turn] in ALIKE,
        "memory": bf.MemoryProfile(queue=0.01, box=0.5) if round_ % 4 == 1 else "minimal",
    }
    same(problem, problem.solve(graph, threads=1, **where), expected)

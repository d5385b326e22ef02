"""Rows of a study that never ran, and calls that pretend to run on many devices."""

from __future__ import annotations

from typing import Any

import broadfront as bf
from broadfront.scaling import Findings, Row

CORES = {"cores": 2}


def row(study: str, graph: str, devices: int, seconds: float, **others: Any) -> Row:
    """A row with three trials around `seconds`, of bfs in a family called by the graph."""
    told = {
        "family": graph.partition(":")[0], "vertices": 10, "edges": 100, "primitive": "bfs",
        "threads": 1, "edges_reached": 100, "edges_visited": 200, "memory_bytes": 1000,
    }  # fmt: skip
    trials = (seconds, seconds / 10, seconds * 10)
    return Row(study=study, graph=graph, devices=devices, trials=trials, **{**told, **others})


def findings() -> Findings:
    """One of everything that tables and pictures show."""
    strong = [
        row("strong", graph, devices, seconds / devices, primitive=primitive,
            redundancy=1 + devices / 10, memory_bytes=1000 * devices,
            frontier=(1, 5, 2) if devices == 1 else ())
        for graph in ("rgg:3", "rmat:3", "rmat:4")
        for primitive, seconds in (("bfs", 1.0), ("pagerank", 3.0))
        for devices in (1, 2, 4)
    ]  # fmt: skip
    weak = [
        row(study, f"rmat:{devices}", devices, 1.0, family=study, edges_reached=100 * devices)
        for study in ("weak-edges", "weak-vertices")
        for devices in (1, 2, 4)
    ]
    compared = [
        row("partitioners", "rgg:3", 4, 2.0, partitioner="random", partition_seconds=0.1),
        row("partitioners", "rgg:3", 4, 1.0, partitioner="metis", partition_seconds=5.0),
        row("ids", "rgg:3", 4, 2.0),
        row("ids", "rgg:3", 4, 3.0, ids="kept", memory_bytes=1500),
        row("memory", "rgg:3", 4, 2.0, scheme="minimal"),
        row("memory", "rgg:3", 4, 1.0, scheme="fixed", memory_bytes=3000),
    ]
    return Findings({"repeats": 3}, ["a note"], strong + weak + compared, machine=dict(CORES))


class Pretender:
    """Answers on one device whatever it is asked for, and remembers what that was."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, graph: bf.Graph, question: Any, **options: Any) -> bf.BreadthFirst:
        self.asked.append({"graph": graph, "source": question.source, **options})
        return bf.bfs(graph, question.source, threads=1)

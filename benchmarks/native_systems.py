"""Who is compared: GAPBS and Ligra as programs, and versions of Broadfront as worker processes.

A system is asked for a turn: a primitive on a graph from a source, in a variant that names threads,
devices or delta. It answers with the seconds of each trial, and with a count (vertices reached,
components, triangles) where it has one, by which answers are compared.

References
----------
Beamer, Asanović, Patterson: The GAP benchmark suite (2015).
Shun, Blelloch: Ligra, a lightweight graph processing framework for shared memory (PPoPP 2013).
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from broadfront import threads
from broadfront.benchmark.systems.system import ITERATIONS
from broadfront.errors import OptionError
from native_graphs import Case, write_gapbs, write_ligra

Variant = dict[str, Any]
FROM_SOURCE = ("bfs", "sssp", "betweenness")
ON_DEVICES = ("bfs", "sssp")
DIRECTED = ("bfs", "sssp", "components", "pagerank", "betweenness")
"""What is asked of a directed graph."""
DELTAS = tuple(4**power for power in range(13))
PATIENCE, LEAST_LIMIT = 10.0, 5.0
WORKER = Path(__file__).with_name("native_worker.py")


class Failed(Exception):
    """A system gave no answer."""


@dataclass(frozen=True)
class Turn:
    """What a system answered."""

    seconds: list[float]
    count: int | None = None
    iterations: int | None = None


class Native(ABC):
    """A suite of programs, one for each primitive, built in a folder."""

    name: ClassVar[str]
    programs: ClassVar[dict[str, str]]
    time_pattern: ClassVar[str]
    counts: ClassVar[dict[str, str]] = {}
    quickest: ClassVar[dict[tuple[str, str], float]] = {}
    """By graph and primitive, the seconds of the quickest process of any suite."""

    def __init__(self, folder: Path, limit_seconds: float) -> None:
        self.folder = folder
        self._limit = limit_seconds
        missing = [name for name in self.programs.values() if not (folder / name).is_file()]
        if len(missing) == len(self.programs):
            raise OptionError(f"--{self.name.lower()} {folder}: no program {missing[0]} in there")

    def variants(self, primitive: str, case: Case) -> list[Variant]:
        """Return how to run: on one thread, and on all."""
        if not (self.folder / self.programs[primitive]).is_file():
            return []
        return [{"threads": count} for count in dict.fromkeys((1, threads.available()))]

    def run(
        self, primitive: str, case: Case, source: int | None, variant: Variant, trials: int
    ) -> Turn:
        """Run the program, and read the times it prints.

        It is stopped when it takes much longer than the quickest before it, of any suite.
        """
        cell = case.name, primitive
        limit = min(self._limit, max(LEAST_LIMIT, PATIENCE * self.quickest.get(cell, self._limit)))
        command = [self.folder / self.programs[primitive]]
        command += self.arguments(primitive, case, variant, trials)
        if source is not None:
            command[1:1] = ["-r", source]
        environment = {**os.environ, "OMP_NUM_THREADS": str(variant["threads"])}
        began = time.perf_counter()
        try:
            done = subprocess.run(
                [str(word) for word in command], env=environment, capture_output=True, text=True,
                timeout=limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise Failed(f"took over {limit:.3g} s, stopped") from None
        took = time.perf_counter() - began
        seconds = [float(found) for found in re.findall(self.time_pattern, done.stdout)]
        if done.returncode or len(seconds) != trials:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise Failed(f"exit code {done.returncode}: {' '.join(last)}")
        self.quickest[cell] = min(took, self.quickest.get(cell, took))
        counted = re.search(self.counts.get(primitive, "(?!)"), done.stdout)
        return Turn(seconds, int(counted[1]) if counted else None)

    @abstractmethod
    def arguments(self, primitive: str, case: Case, variant: Variant, trials: int) -> list[object]:
        """Return the command line after the source."""

    def stop(self) -> None:  # noqa: B027 (a suite may leave it as it is)
        """Nothing runs between turns."""


class Gapbs(Native):
    """The GAP benchmark suite; shortest paths with the best delta."""

    name = "GAPBS"
    programs: ClassVar[dict[str, str]] = {
        "bfs": "bfs", "sssp": "sssp", "components": "cc", "pagerank": "pr", "betweenness": "bc",
        "triangles": "tc",
    }  # fmt: skip
    time_pattern = r"Trial Time:\s*([\d.]+)"
    counts: ClassVar[dict[str, str]] = {
        "bfs": r"BFS Tree has (\d+) nodes", "sssp": r"SSSP Tree reaches (\d+) nodes",
        "components": r"There are (\d+) components", "triangles": r"(\d+) triangles",
    }  # fmt: skip

    def variants(self, primitive: str, case: Case) -> list[Variant]:
        """Return how to run; shortest paths with the delta that a quick sweep finds best."""
        found = super().variants(primitive, case)
        if primitive != "sssp":
            return found
        return [self._with_delta(case, variant) for variant in found]

    def _with_delta(self, case: Case, variant: Variant) -> Variant:
        """Try powers of 4, those near the mean weight first, then powers of 2 beside the best."""
        tried: dict[int, float] = {}

        def attempt(deltas: Iterable[int]) -> int:
            for delta in deltas:
                given = {**variant, "delta": delta}
                try:
                    tried[delta] = min(self.run("sssp", case, case.sources[0], given, 2).seconds)
                except Failed:
                    tried[delta] = float("inf")
            return min(tried, key=tried.__getitem__)

        weights = case.graph.weights
        mean = 1.0 if weights is None else max(1.0, float(weights.mean()))
        best = attempt(sorted(DELTAS, key=lambda delta: abs(math.log(delta / mean))))
        return {**variant, "delta": attempt((max(1, best // 2), best * 2))}

    def arguments(self, primitive: str, case: Case, variant: Variant, trials: int) -> list[object]:
        """Return the command line; ``-a`` prints the count after the last trial."""
        own = {
            "sssp": ["-d", variant.get("delta", 1)],
            "pagerank": ["-i", ITERATIONS, "-t", 0],
            "betweenness": ["-i", 1],
        }.get(primitive, [])
        counting = ["-a"] if primitive in self.counts else []
        return ["-f", write_gapbs(case, primitive == "sssp"), "-n", trials, *own, *counting]


class Ligra(Native):
    """Ligra, which runs once untimed before the trials; shortest paths by Bellman-Ford."""

    name = "Ligra"
    programs: ClassVar[dict[str, str]] = {
        "bfs": "BFS", "sssp": "BellmanFord", "components": "Components", "pagerank": "PageRank",
        "betweenness": "BC", "triangles": "Triangle",
    }  # fmt: skip
    time_pattern = r"Running time : ([\d.e+-]+)"
    counts: ClassVar[dict[str, str]] = {"triangles": r"triangle count = (\d+)"}

    def variants(self, primitive: str, case: Case) -> list[Variant]:
        """Return how to run; undirected graphs alone."""
        return [] if case.graph.directed else super().variants(primitive, case)

    def arguments(self, primitive: str, case: Case, variant: Variant, trials: int) -> list[object]:
        """Return the command line: rounds, symmetric, binary."""
        own = ["-maxiters", ITERATIONS] if primitive == "pagerank" else []
        stem = write_ligra(case, primitive == "sssp")
        return ["-rounds", trials, *own, "-s", "-b", stem]


class Broadfront:
    """A version of Broadfront in a process of its own, by the folder that holds the package."""

    def __init__(
        self, name: str, packages: Path, devices: list[int], partitioners: list[str]
    ) -> None:
        if not (packages / "broadfront").is_dir():
            raise OptionError(f"{packages}: no package broadfront in there")
        self.name = name
        self.folder = packages
        self._split = [
            {"devices": count, "partitioner": how} for count in devices for how in partitioners
        ]
        path = os.pathsep.join(filter(None, (str(packages), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER)], env={**os.environ, "PYTHONPATH": path}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def variants(self, primitive: str, case: Case) -> list[Variant]:
        """Return how to run: as a user would, on one thread, and on several devices."""
        return [{}, {"threads": 1}, *(self._split if primitive in ON_DEVICES else [])]

    def run(
        self, primitive: str, case: Case, source: int | None, variant: Variant, trials: int
    ) -> Turn:
        """Ask the worker."""
        asked = {
            "path": str(case.file(".bfg")),
            "weighted": primitive == "sssp" and case.graph.weighted,
            "primitive": primitive, "source": source, "trials": trials, "variant": variant,
        }  # fmt: skip
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed("the worker has ended") from None
        line = self._process.stdout.readline()
        answer = json.loads(line) if line else {"failed": "the worker has ended"}
        if "failed" in answer:
            raise Failed(answer["failed"])
        return Turn(**answer)

    def stop(self) -> None:
        """End the worker."""
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


System = Native | Broadfront

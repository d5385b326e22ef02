"""A process that runs one version of Broadfront, asked by lines of JSON.

PYTHONPATH decides which version. A request is a line on standard input, its answer a line on
standard output. Only the public call is timed, what Python does in it included; reading and
splitting the graph and counting the answer are not. A turn begins with a call that is not timed:
native programs read the graph just before their trials, and have it in the cache.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import Any

import broadfront as bf
from broadfront.benchmark.asked import ASKED
from broadfront.benchmark.systems.system import Question
from broadfront.benchmark.worker import handed_over

COUNTS = {
    "bfs": lambda found: int((found.depth >= 0).sum()),
    "sssp": lambda found: int(found.reached.sum()),
    "components": lambda found: int(found.count),
    "triangles": lambda found: int(found.total),
}


class Worker:
    """Holds the graph that was named last, with and without weights, and its partitions."""

    def __init__(self) -> None:
        self._path = ""
        self._graphs: dict[bool, bf.Graph] = {}
        self._partitions: dict[tuple[bool, int, str], Any] = {}

    def run(
        self, path: str, weighted: bool, primitive: str, source: int | None, trials: int,
        variant: dict[str, Any],
    ) -> dict[str, Any]:  # fmt: skip
        """Return the seconds of each trial, iterations, and a count that tells answers apart."""
        graph = self._graph(path, weighted)
        options = self._options(graph, weighted, variant)
        start = 0 if source is None else source
        question = Question(start, (start,), 0.0)
        seconds = []
        gc.collect()
        gc.disable()  # a collection would empty the caches between two trials
        found = ASKED[primitive](graph, question, **options)
        for _ in range(trials):
            found = None
            began = time.perf_counter()
            found = ASKED[primitive](graph, question, **options)
            seconds.append(time.perf_counter() - began)
        gc.enable()
        count = COUNTS[primitive](found) if primitive in COUNTS else None
        return {"seconds": seconds, "iterations": found.report.iterations, "count": count}

    def _graph(self, path: str, weighted: bool) -> bf.Graph:
        if path != self._path:
            self._graphs.clear()
            self._partitions.clear()
            self._path = path
        if weighted not in self._graphs:
            self._graphs[weighted] = handed_over(path, weighted)
        return self._graphs[weighted]

    def _options(self, graph: bf.Graph, weighted: bool, variant: dict[str, Any]) -> dict[str, Any]:
        options = dict(variant)
        if "devices" in options:
            key = (weighted, options["devices"], options["partitioner"])
            if key not in self._partitions:
                self._partitions[key] = bf.split(graph, *key[1:])
            options["partitioner"] = self._partitions[key]
        return options


def main() -> None:
    """Answer until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = Worker()
    for line in sys.stdin:
        try:
            answer = worker.run(**json.loads(line))
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers)


if __name__ == "__main__":
    main()

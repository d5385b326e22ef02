"""Broadfront's Graph500 beside the search of GAPBS: the same edges and roots, in turn.

The list is written as text, GAPBS builds its graph of it (`bfs -f LIST -s`, whose build time is set
beside kernel 1) and its `converter` keeps it. Then root after root is searched by both, who begins
changes: `TRIALS` times each, of which the first is left out and the median counts. GAPBS prints its
own times; of Broadfront the call is timed. Every search of ours is validated, and that is timed.

    python benchmarks/graph500_speed.py --gapbs DIR --prepare FOLDER      # once, minutes
    python benchmarks/graph500_speed.py --gapbs DIR FOLDER                # the measurement

See `docs/graph500.md`.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

from broadfront.clock import Clock
from broadfront.graph500 import check_levels, draw_edges, draw_roots, implementation, index_edges
from broadfront.graph500.edges import EdgeList
from broadfront.report.machine import machine

LIST, KEPT = "list.el", "list.sg"
ROWS_AT_ONCE = 1 << 20
TRIALS = 6


def prepare(folder: Path, gapbs: Path, edges: EdgeList) -> None:
    """Write the list as text, and have GAPBS keep its graph of it."""
    with (folder / LIST).open("w") as stream:
        for begin in range(0, len(edges), ROWS_AT_ONCE):
            rows = slice(begin, begin + ROWS_AT_ONCE)
            pairs = zip(edges.source[rows].tolist(), edges.target[rows].tolist(), strict=True)
            stream.writelines(f"{source} {target}\n" for source, target in pairs)
    command = list(map(str, (gapbs / "converter", "-f", folder / LIST, "-s", "-b", folder / KEPT)))
    subprocess.run(command, check=True, capture_output=True)


def asked(gapbs: Path, *arguments: object) -> str:
    """Return what GAPBS' search prints."""
    command = [str(gapbs / "bfs"), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def told_seconds(name: str, text: str) -> list[float]:
    """Return the numbers that follow a name."""
    return [float(found) for found in re.findall(name + r":\s*([\d.]+)", text)]


def median_time(call: Callable[[], object]) -> float:
    """Return the median of what calls take, after a first one."""
    seconds = []
    for _ in range(TRIALS):
        clock = Clock()
        answer = call()
        seconds.append(clock.seconds)
        del answer
    return statistics.median(seconds[1:])


class Builds:
    """Kernel 1 of both, in turn."""

    def __init__(self, folder: Path, gapbs: Path, edges: EdgeList, turns: int) -> None:
        ours = implementation("broadfront")
        self.ours: list[float] = []
        self.gapbs: list[float] = []
        for _ in range(turns):
            gc.collect()
            clock = Clock()
            built = ours.build(edges)
            self.ours.append(clock.seconds)
            del built
            told = asked(gapbs, "-f", folder / LIST, "-s", "-n", 1, "-r", edges.source[0])
            self.gapbs += told_seconds("Build Time", told)


class Searches:
    """Both from every root, in turn; a list of a turn's seconds for each."""

    def __init__(self, folder: Path, gapbs: Path, edges: EdgeList, turns: int) -> None:
        self._kept, self._gapbs = folder / KEPT, gapbs
        self._mine = implementation("broadfront")
        roots = draw_roots(edges).tolist()
        self._structure = self._mine.build(edges)
        self._index = index_edges(edges)  # which uses up the list
        self.ours: list[list[float]] = []
        self.gapbs: list[list[float]] = []
        self.validation: list[list[float]] = []
        self.edges = [self._validated(root)[1] for root in roots]
        for turn in range(turns):
            ours: list[float] = []
            theirs: list[float] = []
            for number, root in enumerate(roots):
                both = [(ours, self._by_us), (theirs, self._by_gapbs)]
                for seconds, search in both[:: (-1) ** (turn + number)]:
                    seconds.append(search(root))
            self.ours.append(ours)
            self.gapbs.append(theirs)
            self.validation.append([self._validated(root)[0] for root in roots])

    def _by_us(self, root: int) -> float:
        return median_time(lambda: self._mine.search(self._structure, root))

    def _by_gapbs(self, root: int) -> float:
        told = asked(self._gapbs, "-f", self._kept, "-n", TRIALS, "-r", root)
        return statistics.median(told_seconds("Trial Time", told)[1:])

    def _validated(self, root: int) -> tuple[float, int]:
        """Search and validate once; return how long validating took, and the tuples reached."""
        tree = self._mine.search(self._structure, root)
        clock = Clock()
        reached = check_levels(self._index, root, *tree)
        return clock.seconds, reached

    def means(self, seconds: list[list[float]]) -> list[float]:
        """Return the harmonic mean of each turn, in TEPS."""
        return [len(turn) / float(np.sum(np.divide(turn, self.edges))) for turn in seconds]


def report(builds: Builds, searches: Searches) -> dict[str, object]:
    """Return medians over the turns, and what there was of each."""
    ours, gapbs = searches.means(searches.ours), searches.means(searches.gapbs)
    checks = np.divide(searches.validation, searches.ours)
    return {
        "machine": machine(),
        "harmonic mean, MTEPS": [statistics.median(turns) / 1e6 for turns in (ours, gapbs)],
        "ratio of each turn": np.divide(ours, gapbs).tolist(),
        "kernel 1, s": [statistics.median(turns) for turns in (builds.ours, builds.gapbs)],
        "kernel 1, all": [builds.ours, builds.gapbs],
        "validation over search, median of each turn": np.median(checks, axis=1).tolist(),
        "validation over search, worst root of each turn": checks.max(axis=1).tolist(),
        "worst root by its median over turns": float(np.median(checks, axis=0).max()),
    }


def main() -> None:
    """Prepare, or measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="for the list and the graph of GAPBS")
    parser.add_argument("--gapbs", type=Path, required=True, help="with `bfs` and `converter`")
    parser.add_argument("--prepare", action="store_true", help="write the list and keep its graph")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    edges = draw_edges(given.scale)
    if given.prepare:
        prepare(given.folder, given.gapbs, edges)
        return
    builds = Builds(given.folder, given.gapbs, edges, 2 * given.turns)
    searches = Searches(given.folder, given.gapbs, edges, given.turns)
    print(json.dumps(report(builds, searches), indent=1))


if __name__ == "__main__":
    main()

"""Broadfront beside native programs, and beside an older Broadfront, in one run.

All get the same graphs and start at the same sources. A cell is a primitive on a graph. Every
system has a first turn, which compiles and warms up; counts of answers must agree. Then all take
turns in rounds, each round in another order, so that other load on the machine meets all of them. A
variant of a native program that takes three times as long as the best one in its first turn is left
out of the rounds. For Broadfront the public call is timed; native programs print their own times.

    python benchmarks/native.py --gapbs DIR --ligra DIR [--old CHECKOUT] [--json FILE] ...

See `docs/benchmark.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

import broadfront as bf
from broadfront.benchmark.systems.system import PRIMITIVES
from broadfront.errors import BroadfrontError
from broadfront.report.machine import load_average, machine
from native_graphs import Case, load
from native_results import OLD, OURS, Results, Series
from native_systems import DIRECTED, FROM_SOURCE, Broadfront, Failed, Gapbs, Ligra, Native, System

TRIALS = 3
FIRST_TRIALS = 2
HOPELESS = 3.0
LONG_SECONDS = 1.0
SPINNERS = 2
REAL = Path(__file__).parents[2] / "shared" / "data"
GRAPHS = (
    "path:200000", "path:200000:weights=1-255", "grid:30x50000:weights=1-255",
    "grid:1000x1000:weights=1-255", "rgg:18:weights=1-255", "kron:18:weights=1-255",
    "kron:20:weights=1-255", "uniform:20:weights=1-255",
)  # fmt: skip
DIRECTED_GRAPHS = ("rmat:19:2:directed=yes:weights=1-255",)
DIRECTED_FILES = ("git-commits-git.el.zst",)
FILES = ("USA-road-d.NY.gr.gz", "osm-kanto-jp.gr.xz")


class Spinners:
    """Processes that keep cores busy, asleep outside of a `busy` block."""

    def __enter__(self) -> Spinners:
        command = [sys.executable, "-c", "while True: pass"]
        self._processes = [subprocess.Popen(command) for _ in range(SPINNERS)]
        self._signal(signal.SIGSTOP)
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Let them run during the block."""
        self._signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._signal(signal.SIGSTOP)

    def _signal(self, number: int) -> None:
        for process in self._processes:
            process.send_signal(number)


class Cell:
    """One primitive on one graph."""

    def __init__(self, case: Case, primitive: str) -> None:
        self._case = case
        self._primitive = primitive
        self._sources = case.sources if primitive in FROM_SOURCE else (None,)
        self._running: list[tuple[System, Series]] = []
        self.series: list[Series] = []

    def first(self, systems: list[System]) -> None:
        """Give everyone the first turn, and see who goes on."""
        counts = {}
        for system in systems:
            for variant in system.variants(self._primitive, self._case):
                series = Series(self._case.name, self._primitive, system.name, variant)
                self.series.append(series)
                turn = self._turn(system, series, self._sources[0], FIRST_TRIALS)
                if turn is None:
                    continue
                series.trials = turn.seconds
                series.first_seconds = min(turn.seconds)
                series.iterations = turn.iterations
                if turn.count is not None:
                    counts[series.title] = turn.count
                self._running.append((system, series))
        if len(set(counts.values())) > 1:
            raise BroadfrontError(f"{self._case.name} {self._primitive}: answers differ: {counts}")
        self._leave_out()

    def rounds(self, repeats: int, spinners: Spinners | None) -> None:
        """Let everyone take turns."""
        for _, series in self._running:
            series.trials = []
        for turn in range(repeats):
            for source in self._sources:
                shift = turn % max(1, len(self._running))
                for system, series in self._running[shift:] + self._running[:shift]:
                    series.trials += self._seconds(system, series, source)
                if spinners:
                    self._beside(spinners, source)

    def _beside(self, spinners: Spinners, source: int | None) -> None:
        with spinners.busy():
            for system, series in self._running:
                if series.system == OURS:
                    series.busy += self._seconds(system, series, source)

    def _leave_out(self) -> None:
        """Drop native variants that cannot become the best; the time of their first turn stays."""
        natives = [row for system, row in self._running if isinstance(system, Native)]
        best = min((row.first_seconds for row in natives), default=float("inf"))
        for series in natives:
            series.first_turn_only = series.first_seconds > HOPELESS * best
        self._running = [entry for entry in self._running if not entry[1].first_turn_only]

    def _seconds(self, system: System, series: Series, source: int | None) -> list[float]:
        trials = 1 if series.first_seconds > LONG_SECONDS else TRIALS
        turn = self._turn(system, series, source, trials)
        return turn.seconds if turn else []

    def _turn(self, system: System, series: Series, source: int | None, trials: int) -> Any:
        try:
            return system.run(self._primitive, self._case, source, series.variant, trials)
        except Failed as failure:
            series.note = str(failure)
            return None


def measure(given: argparse.Namespace, systems: list[System], lines: TextIO | None) -> Results:
    """Run every cell; what is measured is kept when Ctrl-C ends it."""
    results = Results()
    seen: set[str] = set()
    with ExitStack() as stack:
        spinners = stack.enter_context(Spinners()) if given.busy else None
        folder = given.work or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        try:
            for name, directed in graphs_of(given):
                case = load(name, folder, directed)
                only_weights_differ = case.structure in seen
                seen.add(case.structure)
                for primitive in given.primitives:
                    if directed and primitive not in DIRECTED:
                        continue
                    if only_weights_differ and primitive != "sssp":
                        continue
                    cell = Cell(case, primitive)
                    cell.first(systems)
                    cell.rounds(given.repeats, spinners)
                    results.series += cell.series
                    tell(results, cell, lines)
        except KeyboardInterrupt:
            print("stopped by Ctrl-C; what follows was measured before", file=sys.stderr)
    return results


def graphs_of(given: argparse.Namespace) -> list[tuple[str, bool]]:
    """Return the graphs that were named, or else all, and which to take with their directions."""
    graphs, directed = given.graphs or [], given.directed or []
    if not graphs and not directed:
        graphs, directed = [*GRAPHS, *_there(FILES)], [*DIRECTED_GRAPHS, *_there(DIRECTED_FILES)]
    return [*((name, False) for name in graphs), *((name, True) for name in directed)]


def _there(names: Sequence[str]) -> list[str]:
    return [str(REAL / name) for name in names if (REAL / name).exists()]


def tell(results: Results, cell: Cell, lines: TextIO | None) -> None:
    """Write the series of a cell, and say that it is done."""
    for series in cell.series:
        if lines:
            print(json.dumps(series.to_plain()), file=lines, flush=True)
    ratio = results.ratio(cell.series[0].cell)
    shown = "" if ratio is None else f": ratio {ratio:.2f}"
    print(f"{' '.join(cell.series[0].cell)}{shown}", file=sys.stderr)


def describe(systems: list[System], given: argparse.Namespace) -> dict[str, Any]:
    """Return what times depend on: machine, load, versions."""
    asked = ("graphs", "directed", "primitives", "repeats", "devices", "partitioners", "busy")
    settings = {name: value for name, value in vars(given).items() if name in asked}
    return {
        "machine": machine(),
        "load_average": load_average(),
        "environment": {name: os.environ[name] for name in os.environ
                        if name.startswith(("OMP_", "GOMP_", "BROADFRONT_"))},
        "settings": settings,
        "commits": {system.name: commit(system.folder) for system in systems},
    }  # fmt: skip


def commit(folder: Path) -> str:
    """Return the commit that a folder is at, and whether it has been changed since."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def start(given: argparse.Namespace) -> list[System]:
    """Return the systems that were named; Broadfront is always one."""
    split = (given.devices, given.partitioners)
    systems: list[System] = []
    if given.gapbs:
        systems.append(Gapbs(given.gapbs, given.limit_seconds))
    if given.ligra:
        folder = given.ligra / "apps" if (given.ligra / "apps").is_dir() else given.ligra
        systems.append(Ligra(folder, given.limit_seconds))
    systems.append(Broadfront(OURS, Path(bf.__file__).parents[1], *split))
    if given.old:
        systems.append(Broadfront(OLD, given.old / "src", *split))
    return systems


# fmt: off
def options() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("--gapbs", type=Path, metavar="DIR", help="folder of the programs of GAPBS")
    add("--ligra", type=Path, metavar="DIR", help="folder of Ligra, or of its programs")
    add("--old", type=Path, metavar="CHECKOUT", help="another checkout of Broadfront")
    add("--graphs", nargs="+", metavar="GRAPH", help="specifications or files, taken undirected")
    add("--directed", nargs="+", metavar="GRAPH", help="the same, taken with their directions")
    add("--primitives", nargs="+", default=list(PRIMITIVES), choices=PRIMITIVES)
    add("--repeats", type=int, default=5, metavar="N",
        help=f"rounds; {TRIALS} calls from each source in each, of long ones 1")
    add("--devices", type=int, nargs="+", default=[], metavar="N",
        help="bfs and sssp also on so many devices")
    add("--partitioners", nargs="+", default=["range", "metis"], metavar="NAME")
    add("--busy", action="store_true", help=f"also beside {SPINNERS} processes that spin")
    add("--limit-seconds", type=float, default=60.0, metavar="S",
        help="for a turn of a native program")
    add("--work", type=Path, metavar="DIR", help="keep the graphs here for another time")
    add("--json", type=Path, metavar="FILE", help="write a line per series")
    return parser
# fmt: on


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print the tables."""
    given = options().parse_args(arguments)
    with ExitStack() as stack:
        try:
            systems = start(given)
            for system in systems:
                stack.callback(system.stop)
            facts = describe(systems, given)
            lines = stack.enter_context(given.json.open("w")) if given.json else None
            if lines:
                print(json.dumps(facts), file=lines, flush=True)
            results = measure(given, systems, lines)
        except BroadfrontError as error:
            sys.exit(f"error: {error}")
    where = facts["machine"]
    print(f"{where['processor']}, {where['cores']} cores, load {facts['load_average']:.2f}; "
          + ", ".join(f"{name} {at}" for name, at in facts["commits"].items()))  # fmt: skip
    print("\n".join(["", *results.tables()]))


if __name__ == "__main__":
    main()

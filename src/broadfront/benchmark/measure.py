"""The benchmark: every primitive on every graph by every system, in turn.

Protocol: a system is given the graph, answers once unmeasured (which compiles and warms), and is
verified; then all systems of the cell take turns, repeat by repeat, each repeat with the next
source, and every answer is verified. Only the call itself is timed; only one process works at a
time.

The limit: a peer that takes longer in a cell is stopped, repeats that would take it beyond are
left out, and on a larger graph of the same family it is not asked when its time on the smaller
one, grown with the arcs, says that a single run would not fit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broadfront.benchmark.cases import Case, load
from broadfront.benchmark.checks import Checker
from broadfront.benchmark.process import Failed, Remote
from broadfront.benchmark.results import HOME, Report, Result
from broadfront.benchmark.systems import chosen
from broadfront.benchmark.systems.system import PRIMITIVES
from broadfront.errors import OptionError, VerificationError

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """What to run.

    Attributes
    ----------
    systems
        By name; None for all that are installed.
    limit_seconds
        How long a peer may take in a cell, and to convert a graph.
    """

    primitives: tuple[str, ...]
    graphs: tuple[str, ...]
    systems: tuple[str, ...] | None
    repeats: int
    threads: int
    limit_seconds: float
    verify: bool = True
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be run, naming the option."""
        for name in self.primitives:
            if name not in PRIMITIVES:
                known = " ".join(PRIMITIVES)
                raise OptionError(f"--primitives {name}: unknown; known: {known}")
        for option, value in (("repeats", self.repeats), ("threads", self.threads)):
            if value < 1:
                raise OptionError(f"--{option} {value} is not a positive number")
        if not self.limit_seconds > 0:
            raise OptionError(f"--limit-seconds {self.limit_seconds:g} is not a positive number")


class Estimates:
    """How long systems took on the graphs of a family, and may take on larger ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], list[tuple[int, float, str]]] = {}

    def learn(self, system: str, work: str, case: Case, seconds: float) -> None:
        """Remember a time; of a run that was stopped, the limit."""
        known = self._known.setdefault((system, work, case.family), [])
        known.append((case.graph.num_arcs, seconds, case.name))

    def guess(self, system: str, work: str, case: Case) -> tuple[float, str]:
        """Return the seconds that the largest graph not larger than this one lets expect."""
        arcs = case.graph.num_arcs
        known = [row for row in self._known.get((system, work, case.family), []) if row[0] <= arcs]
        if not known:
            return 0.0, ""
        size, seconds, name = max(known)
        return seconds * arcs / size, name


class Bench:
    """Runs the benchmark into `report`, which is whole at any time."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        settings.check()
        there, absent = chosen(None if settings.systems is None else list(settings.systems))
        self.report = Report(
            settings=dict(vars(settings)),
            titles={entry.name: entry.title for entry in there},
            versions={entry.name: entry.version for entry in there},
            absent=[entry.title for entry in absent],
        )
        self._settings = settings
        self._tell = tell
        self._remotes = [Remote(entry, settings.threads) for entry in there]
        self._estimates = Estimates()

    def run(self) -> None:
        """Run everything; the processes are gone when it returns or raises."""
        settings = self._settings
        try:
            with tempfile.TemporaryDirectory(prefix="broadfront-bench-") as folder:
                for number, name in enumerate(settings.graphs):
                    self._tell(f"{name}: loading")
                    case = load(name, settings.repeats, settings.seed)
                    self._note(case)
                    path = str(Path(folder) / f"{number}.bfg")
                    case.weighted.save(path)
                    checker = Checker(case)
                    for primitive in settings.primitives:
                        Cell(self, case, checker, path, primitive).run()
                    Path(path).unlink()
        except KeyboardInterrupt:
            self.report.stopped = True
            raise
        finally:
            for remote in self._remotes:
                remote.stop()

    def _note(self, case: Case) -> None:
        self.report.graphs.append(
            {
                "name": case.name,
                "vertices": case.graph.num_vertices,
                "edges": case.graph.num_edges,
                "load_seconds": case.seconds,
                "compile_seconds": case.compile_seconds,
                "sources": [question.source for question in case.questions],
                "betweenness_sources": list(case.questions[0].sources),
                "pagerank_change": case.questions[0].change,
            }
        )


class Cell:
    """One primitive on one graph."""

    def __init__(
        self, bench: Bench, case: Case, checker: Checker, path: str, primitive: str
    ) -> None:
        self._bench = bench
        self._case = case
        self._checker = checker
        self._path = path
        self._primitive = primitive
        self._settings = bench._settings
        self._estimates = bench._estimates

    def run(self) -> None:
        """Warm up every system, then let them take turns."""
        running = []
        for remote in self._bench._remotes:
            result = Result(self._case.name, self._primitive, remote.entry.name)
            self._bench.report.results.append(result)
            try:
                self._first(remote, result)
            except Failed as failure:
                self._give_up(result, failure)
            self._say(remote, result)
            if result.status == "done":
                running.append((remote, result))
        for question in self._case.questions:
            for remote, result in running:
                if self._fits(result):
                    try:
                        facts = self._ask(remote, result, question)
                        result.trials.append(facts["seconds"])
                    except Failed as failure:
                        self._give_up(result, failure)
        for _, result in running:
            missing = self._settings.repeats - len(result.trials)
            if result.status == "done" and missing:
                found = f"{missing} of {self._settings.repeats} repeats left out by the limit"
                result.note = "; ".join(filter(None, (result.note, found)))
                if not result.trials and result.first_seconds is not None:
                    result.trials.append(result.first_seconds)

    def _first(self, remote: Remote, result: Result) -> None:
        """Convert the graph and answer once, unless there is a reason not to."""
        if self._too_much(remote, result, "converting"):
            return
        remote.start()
        self._bench.report.threads[result.system] = remote.facts["threads"]
        if self._primitive not in remote.facts["offers"]:
            result.status = "lacks"
            result.note = remote.facts["lacks"].get(self._primitive, "has no such function")
            return
        result.note = remote.facts["notes"].get(self._primitive, "")
        if self._too_much(remote, result, self._primitive):
            return
        question = self._case.questions[0]
        work = "converting"
        try:
            made = remote.convert(self._path, self._primitive, question, self._limit(remote))
            if made["seconds"] is not None:
                self._estimates.learn(result.system, work, self._case, made["seconds"])
                row = {"graph": self._case.name, "system": result.system, **made}
                self._bench.report.conversions.append(row)
            work = self._primitive
            facts = self._ask(remote, result, question)
        except Failed as failure:
            if failure.stopped:
                limit = self._settings.limit_seconds
                self._estimates.learn(result.system, work, self._case, 2 * limit)
            raise
        result.first_seconds = facts["seconds"]
        result.compile_seconds = facts["compile_seconds"]
        self._estimates.learn(result.system, work, self._case, facts["seconds"])

    def _ask(self, remote: Remote, result: Result, question: Any) -> dict[str, Any]:
        facts, answer = remote.run(self._primitive, question, self._limit(remote))
        result.memory_before = max(result.memory_before, facts["memory_before"])
        result.memory_peak = max(result.memory_peak, facts["memory_peak"])
        if self._settings.verify:
            try:
                self._checker.check(self._primitive, question, answer)
            except VerificationError as error:
                result.status, result.note, result.verified = "wrong", str(error), False
            else:
                result.verified = result.status == "done"
        return facts

    def _too_much(self, remote: Remote, result: Result, work: str) -> bool:
        """Tell whether a peer is not asked at all, and note why."""
        most = remote.entry.most_arcs
        if most is not None and self._case.graph.num_arcs > most:
            result.status, result.note = "skipped", f"only up to {most:,} arcs"
            return True
        seconds, smaller = self._estimates.guess(result.system, work, self._case)
        if result.system == HOME or seconds <= self._settings.limit_seconds:
            return False
        result.status = "skipped"
        result.note = f"{work} would take over {self._settings.limit_seconds:g} s, by {smaller}"
        return True

    def _fits(self, result: Result) -> bool:
        """Tell whether one more repeat fits the limit."""
        assert result.first_seconds is not None
        times = [result.first_seconds, *result.trials]
        return result.status == "done" and sum(times) + max(times) <= self._settings.limit_seconds

    def _limit(self, remote: Remote) -> float | None:
        return None if remote.entry.name == HOME else self._settings.limit_seconds

    def _give_up(self, result: Result, failure: Failed) -> None:
        result.status, result.note = "stopped" if failure.stopped else "failed", str(failure)
        result.verified = False

    def _say(self, remote: Remote, result: Result) -> None:
        told = result.note if result.status != "done" else f"{result.first_seconds:.4f} s at first"
        line = f"{self._case.name} {self._primitive} {remote.entry.title}: {result.status}"
        self._bench._tell(f"{line}, {told}" if told else line)

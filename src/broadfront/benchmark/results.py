"""What was measured, as it grows: a stopped benchmark still has what it found so far."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from broadfront.report.machine import machine

HOME = "broadfront"


@dataclass
class Result:
    """A system in a cell of the table: one primitive on one graph.

    Attributes
    ----------
    status
        ``done``; ``lacks`` the primitive; ``skipped`` by its size or an estimate; ``stopped`` at
        the limit; ``wrong`` answer; ``failed``.
    note
        Why, or what the reader must know of a time.
    first_seconds, compile_seconds
        The warm-up, and the compiling in it.
    trials
        Seconds of each repeat.
    """

    graph: str
    primitive: str
    system: str
    status: str = "done"
    note: str = ""
    first_seconds: float | None = None
    compile_seconds: float = 0.0
    trials: list[float] = field(default_factory=list)
    memory_before: int = 0
    memory_peak: int = 0
    verified: bool = False

    @property
    def median(self) -> float | None:
        """The median of the trials, None unless done."""
        return statistics.median(self.trials) if self.status == "done" and self.trials else None


@dataclass(frozen=True)
class Ratio:
    """How many times as long as Broadfront the best peer took."""

    graph: str
    primitive: str
    peer: str
    ratio: float


@dataclass
class Report:
    """Everything measured.

    Attributes
    ----------
    settings
        As asked for.
    titles, versions, threads
        Of the systems that ran, by name.
    absent
        Titles of the systems that are not installed.
    graphs
        Facts of each graph: size, seconds to load.
    conversions
        Seconds of each graph, system and form.
    results
        A `Result` for each cell and system.
    stopped
        Whether Ctrl-C ended it.
    """

    settings: dict[str, Any]
    titles: dict[str, str]
    versions: dict[str, str | None]
    absent: list[str]
    threads: dict[str, int] = field(default_factory=dict)
    graphs: list[dict[str, Any]] = field(default_factory=list)
    conversions: list[dict[str, Any]] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    stopped: bool = False

    def ratios(self) -> list[Ratio]:
        """Return the ratio to the best peer of each cell in which both have a time."""
        cells: dict[tuple[str, str], dict[str, float]] = {}
        for result in self.results:
            if result.median is not None:
                cell = cells.setdefault((result.graph, result.primitive), {})
                cell[result.system] = max(result.median, 1e-9)
        found = []
        for (graph, primitive), times in cells.items():
            ours = times.pop(HOME, None)
            if ours is not None and times:
                peer = min(times, key=times.__getitem__)
                found.append(Ratio(graph, primitive, peer, times[peer] / ours))
        return found

    def geometric_mean(self) -> float | None:
        """Return the geometric mean of the ratios, None without any."""
        ratios = [ratio.ratio for ratio in self.ratios()]
        return statistics.geometric_mean(ratios) if ratios else None

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "machine": machine(),
            "settings": self.settings,
            "versions": self.versions,
            "threads": self.threads,
            "absent": self.absent,
            "graphs": self.graphs,
            "conversions": self.conversions,
            "results": [{**asdict(result), "median": result.median} for result in self.results],
            "ratios": [asdict(ratio) for ratio in self.ratios()],
            "geometric_mean": self.geometric_mean(),
            "stopped": self.stopped,
        }

"""What a characterisation found: a row for each run, as values to keep, show and draw."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from broadfront.graph import files
from broadfront.report.machine import machine

COUNTED, DERIVED = "counted", "derived"
STUDIES = ("models", "searches", "tree", "degree", "skew")


@dataclass(frozen=True)
class Facts:
    """What a graph is like."""

    graph: str
    vertices: int
    edges: int
    mean_degree: float
    max_degree: int
    depth: int
    """Levels of the search from the busiest vertex."""


@dataclass(frozen=True)
class Step:
    """An iteration: vertices it went from, edges, time, and whether it pulled."""

    frontier: int
    edges: int
    microseconds: float
    pulled: bool


@dataclass(frozen=True)
class Row:
    """A primitive on a graph in one way.

    Attributes
    ----------
    study
        `STUDIES`: the models on graphs, the searches on them, models on a tree, by degree, by skew.
    graph, family, parameter
        Which graph; of the last two studies the kind, and the degree or the ratio of a to b.
    primitive, way
        What was run, and in which model or by which search.
    trials, edges_reached
        Seconds of each repeat; the edges that edges per second count.
    iterations, barriers, kernel_calls, atomics, edges_visited
        By the record, of the last repeat. `kernel_calls` are calls from Python.
    traffic
        Bytes read and written by kind of array; `traffic_by` says whether loops counted them, on
        one thread, or they were derived (`broadfront.characterize.searches`).
    memory_bytes
        Graph, fields and what operators work in.
    phases
        Seconds by phase.
    steps
        Iterations, of breadth-first search and shortest paths.
    """

    study: str
    graph: str
    primitive: str
    way: str
    family: str = ""
    parameter: int = 0
    trials: tuple[float, ...] = ()
    edges_reached: int = 0
    iterations: int = 0
    barriers: int = 0
    kernel_calls: int = 0
    atomics: int = 0
    edges_visited: int = 0
    traffic: dict[str, tuple[int, int]] = field(default_factory=dict)
    traffic_by: str = ""
    memory_bytes: int = 0
    phases: dict[str, float] = field(default_factory=dict)
    lines: int = 0
    steps: tuple[Step, ...] = ()

    @property
    def seconds(self) -> float:
        """The median of the trials."""
        return statistics.median(self.trials)

    @property
    def teps(self) -> float:
        """Traversed edges per second."""
        return self.edges_reached / max(self.seconds, 1e-9)

    @property
    def bytes_read(self) -> int:
        """Bytes read, of all kinds."""
        return sum(read for read, _ in self.traffic.values())

    @property
    def bytes_written(self) -> int:
        """Bytes written, of all kinds."""
        return sum(written for _, written in self.traffic.values())


@dataclass
class Findings:
    """Everything that was measured, in the order of measuring.

    Attributes
    ----------
    settings
        As asked for.
    graphs
        What the graphs of the first two studies are like.
    rows
        A `Row` for each run.
    notes
        What the reader must know of how it was measured.
    stopped
        Whether Ctrl-C ended it.
    machine
        What it ran on.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    graphs: list[Facts] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped: bool = False
    machine: dict[str, Any] = field(default_factory=machine)

    def of(self, study: str, primitive: str | None = None) -> list[Row]:
        """Return the rows of a study, of one primitive or of all."""
        return [row for row in self.rows
                if row.study == study and primitive in (None, row.primitive)]  # fmt: skip

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        told = asdict(self)
        for plain, row in zip(told["rows"], self.rows, strict=True):
            plain |= {"seconds": row.seconds, "teps": row.teps, "bytes_read": row.bytes_read,
                      "bytes_written": row.bytes_written}  # fmt: skip
        return told

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything as JSON."""
        with files.written(path) as stream:
            stream.write(json.dumps(self.to_plain(), indent=1).encode())

    def table(self) -> str:
        """Return the tables as text."""
        from broadfront.characterize.tables import as_text

        return "\n".join(as_text(self))

    def plot(self, folder: str | PathLike[str]) -> list[Path]:
        """Draw what there is to draw into a folder, a picture each, and return their paths."""
        from broadfront.characterize.plots import draw

        return draw(self, folder)

    def page(self, path: str | PathLike[str]) -> Path:
        """Write tables and pictures as one page of HTML, which needs nothing else."""
        from broadfront.characterize.page import page

        with files.written(path) as stream:
            stream.write(page(self).encode())
        return Path(path)

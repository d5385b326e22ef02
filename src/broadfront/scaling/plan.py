"""What to run: from what is asked for to cells, each a primitive in a study, and their set-ups.

A cell is measured as one, its runs in turn, so that what is compared has seen the same machine.
The first run of a cell is what the others are compared with.

Invariant: cells of the same graphs stand together, so that a graph is loaded once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from broadfront.benchmark.systems.system import PRIMITIVES as ALL_PRIMITIVES
from broadfront.errors import OptionError
from broadfront.partition.split import PARTITIONERS
from broadfront.report.record import Record
from broadfront.scaling.families import Choice, chosen, wanted, weak_by_edges, weak_by_vertices

STUDIES = ("strong", "weak-edges", "weak-vertices", "partitioners", "ids", "memory")
PRIMITIVES = tuple(name for name in ALL_PRIMITIVES if name != "triangles")
IDS = {"relabelled": True, "kept": False}
SCHEMES: dict[str, Any] = {
    "minimal": "minimal", "profile": Record.memory_profile, "fixed": "fixed",
}  # fmt: skip
"""What `memory=` of a run is in each scheme; a function makes it of the record of the first run."""
DEVICES, QUICK_DEVICES = (1, 2, 4, 8), (1, 2, 4)
COMPARED_ON = 4


class Setup(NamedTuple):
    """Where a primitive runs."""

    devices: int
    threads: int
    partitioner: str = "random"
    ids: str = "relabelled"
    scheme: str = "default"


class Cell(NamedTuple):
    """A primitive in a study: runs to be compared with the first of them."""

    study: str
    primitive: str
    runs: tuple[tuple[Choice, Setup], ...]

    @property
    def graphs(self) -> list[Choice]:
        """The graphs of its runs, each once."""
        return list(dict.fromkeys(choice for choice, _ in self.runs))


@dataclass(frozen=True)
class Settings:
    """What is asked for.

    Attributes
    ----------
    families, graphs, data
        Families by name, None for all; graphs as ``family=graph``; a folder of files.
    devices, threads
        How many devices, of how many threads each; one device is always among them.
    compared_on
        On how many devices partitioners, ids and memory schemes are compared; None for 4, or the
        most there are.
    schemes
        What `memory=` is, by the name of the scheme; None for all three.
    repeats, limit_seconds
        How often each run of a cell is timed; once those of a cell have taken so long, no more.
    """

    studies: Sequence[str] = STUDIES
    primitives: Sequence[str] = PRIMITIVES
    families: Sequence[str] | None = None
    graphs: Sequence[str] = ()
    data: str | None = None
    devices: Sequence[int] | None = None
    threads: int = 1
    compared_on: int | None = None
    partitioners: Sequence[str] = tuple(PARTITIONERS)
    schemes: Mapping[str, Any] | None = None
    repeats: int = 5
    limit_seconds: float = 20.0
    seed: int = 0
    quick: bool = False

    def check(self) -> None:
        """Refuse what cannot be run, naming the option."""
        for option, known in KNOWN.items():
            names = getattr(self, option)
            if isinstance(names, str) or not names:
                raise OptionError(f"--{option} {names!r}: expected one or more names")
            for name in names:
                if name not in known:
                    raise OptionError(f"--{option} {name}: unknown; known: {' '.join(known)}")
        numbers = [*self.counts, self.on, self.threads, self.repeats]
        options = ["devices"] * len(self.counts) + ["compared-on", "threads", "repeats"]
        for option, value in zip(options, numbers, strict=True):
            if value < 1:
                raise OptionError(f"--{option} {value} is not a positive number")
        if not self.limit_seconds > 0:
            raise OptionError(f"--limit-seconds {self.limit_seconds:g} is not a positive number")

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of devices, in order, one included."""
        asked = self.devices or (QUICK_DEVICES if self.quick else DEVICES)
        return tuple(sorted({1, *asked}))

    @property
    def on(self) -> int:
        """The number of devices on which ways of running are compared."""
        return min(COMPARED_ON, max(self.counts)) if self.compared_on is None else self.compared_on

    @property
    def memory(self) -> dict[str, Any]:
        """What `memory=` is in each scheme that is compared."""
        return dict(SCHEMES if self.schemes is None else self.schemes)


KNOWN = {"studies": STUDIES, "primitives": PRIMITIVES, "partitioners": tuple(PARTITIONERS)}


@dataclass
class Plan:
    """The cells in their order, and what the reader must know of what is not among them."""

    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def plan(settings: Settings) -> Plan:
    """Return what to run."""
    settings.check()
    made = Plan()
    setups = {name: _setups(name, settings) for name in settings.studies}
    graphs = chosen(settings.families, settings.graphs, settings.data, settings.quick)
    for choice in graphs:
        for study, compared in setups.items():
            if compared:
                _add(made, study, settings, [(choice, setup) for setup in compared])
    for study in setups:
        if study.startswith("weak"):
            _add(made, study, settings, _weak(study, settings, made.notes))
    for study, compared in setups.items():
        if not compared and not study.startswith("weak"):
            made.notes.append(f"{study}: nothing to compare on one device")
    there = {choice.family for choice in graphs}
    absent = [name for name in wanted(settings.families, settings.graphs) if name not in there]
    if absent:
        made.notes.append(f"without graphs: {' '.join(absent)}; give them by --data or --graphs")
    return made


def _add(made: Plan, study: str, settings: Settings, runs: Sequence[tuple[Choice, Setup]]) -> None:
    for primitive in dict.fromkeys(settings.primitives):
        made.cells.append(Cell(study, primitive, tuple(runs)))


def _setups(study: str, settings: Settings) -> list[Setup]:
    """Return what a study compares on one graph; nothing for those that have a graph for each."""
    on = Setup(settings.on, settings.threads)
    if study == "strong":
        return [Setup(count, settings.threads) for count in settings.counts]
    if settings.on == 1:
        return []
    if study == "partitioners":
        names = dict.fromkeys(["random", *settings.partitioners])
        return [on._replace(partitioner=name) for name in names]
    if study == "ids":
        return [on._replace(ids=name) for name in IDS]
    if study == "memory":
        return [on._replace(scheme=name) for name in settings.memory]
    return []


def _weak(study: str, settings: Settings, notes: list[str]) -> list[tuple[Choice, Setup]]:
    graph_for = weak_by_edges if study == "weak-edges" else weak_by_vertices
    runs = []
    for count in settings.counts:
        if study == "weak-vertices" and count & (count - 1):
            notes.append(f"{study}: {count} devices left out, R-MAT has a power of two vertices")
            continue
        runs.append((graph_for(count, settings.quick), Setup(count, settings.threads)))
    return runs

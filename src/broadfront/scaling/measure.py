"""Measuring: every run of a cell once unmeasured and checked, then all in turn, repeat by repeat.

The first call compiles, builds parts, and is checked against the answer of one device; its record
says how much work and memory a run takes. Only the call is timed, compiling apart, each repeat from
the next source and in an order drawn anew: on small graphs it matters who ran before. A cell that
has taken as long as the limit is not repeated again.

Invariant: `Study.findings` is whole at any time; a study that is stopped has the rows of its cells
so far.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from broadfront.benchmark.asked import ASKED
from broadfront.clock import Clock
from broadfront.errors import BroadfrontError, OptionError
from broadfront.graph.csr import Graph
from broadfront.report.machine import load_average
from broadfront.report.record import Record
from broadfront.report.table import seconds_text
from broadfront.scaling.cases import Case
from broadfront.scaling.families import Choice
from broadfront.scaling.findings import Findings, Row
from broadfront.scaling.plan import IDS, Cell, Settings, Setup, plan

Tell = Callable[[str], None]
ANSWERS = {"bfs": "depth", "sssp": "distance", "components": "component", "pagerank": "rank",
           "betweenness": "centrality"}  # fmt: skip
"""The array of each answer that does not depend on chance."""
CLOSE = (1e-6, 1e-15)
"""Relative and absolute: ranks of large graphs are tiny."""
QUIET_LOAD = 0.7


def study(*, tell: Tell | None = None, **settings: Any) -> Findings:
    """Measure how primitives scale over devices of this machine.

    Parameters
    ----------
    tell
        Called with a line whenever there is news.
    settings
        What to run: `broadfront.scaling.Settings`. By default everything, which takes a while;
        ``quick=True`` takes graphs that are small.

    Returns
    -------
    Findings
        After Ctrl-C those so far, with `stopped` true.
    """
    made = Study(Settings(**settings), tell or (lambda line: None))
    try:
        made.run()
    except KeyboardInterrupt:
        assert made.findings.stopped
    return made.findings


class Study:
    """Runs a study into `findings`."""

    def __init__(self, settings: Settings, tell: Tell) -> None:
        planned = plan(settings)
        self.findings = Findings(plain_settings(settings), [*planned.notes, *others_at_work()])
        self._settings = settings
        self._cells = planned.cells
        self._memory = settings.memory
        self._tell = tell
        self._cases: dict[Choice, Case] = {}
        self._order = random.Random(settings.seed)

    def run(self) -> None:
        """Measure every cell."""
        try:
            for number, cell in enumerate(self._cells, 1):
                self._load(cell)
                rows = self._measured(cell)
                self.findings.rows += rows
                self._say(f"{number} of {len(self._cells)}: {cell.study} {cell.primitive}", rows)
        except KeyboardInterrupt:
            self.findings.stopped = True
            raise

    def _load(self, cell: Cell) -> None:
        """Have the graphs of a cell in memory, and no others."""
        kept = {choice: case for choice, case in self._cases.items() if choice in cell.graphs}
        self._cases = kept
        for choice in cell.graphs:
            if choice not in kept:
                self._tell(f"{choice.title}: loading")
                kept[choice] = Case(choice, self._settings.repeats, self._settings.seed)

    def _measured(self, cell: Cell) -> list[Row]:
        """Return the rows of a cell."""
        alone: dict[Choice, Any] = {}
        going: list[Going] = []
        first = None
        for choice, setup in cell.runs:
            case, options = self._cases[choice], self._options(setup, first)
            if setup.devices > 1 and choice not in alone:
                one_device = Setup(1, setup.threads)
                alone[choice] = Going(cell, case, one_device, {}).begin(None)
            going.append(Going(cell, case, setup, options))
            result = going[-1].begin(alone.get(choice))
            alone.setdefault(choice, result)
            first = first or result
        with _uncollected():
            clock = Clock()
            for repeat in range(self._settings.repeats):
                for one in self._order.sample(going, len(going)):
                    one.repeat(repeat)
                if clock.seconds > self._settings.limit_seconds:
                    break
        return [one.row for one in going]

    def _options(self, setup: Setup, first: Any) -> dict[str, Any]:
        """Return the options of a memory scheme, which may need the record of the first run."""
        if setup.scheme == "default":
            return {}
        memory = self._memory[setup.scheme]
        if callable(memory):
            if first is None:
                raise OptionError(f"--schemes {setup.scheme}: needs another scheme before it")
            memory = memory(first.report)
        return {"memory": memory}

    def _say(self, title: str, rows: list[Row]) -> None:
        told = [
            f"{row.variant} {row.status if row.seconds is None else seconds_text(row.seconds)}"
            for row in rows
        ]
        graphs = " ".join(dict.fromkeys(row.graph for row in rows))
        self._tell(f"{title} on {graphs}: {', '.join(told)}")


class Going:
    """A run of a cell while it is measured; `row` is what is known of it."""

    def __init__(self, cell: Cell, case: Case, setup: Setup, options: dict[str, Any]) -> None:
        self._case, self._setup = case, setup
        self._graph = case.form(cell.primitive)
        self._options = {"devices": setup.devices, "threads": setup.threads, **options}
        self.row = Row(
            cell.study, case.family, case.name, self._graph.num_vertices, self._graph.num_edges,
            cell.primitive, **setup._asdict(), edges_reached=case.edges(cell.primitive),
        )  # fmt: skip

    def begin(self, alone: Any) -> Any:
        """Split the graph, run once, and check the answer against that of one device.

        Without one to check against, this is the run on one device, and must not fail.
        """
        try:
            if self._setup.devices > 1:
                self._split()
            clock = Clock()
            result = self._call(0)
        except BroadfrontError as error:
            if alone is None:
                raise
            self.row = replace(self.row, status="failed", note=str(error))
            return None
        right = result if alone is None else alone
        self.row = replace(
            self.row,
            first_seconds=clock.seconds,
            compile_seconds=clock.compile_seconds,
            **facts(result.report, right.report, self._graph),
        )
        if self.row.study == "strong" and self.row.primitive == "bfs" and alone is None:
            report = result.report
            fine = report.frontier[report.spans == 1]
            self.row = replace(self.row, frontier=tuple(fine.tolist()))
        if not same(self.row.primitive, result, right):
            told = "the answer differs from that of one device"
            self.row = replace(self.row, status="wrong", note=told)
        return result

    def _split(self) -> None:
        setup = self._setup
        made = self._case.split(setup.partitioner, setup.devices, self.row.primitive)
        self._options |= {"partitioner": made, "relabel": IDS[setup.ids]}
        self.row = replace(self.row, partition_seconds=made.seconds)

    def _call(self, question: int) -> Any:
        asked = self._case.questions[question]
        return ASKED[self.row.primitive](self._graph, asked, **self._options)

    def repeat(self, number: int) -> None:
        """Run and time it once more, unless something is wrong with it."""
        if self.row.status != "done":
            return
        clock = Clock()
        try:
            self._call(number)
        except BroadfrontError as error:
            self.row = replace(self.row, status="failed", note=str(error))
        else:
            self.row = replace(self.row, trials=(*self.row.trials, clock.seconds))


def others_at_work() -> list[str]:
    """Return a note if others use the machine: threads that wait for each other suffer most."""
    found = load_average()
    return [f"others were at work: load {found:.1f} at the start"] if found > QUIET_LOAD else []


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python from collecting garbage in the block: who runs next would pay for it."""
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def plain_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings as values that JSON has, schemes by their names."""
    told = {**vars(settings), "devices": settings.counts, "compared_on": settings.on}
    told["schemes"] = list(settings.memory)
    return {name: list(value) if isinstance(value, (tuple, range)) else value
            for name, value in told.items()}  # fmt: skip


def facts(record: Record, alone: Record, graph: Graph) -> dict[str, Any]:
    """Return what a row tells of a run beside its times.

    Memory is that of the graph, fields, what operators work in, and boxes of messages, on all
    devices; layouts that operators keep with a graph are apart.
    """
    totals = record.totals()
    arrays = (graph.offsets, graph.targets, graph.weights)
    held = record.peak_bytes + sum(array.nbytes for array in arrays if array is not None)
    return {
        "iterations": record.iterations,
        "edges_visited": record.edges_visited,
        "redundancy": record.redundancy(alone),
        "imbalance": float(totals.get("imbalance", 1.0)),
        "bytes_sent": int(totals["bytes_sent"]),
        "memory_bytes": int(totals.get("device_bytes", held)),
    }


def same(primitive: str, result: Any, alone: Any) -> bool:
    """Tell whether two answers agree: exactly, or by rounding where they are sums."""
    found, right = (getattr(one, ANSWERS[primitive]) for one in (result, alone))
    if found.dtype.kind == "f":
        return found.shape == right.shape and bool(np.allclose(found, right, *CLOSE))
    return np.array_equal(found, right)

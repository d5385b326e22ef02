"""One program run in every way on the same devices, side by side: `broadfront compare`.

One device; bulk-synchronous; asynchronous, driven by Python or fused; with and without priorities.
Ways take turns, so that whatever else the machine does meets all of them alike, and every answer is
compared with that of one device.

Work items are vertices served: in the frontiers of a bulk-synchronous run, from the worklists of an
asynchronous one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from broadfront.algorithms.bfs import BFS
from broadfront.algorithms.components import MIN_LABEL
from broadfront.algorithms.distances import working_dtype
from broadfront.algorithms.sssp import shortest_paths
from broadfront.errors import OptionError, VerificationError
from broadfront.execution.asynchronous.settings import Async
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance
from broadfront.partition.partition import Partition
from broadfront.partition.split import split
from broadfront.report.record import Record
from broadfront.report.table import aligned, seconds_text
from broadfront.scaling.look import COLOURS, Picture

HEAD = (
    "execution", "devices", "time", "least", "work items", "a vertex", "messages", "bytes",
    "barriers",
)  # fmt: skip
ONE_DEVICE = "one device"


class Question(NamedTuple):
    """A program, where it starts, and the field that is its answer."""

    program: Program
    frontier: Any
    init: Mapping[str, Any]
    field: str


class Way(NamedTuple):
    """A way to run a program."""

    name: str
    program: Program
    options: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Row:
    """What was measured of one way."""

    name: str
    devices: int
    seconds: tuple[float, ...]
    record: Record

    @property
    def median(self) -> float:
        """The median of the times."""
        return median(self.seconds)

    @property
    def work_items(self) -> int:
        """Vertices served."""
        if self.record.work is not None:
            return self.record.work.served
        return int(self.record.frontier.sum())


@dataclass(frozen=True, eq=False)
class Comparison:
    """All ways, in the order of the table."""

    title: str
    vertices: int
    rows: tuple[Row, ...]

    def table(self) -> list[str]:
        """Return the lines of a table."""
        return aligned(HEAD, [self._cells(row) for row in self.rows])

    def _cells(self, row: Row) -> list[str]:
        told, work = row.record.totals(), row.record.work
        return [
            row.name, str(row.devices), seconds_text(row.median), seconds_text(min(row.seconds)),
            f"{row.work_items:,}", f"{row.work_items / max(1, self.vertices):.2f}",
            "-" if work is None else f"{told['messages']:,}", f"{told['bytes_sent']:,}",
            f"{row.record.barriers:,}",
        ]  # fmt: skip

    def facts(self) -> list[dict[str, Any]]:
        """Return the rows as plain values."""
        return [
            {"way": row.name, "median_seconds": row.median,
             "seconds": list(row.seconds), "work_items": row.work_items, **row.record.totals()}
            for row in self.rows
        ]  # fmt: skip

    def plot(self, path: str | PathLike[str]) -> Path:
        """Draw times and work items as bars; the suffix of the path says in which format."""
        picture = Picture(self.title, ["milliseconds, median", "work items a vertex"])
        names = [row.name for row in self.rows]
        heights = (
            [row.median * 1e3 for row in self.rows],
            [row.work_items / max(1, self.vertices) for row in self.rows],
        )
        for axes, values in zip(picture.panels, heights, strict=True):
            axes.bar(range(len(names)), values, color=COLOURS[: len(names)])
            axes.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=8)
        return picture.save(Path(path))


def compare(
    graph: Graph,
    primitive: str,
    *,
    source: object = None,
    devices: int = 4,
    partitioner: str = "metis",
    repeats: int = 5,
    **options: Any,
) -> Comparison:
    """Run a primitive in every way; `options` go to all runs on several devices."""
    question = asked(graph, primitive, source)
    partition = split(graph, devices, partitioner)
    chosen = ways(question.program, devices, partition, options)
    measured: dict[str, list[float]] = {way.name: [] for way in chosen}
    records: dict[str, Record] = {}
    expected = None
    for turn in range(repeats + 1):
        for way in chosen:
            answer = run(
                way.program, graph, frontier=question.frontier, init=question.init, **way.options
            )
            found = answer[question.field]
            expected = found if expected is None else expected
            if not np.array_equal(found, expected):
                raise VerificationError(
                    f"{primitive}, {way.name}", f"{question.field} is not that of one device"
                )
            records[way.name] = answer.record
            if turn > 0:  # the first compiles
                measured[way.name].append(answer.record.seconds)
    rows = tuple(
        Row(way.name, way.options.get("devices", 1), tuple(measured[way.name]), records[way.name])
        for way in chosen
    )
    title = f"{primitive} on {graph.origin.name}, {devices} devices, split by {partitioner}"
    return Comparison(title, graph.num_vertices, rows)


def ways(
    program: Program, devices: int, partition: Partition, options: Mapping[str, Any]
) -> list[Way]:
    """Return the ways to run a program, one device first."""
    several = {**options, "devices": devices, "partitioner": partition}
    operator = program.operators[0]
    found = [Way(ONE_DEVICE, program, {}), Way("bsp", program, {**several, "execution": "bsp"})]
    if isinstance(operator, Advance) and operator.priority is not None:
        plain = replace(operator, priority=None, width=None)
        without = replace(program, step=[plain], phases=())
        found.append(Way("bsp, no priorities", without, {**several, "execution": "bsp"}))
    for how in (Async(fused=False), Async(priority=False), Async()):
        found.append(Way(how.text, program, {**several, "execution": how}))
    return found


def _bfs(graph: Graph, source: int) -> Question:
    return Question(BFS, [source], {"depth": {source: 0}, "parent": {source: source}}, "depth")


def _sssp(graph: Graph, source: int) -> Question:
    if graph.weights is None:
        raise OptionError("compare sssp: the graph has no weights; compare bfs")
    program = shortest_paths(working_dtype(graph), None)
    return Question(program, [source], {"distance": {source: 0}}, "distance")


def _components(graph: Graph, source: int) -> Question:
    if graph.directed:
        raise OptionError("compare components: the graph is directed; read it as undirected")
    everyone = np.arange(graph.num_vertices)
    return Question(MIN_LABEL, everyone, {"component": everyone}, "component")


QUESTIONS: Mapping[str, Callable[[Graph, int], Question]] = {
    "bfs": _bfs, "sssp": _sssp, "components": _components,
}  # fmt: skip


def asked(graph: Graph, primitive: str, source: object) -> Question:
    """Return what is asked of a graph; from the vertex of largest degree unless one is named."""
    if primitive not in QUESTIONS:
        known = ", ".join(QUESTIONS)
        raise OptionError(f"compare {primitive}: expected one of {known}, which run both ways")
    if graph.num_vertices == 0:
        raise OptionError("compare: the graph is empty")
    place = int(np.argmax(graph.degrees)) if source is None else graph.vertex(source)
    return QUESTIONS[primitive](graph, place)

"""What a person sees of a characterisation: the tables of the paper, with numbers of this machine.

Table II of the paper, how many threads of a warp are busy, has no counterpart on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from broadfront.characterize.findings import COUNTED, Findings, Row
from broadfront.characterize.ways import MODELS, PRIMITIVES
from broadfront.report.table import aligned, seconds_text
from broadfront.sizes import size_text

STOPPED = "stopped by Ctrl-C; what is here was measured before"
ENOUGH = 4
"""Rows from which on a correlation is told."""


@dataclass(frozen=True)
class Table:
    """Rows under a head, with a title and what the reader must know."""

    title: str
    note: str
    head: list[str]
    rows: list[list[str]]
    names: int = 2
    """The first columns, which are names and not numbers."""


def as_text(findings: Findings) -> list[str]:
    """Return all tables as lines."""
    lines = []
    for table in tables(findings):
        lines += [table.title, *aligned(table.head, table.rows), ""]
    notes = [*findings.notes, *([STOPPED] if findings.stopped else [])]
    return [*lines, "Notes", *(f"  {note}" for note in notes)] if notes else lines[:-1]


def tables(findings: Findings) -> list[Table]:
    """Return the tables that there is something for."""
    made = [part(findings) for part in TABLES]
    return [table for table in made if table.rows]


def _graphs(findings: Findings) -> Table:
    rows = [
        [one.graph, f"{one.vertices:,}", f"{one.edges:,}", f"{one.mean_degree:.1f}",
         f"{one.max_degree:,}", f"{one.depth:,}"]
        for one in findings.graphs
    ]  # fmt: skip
    return Table(
        "Graphs (Table I)",
        "All undirected, without self-loops and parallel edges. Depth is that of a search from the "
        "busiest vertex, which is the source of every search.",
        ["graph", "vertices", "edges", "mean degree", "largest", "depth"], rows, names=1,
    )  # fmt: skip


def _times(findings: Findings) -> Table:
    return _by_model(
        findings, "Time of a call (for Figure 2)",
        "Median of the repeats, the whole call from Python, answers included.",
        lambda row: seconds_text(row.seconds),
    )  # fmt: skip


def _synchronisations(findings: Findings) -> Table:
    return _by_model(
        findings, "Supersteps / barriers / kernel calls (Table III)",
        "Barriers are meetings of all threads. A kernel call is one from Python into compiled "
        "code: all supersteps of a program are one loop; a semiring product is a call of its own.",
        lambda row: f"{row.iterations:,} / {row.barriers:,} / {row.kernel_calls:,}",
    )  # fmt: skip


def _correlations(findings: Findings) -> Table:
    kinds: dict[str, Callable[[Row], float]] = {
        "barriers": lambda row: row.barriers, "kernel calls": lambda row: row.kernel_calls,
        "atomics": lambda row: row.atomics,
        "bytes": lambda row: row.bytes_read + row.bytes_written,
    }  # fmt: skip
    rows = []
    primitives = list(dict.fromkeys(row.primitive for row in findings.of("models")))
    for name in [*primitives, "all"]:
        mine = findings.of("models", None if name == "all" else name)
        rows.append([name, *(_correlation(mine, value) for value in kinds.values())])
    return Table(
        "Correlation with time per edge (Table IV)",
        "Pearson's, of logarithms, each per edge that is credited, over all graphs and models. "
        "Near 1: who does less of it is quicker. A dash: too few differ.",
        ["primitive", *kinds], rows if findings.of("models") else [], names=1,
    )  # fmt: skip


def _correlation(rows: Sequence[Row], value: Callable[[Row], float]) -> str:
    pairs = [(value(row) / row.edges_reached, row.seconds / row.edges_reached)
             for row in rows if row.edges_reached and value(row) > 0]  # fmt: skip
    if len(pairs) < ENOUGH:
        return "-"
    count, time = np.log(np.array(pairs)).T
    if np.ptp(count) == 0 or np.ptp(time) == 0:
        return "-"
    return f"{np.corrcoef(count, time)[0, 1]:.2f}"


def _atomics(findings: Findings) -> Table:
    threads = findings.settings.get("threads", "?")
    return _by_model(
        findings, "Atomic operations that settled something (Table V)",
        f"On {threads} threads; one thread alone needs none.", lambda row: f"{row.atomics:,}",
    )  # fmt: skip


def _traffic(findings: Findings) -> Table:
    counted = any(row.traffic_by == COUNTED for row in findings.rows)
    return _by_model(
        findings if counted else Findings(), "Bytes read / written (Table VI)",
        "Counted by the compiled loops, every access to an element as it is written, on one "
        "thread: caches and registers would spare some. NumPy between products is not in it.",
        lambda row: f"{size_text(row.bytes_read)} / {size_text(row.bytes_written)}"
        if row.traffic_by == COUNTED else "-",
    )  # fmt: skip


def _memory(findings: Findings) -> Table:
    return _by_model(
        findings, "Peak memory (for Figure 9)", "Graph, fields, and what operators work in.",
        lambda row: size_text(row.memory_bytes),
    )  # fmt: skip


def _by_model(findings: Findings, title: str, note: str, cell: Callable[[Row], str]) -> Table:
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in findings.of("models"):
        cells.setdefault((row.primitive, row.graph), {})[row.way] = cell(row)
    ordered = sorted(cells, key=lambda key: PRIMITIVES.index(key[0]))
    rows = [[*key, *(cells[key].get(name, "-") for name in MODELS)] for key in ordered]
    return Table(title, note, ["primitive", "graph", *MODELS], rows)


def _searches(findings: Findings) -> Table:
    rows = [
        [row.graph, row.way, seconds_text(row.phases["kernel 1"]), f"{row.teps / 1e6:,.1f}",
         f"{row.iterations:,}", f"{row.barriers:,}", f"{row.kernel_calls:,}",
         size_text(row.bytes_read), size_text(row.bytes_written), size_text(row.memory_bytes),
         str(row.lines)]
        for row in findings.of("searches")
    ]  # fmt: skip
    return Table(
        "The searches of Graph500",
        "Validated by the rules of the benchmark. Barriers, calls and bytes are derived from the "
        "tree that was found, by the model in broadfront.characterize.searches: each element that "
        "the code names, whenever its line is reached. Iterations are levels, or passes.",
        ["graph", "search", "kernel 1", "MTEPS", "iterations", "barriers", "calls", "read",
         "written", "memory", "lines"], rows,
    )  # fmt: skip


def _swept(study: str, title: str, note: str, name: str) -> Callable[[Findings], Table]:
    def table(findings: Findings) -> Table:
        cells: dict[tuple[str, str, int], dict[str, str]] = {}
        for row in findings.of(study):
            key = (row.primitive, row.family, row.parameter)
            text = f"{row.teps / 1e6:,.1f}" if study == "degree" else seconds_text(row.seconds)
            cells.setdefault(key, {})[row.way] = text
        rows = [[primitive, family, str(parameter), *(mine.get(way, "-") for way in MODELS)]
                for (primitive, family, parameter), mine in cells.items()]  # fmt: skip
        return Table(title, note, ["primitive", "graph", name, *MODELS], rows)

    return table


TABLES: tuple[Callable[[Findings], Table], ...] = (
    _graphs, _times, _synchronisations, _correlations, _atomics, _traffic, _memory, _searches,
    _swept("degree", "MTEPS by average degree (for Figure 5)",
           "The same vertices, more edges at each.", "degree"),
    _swept("skew", "Time by skew of R-MAT (for Figure 6)",
           "The same vertices and edges drawn; a over each of b, c and d.", "a : b"),
)  # fmt: skip

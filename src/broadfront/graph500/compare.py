"""The implementations side by side: construction, TEPS and lines of code, over scales.

All of them get the same list and the same roots at each scale, and each answer is validated. The
pictures are those of the note: construction time over scale, TEPS over scale, and TEPS over lines
of code at the largest scale, with Broadfront's own search among them.

References
----------
The technical note of the SEI on Graph500's BFS for CPUs and GPUs, Figures 15 to 19.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from broadfront.errors import OptionError
from broadfront.graph500.flow import Benchmark, Input, Settings, Tell
from broadfront.graph500.implementations import Implementation
from broadfront.report.machine import machine
from broadfront.scaling.look import COLOURS, INK, MARKERS, Picture, line, logarithmic


@dataclass(frozen=True)
class Row:
    """One implementation at one scale."""

    implementation: str
    lines: int
    scale: int
    construction_seconds: float
    teps: float
    """The harmonic mean over the roots."""


@dataclass
class Comparison:
    """What was measured, of a comparison that may have been stopped."""

    rows: list[Row] = field(default_factory=list)

    def table(self) -> list[str]:
        """Return the lines of a table, a block for each scale."""
        wide = max(len("implementation"), *(len(row.implementation) for row in self.rows))
        names = f"{'implementation':<{wide}}"
        head = f"{'scale':>5}  {names}  {'kernel 1 (s)':>12}  {'MTEPS':>10}  {'lines':>5}"
        return [head] + [
            f"{row.scale:>5}  {row.implementation:<{wide}}  {row.construction_seconds:>12.4f}"
            f"  {row.teps / 1e6:>10,.2f}  {row.lines:>5}"
            for row in self.rows
        ]

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {"rows": [asdict(row) for row in self.rows], "machine": machine()}

    def plot(self, path: Path) -> Path:
        """Draw the pictures into one file."""
        names = list(dict.fromkeys(row.implementation for row in self.rows))
        rows = {
            name: [row for row in self.rows if row.implementation == name] for name in names
        }  # fmt: skip
        common = min(max(row.scale for row in mine) for mine in rows.values())
        titles = "Kernel 1", "Kernel 2", f"Kernel 2 at scale {common} against lines of code"
        picture = Picture("Graph500: implementations of breadth-first search", titles)
        building, searching, effort = picture.panels
        for place, (name, mine) in enumerate(rows.items()):
            scales = [row.scale for row in mine]
            line(building, scales, [row.construction_seconds for row in mine], name, place)
            line(searching, scales, [row.teps / 1e6 for row in mine], name, place)
            _mark(effort, next(row for row in mine if row.scale == common), place)
        _dress(building, "scale", "seconds")
        _dress(searching, "scale", "MTEPS (10⁶ edges/s)")
        _dress(effort, "lines of code", "MTEPS (10⁶ edges/s)", 0.25)
        for axes in (building, searching):
            axes.set_xticks(sorted({row.scale for row in self.rows}))
        picture.legend("implementation")
        return picture.save(path)


def compare(
    settings: Settings,
    scales: Sequence[int],
    implementations: Sequence[Implementation],
    tell: Tell,
    comparison: Comparison,
) -> None:
    """Run each implementation at each scale, and add rows to `comparison`."""
    if not scales:
        raise OptionError("scales: expected one or more")
    for scale in scales:
        at_scale = replace(settings, scale=scale, kernels=("bfs",))
        given = Input(at_scale)
        for one in implementations:
            tell(f"scale {scale}: {one.name}, {one.about}")
            benchmark = Benchmark(at_scale, one, _say_nothing)
            outcome = benchmark.run(given)
            comparison.rows.append(
                Row(one.name, one.lines, scale, outcome.construction_seconds,
                    outcome.harmonic_mean())
            )  # fmt: skip


def _say_nothing(line: str) -> None:
    pass


def _mark(axes: Any, row: Row, place: int) -> None:
    colour = COLOURS[place % len(COLOURS)]
    axes.plot(
        [row.lines], [row.teps / 1e6], linestyle="", markersize=8, color=colour,
        marker=MARKERS[place % len(MARKERS)],
    )  # fmt: skip
    axes.annotate(
        row.implementation, (row.lines, row.teps / 1e6), textcoords="offset points",
        xytext=(7, 4), fontsize=8, color=INK,
    )  # fmt: skip


def _dress(axes: Any, across: str, up: str, margin: float = 0.05) -> None:
    logarithmic(axes)
    axes.set_xlabel(across, fontsize=9, color=INK)
    axes.set_ylabel(up, fontsize=9, color=INK)
    axes.margins(x=margin, y=0.12)

"""How every picture of a study looks: colours, sizes, axes, and bars with their range.

Colours are those of Okabe and Ito, which people tell apart who do not see red or green.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from broadfront.errors import require
from broadfront.scaling.relative import Spread

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
MARKERS = "osD^vP*X"
INK, FAINT = "#333333", "#DDDDDD"
PANEL_INCHES = (7.2, 2.9)
DOTS_PER_INCH = 150
FULL = 0.82
"""How much of the place of a group its bars take."""


class Picture:
    """A figure of panels one below the other, each with a title and axes of the same look."""

    def __init__(self, title: str, panels: Sequence[str]) -> None:
        figure: Any = require("matplotlib.figure", "plots")
        width, height = PANEL_INCHES
        size = (width, height * len(panels) + 0.7)
        self._figure = figure.Figure(size, layout="constrained")
        self._figure.suptitle(title, fontsize=11, color=INK)
        self.panels = list(self._figure.subplots(len(panels), squeeze=False)[:, 0])
        for axes, name in zip(self.panels, panels, strict=True):
            axes.set_title(name, fontsize=10, color=INK, loc="left")
            axes.tick_params(labelsize=9, colors=INK)
            axes.grid(axis="y", color=FAINT, linewidth=0.8)
            axes.set_axisbelow(True)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)

    def label(self, across: str, up: str) -> None:
        """Name the axes of all panels."""
        for axes in self.panels:
            axes.set_ylabel(up, fontsize=9, color=INK)
        self.panels[-1].set_xlabel(across, fontsize=9, color=INK)

    def legend(self, title: str) -> None:
        """Say beside the first panel what colours mean."""
        handles: dict[str, Any] = {}
        for axes in self.panels:
            found, names = axes.get_legend_handles_labels()
            handles = {**dict(zip(names, found, strict=True)), **handles}
        self._figure.legend(
            handles.values(), handles.keys(), title=title, fontsize=9, title_fontsize=9,
            frameon=False, loc="outside right upper",
        )  # fmt: skip

    def save(self, path: Path) -> Path:
        """Write it."""
        self._figure.savefig(path, dpi=DOTS_PER_INCH)
        return path


def bars(axes: Any, values: Mapping[str, Mapping[str, Spread]], kinds: Sequence[str]) -> None:
    """Draw a group of bars for each entry, a bar of each kind in it, with its range."""
    width = FULL / max(1, len(kinds))
    for place, kind in enumerate(kinds):
        shift = (place - (len(kinds) - 1) / 2) * width
        there = [(at, group[kind]) for at, group in enumerate(values.values()) if kind in group]
        found = [(at, one) for at, one in there if isfinite(one.most)]
        ranges = [
            [one.mean - one.least for _, one in found],
            [one.most - one.mean for _, one in found],
        ]
        axes.bar(
            [at + shift for at, _ in found], [one.mean for _, one in found], width * 0.92,
            yerr=ranges, label=kind, color=COLOURS[place % len(COLOURS)],
            error_kw={"ecolor": INK, "elinewidth": 0.9, "capsize": 2},
        )  # fmt: skip
    axes.set_xticks(range(len(values)), list(values))
    axes.axhline(1, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))


def line(axes: Any, across: Sequence[float], up: Sequence[float], name: str, place: int) -> None:
    """Draw a line with a mark at each measurement."""
    axes.plot(
        across, up, label=name, color=COLOURS[place % len(COLOURS)],
        marker=MARKERS[place % len(MARKERS)], markersize=5, linewidth=1.6,
    )  # fmt: skip

"""How every picture of a study looks: colours, sizes, axes, and bars with their range.

Colours are those of Okabe and Ito, which people tell apart who do not see red or green. Bars of
ratios stand on the line of the base where the axis is logarithmic, and on zero where it is not.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from broadfront.errors import require
from broadfront.scaling.relative import Spread

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
MARKERS = "osD^vP*X"
INK, FAINT = "#333333", "#DDDDDD"
PANEL_INCHES = (5.0, 2.6)
REST_INCHES = 1.0
DOTS_PER_INCH = 150
FULL = 0.82
"""How much of the place of a group its bars take."""
LETTERS, LETTERS_OF_A_SIGN = 100, 8
"""How much of a legend fits into a line."""
ROOM, FEW_DECADES = 1.2, 300
"""Beyond the ends of a logarithmic axis; one that spans less has ticks at 1, 2 and 5."""
MOST_MARKED = 20
"""Lines of more points have no marks."""


class Picture:
    """A figure of panels in one or two columns, each with a title and axes of the same look."""

    def __init__(self, title: str, panels: Sequence[str]) -> None:
        figure: Any = require("matplotlib.figure", "plots")
        columns = 1 if len(panels) == 1 else 2
        rows = -(-len(panels) // columns)
        width, height = PANEL_INCHES
        size = (width * max(columns, 1.5), (height * (1.3 if rows == 1 else rows)) + REST_INCHES)
        self._figure = figure.Figure(size, layout="constrained")
        self._figure.suptitle(title, fontsize=11, color=INK)
        self._title, self._notes = title, list[str]()
        places = list(self._figure.subplots(rows, columns, squeeze=False).flat)
        self.panels = places[: len(panels)]
        for unused in places[len(panels) :]:
            unused.set_visible(False)
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
            axes.set_xlabel(across, fontsize=9, color=INK)

    def share_height(self, panels: Sequence[Any]) -> None:
        """Give panels the same axis, so that heights compare."""
        ticker: Any = require("matplotlib.ticker", "plots")
        low = min((axes.get_ylim()[0] for axes in panels), default=0)
        high = max((axes.get_ylim()[1] for axes in panels), default=1)
        for axes in panels:
            axes.set_ylim(low, high)
            if axes.get_yscale() == "log":
                axes.set_ylim(low / ROOM, high * ROOM)
                if high < FEW_DECADES * low:
                    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))

    def legend(self, title: str) -> None:
        """Say below all panels what colours mean."""
        handles: dict[str, Any] = {}
        for axes in self.panels:
            found, names = axes.get_legend_handles_labels()
            handles |= dict(zip(names, found, strict=True))
        longest = max(map(len, handles), default=0) + LETTERS_OF_A_SIGN
        self._figure.legend(
            handles.values(), handles.keys(), title=title, fontsize=9, title_fontsize=9,
            frameon=False, loc="outside lower center", ncols=max(1, LETTERS // longest),
        )  # fmt: skip

    def note(self, text: str) -> None:
        """Say below the title what the reader must know."""
        self._notes.append(text)
        told = f"{self._title}\n{'; '.join(self._notes)}"
        self._figure.suptitle(told, fontsize=11, color=INK)

    def save(self, path: Path) -> Path:
        """Write it."""
        self._figure.savefig(path, dpi=DOTS_PER_INCH)
        return path

    def svg(self) -> str:
        """Return it as SVG, with letters that stay letters, on no ground of its own."""
        matplotlib: Any = require("matplotlib", "plots")
        text = io.StringIO()
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": self._title}):
            self._figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        return text.getvalue()


def bars(axes: Any, values: Mapping[str, Mapping[str, Spread]], kinds: Sequence[str]) -> None:
    """Draw a group of bars for each entry, a bar of each kind in it, with its range."""
    width = FULL / max(1, len(kinds))
    foot = 1.0 if axes.get_yscale() == "log" else 0.0
    for place, kind in enumerate(kinds):
        shift = (place - (len(kinds) - 1) / 2) * width
        there = [(at + shift, group[kind]) for at, group in enumerate(values.values())
                 if kind in group and isfinite(group[kind].most)]  # fmt: skip
        axes.bar(
            [at for at, _ in there], [one.mean - foot for _, one in there], width * 0.92, foot,
            label=kind, color=COLOURS[place % len(COLOURS)],
        )  # fmt: skip
        for at, one in there:
            if one.most > one.least:
                axes.plot([at, at], [one.least, one.most], color=INK, linewidth=0.9, marker="_",
                          markersize=4)  # fmt: skip
    axes.set_xticks(range(len(values)), list(values))
    axes.axhline(1, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))


def line(axes: Any, across: Sequence[float], up: Sequence[float], name: str, place: int) -> None:
    """Draw a line, with a mark at each measurement if they are few."""
    few = len(across) <= MOST_MARKED
    axes.plot(
        across, up, label=name, color=COLOURS[place % len(COLOURS)], markersize=5,
        marker=MARKERS[place % len(MARKERS)] if few else None, linewidth=1.6 if few else 1.1,
    )  # fmt: skip


def logarithmic(axes: Any, across: bool = False) -> None:
    """Make the axis upwards logarithmic, or that across, with plain numbers at its ticks."""
    ticker: Any = require("matplotlib.ticker", "plots")
    (axes.set_xscale if across else axes.set_yscale)("log")
    axis = axes.xaxis if across else axes.yaxis
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, place: f"{value:,g}"))
    axis.set_minor_formatter(ticker.NullFormatter())

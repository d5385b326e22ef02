"""What was measured, and the tables of it as Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

OURS, OLD = "Broadfront", "old"


@dataclass
class Series:
    """The times of one variant of a system in a cell: a primitive on a graph.

    Attributes
    ----------
    trials, busy
        Seconds of each call, alone and beside processes that keep the cores busy.
    iterations
        From the first source.
    first_seconds
        The best of the first turn.
    first_turn_only
        Whether it took no part in the rounds, being far from the best.
    note
        Why it has no time, or lacks some.
    """

    graph: str
    primitive: str
    system: str
    variant: dict[str, Any]
    trials: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    iterations: int | None = None
    first_seconds: float = float("inf")
    first_turn_only: bool = False
    note: str = ""

    @property
    def cell(self) -> tuple[str, str]:
        """The graph and the primitive."""
        return self.graph, self.primitive

    @property
    def median(self) -> float:
        """The median of the trials, infinite without any."""
        return statistics.median(self.trials) if self.trials else float("inf")

    @property
    def title(self) -> str:
        """The system and its variant in words."""
        words = [f"{name} {value}" for name, value in self.variant.items()]
        return f"{self.system} ({', '.join(words)})" if words else self.system

    def to_plain(self) -> dict[str, Any]:
        """Return everything as plain values, for a line of JSON."""
        if not self.trials:
            return {**asdict(self), "first_seconds": None}
        return {**asdict(self), "median": self.median, "minimum": min(self.trials)}


class Results:
    """All series, and what is looked up in them."""

    def __init__(self) -> None:
        self.series: list[Series] = []

    def cells(self) -> Iterable[tuple[str, str]]:
        """Return each graph and primitive once."""
        return dict.fromkeys(series.cell for series in self.series)

    def find(self, cell: tuple[str, str], system: str, **variant: Any) -> Series | None:
        """Return the series of a variant, if it has a time."""
        for series in self.series:
            if (series.cell, series.system, series.variant) == (cell, system, variant):
                return series if series.trials else None
        return None

    def best_peer(self, cell: tuple[str, str]) -> Series | None:
        """Return the quickest series of a native program."""
        peers = [row for row in self.series if row.cell == cell and row.trials
                 and row.system not in (OURS, OLD)]  # fmt: skip
        return min(peers, key=lambda series: series.median, default=None)

    def ratio(self, cell: tuple[str, str]) -> float | None:
        """Return the time of the best peer over Broadfront's as a user calls it."""
        ours, peer = self.find(cell, OURS), self.best_peer(cell)
        return peer.median / ours.median if ours and peer else None

    def tables(self) -> list[str]:
        """Return all tables that have rows, and notes."""
        lines: list[str] = []
        for title, head, rows in (self._whole(), self._devices(), self._busy()):
            if rows:
                lines += [title, "", *markdown(head, rows), ""]
        notes = dict.fromkeys(
            f"- {row.graph} {row.primitive} {row.title}: {row.note}"
            for row in self.series if row.note
        )  # fmt: skip
        return [*lines, *notes]

    def _whole(self) -> tuple[str, list[str], list[list[str]]]:
        title = ("Milliseconds, median (minimum). Ratio: time of the best peer over Broadfront's, "
                 "bold below 1.")  # fmt: skip
        head = ["graph", "primitive", "best peer", "its time", "Broadfront", "ratio",
                "threads=1", "old", "old/new", "iterations"]  # fmt: skip
        rows = []
        for cell in self.cells():
            ours, peer = self.find(cell, OURS), self.best_peer(cell)
            old = self.find(cell, OLD)
            rows.append([
                *cell, peer.title if peer else "-", time_text(peer), time_text(ours),
                ratio_text(peer, ours), time_text(self.find(cell, OURS, threads=1)),
                time_text(old), ratio_text(old, ours),
                f"{ours.iterations:,}" if ours and ours.iterations is not None else "-",
            ])  # fmt: skip
        return title, head, rows

    def _devices(self) -> tuple[str, list[str], list[list[str]]]:
        title = "Several devices. Gain: time of one device over that of several."
        head = ["graph", "primitive", "devices", "partitioner", "time", "gain", "best peer/new",
                "old", "old/new"]  # fmt: skip
        rows = []
        for row in self.series:
            if row.system == OURS and "devices" in row.variant:
                one, old = self.find(row.cell, OURS), self.find(row.cell, OLD, **row.variant)
                shown = row if row.trials else None
                rows.append([
                    *row.cell, str(row.variant["devices"]), row.variant["partitioner"],
                    time_text(shown), ratio_text(one, shown),
                    ratio_text(self.best_peer(row.cell), shown), time_text(old),
                    ratio_text(old, shown),
                ])  # fmt: skip
        return title, head, rows

    def _busy(self) -> tuple[str, list[str], list[list[str]]]:
        title = "Beside processes that keep cores busy."
        head = ["graph", "primitive", "variant", "quiet", "busy", "busy/quiet"]
        rows = [
            [*row.cell, row.title, time_text(row), f"{statistics.median(row.busy) * 1e3:,.2f}",
             f"{statistics.median(row.busy) / row.median:.2f}"]
            for row in self.series if row.busy
        ]  # fmt: skip
        return title, head, rows


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table with its columns lined up: the first three to the left."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    left = min(3, len(head))
    rule = ["-" * width if place < left else "-" * (width - 1) + ":"
            for place, width in enumerate(widths)]  # fmt: skip
    return [
        "| " + " | ".join(
            text.ljust(width) if place < left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ) + " |"
        for row in (head, rule, *rows)
    ]  # fmt: skip


def time_text(series: Series | None) -> str:
    """Return median and minimum in milliseconds."""
    if series is None:
        return "-"
    return f"{series.median * 1e3:,.2f} ({min(series.trials) * 1e3:,.2f})"


def ratio_text(other: Series | None, ours: Series | None) -> str:
    """Return how many times as long the other takes; bold where it is quicker."""
    if other is None or ours is None:
        return "-"
    ratio = other.median / ours.median
    return f"{ratio:.2f}" if ratio >= 1 else f"**{ratio:.2f}**"

"""Tables as text: columns that line up, and times as a person reads them."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows under a head: the first two columns to the left, the others to the right."""
    table = [list(head), *map(list, rows)]
    widths = [max(len(row[place]) for row in table) for place in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def seconds_text(seconds: float) -> str:
    """Return a time in milliseconds, or from ten seconds on in seconds."""
    return f"{seconds:,.2f} s" if seconds >= 10 else f"{seconds * 1e3:,.2f} ms"

"""Which columns hold the edges, by what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

PAIRS = (("source", "target"), ("from", "to"), ("src", "dst"), ("node1", "node2"))
WEIGHT = "weight"


class Places(NamedTuple):
    """The positions of the columns; -1 for no weight."""

    source: int
    target: int
    weight: int = -1


def place(name: str, heads: Sequence[object]) -> int:
    """Return where the column called `name`, in upper or lower case, is; -1 for nowhere."""
    lower = [str(head).lower() for head in heads]
    return lower.index(name) if name in lower else -1


def known(heads: Sequence[object]) -> Places | None:
    """Return where the columns with well-known names are; None without both ends.

    >>> known(["id", "From", "To"])
    Places(source=1, target=2, weight=-1)
    """
    for source, target in PAIRS:
        places = Places(place(source, heads), place(target, heads), place(WEIGHT, heads))
        if places.source >= 0 and places.target >= 0:
            return places
    return None

"""A file that lists edges: what it says, and its edges block by block.

What is in memory as a whole and what is built on the disk (`broadfront.graph.external`) read the
same listing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from broadfront.graph.build import Columns
from broadfront.graph.columns import joined
from broadfront.graph.numbering import Ends, InMemory, Numbered, Numbering


class Listing(NamedTuple):
    """Edges that are about to be read."""

    blocks: Iterator[Columns]
    weighted: bool
    number: Callable[[Ends], Numbering]
    """Numbers the ends when all blocks are read, and checks what the file says of them."""
    directed: bool
    real: bool = False
    """Whether weights are real numbers also where all of them are whole."""

    def numbered(self) -> Numbered:
        """Read all edges."""
        columns = joined(list(self.blocks), self.weighted)
        if columns.weight is not None and self.real:
            columns.weight = columns.weight.astype(np.float64, copy=False)
        return Numbered(columns, *self.number(InMemory(columns)))

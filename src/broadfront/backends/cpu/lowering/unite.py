"""A `Unite` on CPU devices: trees that threads link; those of several devices meet at the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.exchange.bounds import Bounds
from broadfront.backends.cpu.exchange.trees import uniting
from broadfront.backends.cpu.lowering.lowered import Loop, Lowering, Portion, Section
from broadfront.backends.cpu.operators.unite import new_trees, unite
from broadfront.execution.program import Program
from broadfront.operators.describe import Unite


class LoweredUnite(Lowering[Unite]):
    """How a `Unite` runs."""

    def section(self, loop: Loop) -> Section:
        """Return the section that links edges, and has the trees of devices meet."""
        place, across = loop.place(self.operator.into), loop.across
        crossing = None
        if across is not None:
            crossing = uniting(place, across.vertex_bytes, across.relabelled)
        return unite(self.operator, place, crossing)

    def memory(self, program: Program, portion: Portion) -> Mapping[str, Any]:
        """Return what trees are built in beside the field."""
        graph = portion.graph
        return {"trees": new_trees(
            portion.space, portion.owned, graph.targets.dtype, portion.threads, graph.directed,
            positions=portion.positions if portion.several else 0, shared=portion.shared,
        )}  # fmt: skip

    def messages(self, bounds: Bounds) -> Iterator[NDArray[Any]]:
        """Give the sizes of pairs to owners, and of trees to the first device, which answers."""
        part, parts = bounds.part, bounds.parts
        count = len(parts)
        yield 2 * part.ghosts * part.vertex_bytes
        sizes = np.zeros(count, np.int64)
        positions = np.array([peer.positions for peer in parts])
        if part.device == 0:
            sizes[:] = 8 * count + (positions + 1) * part.vertex_bytes
        words = part.positions + 1 + 2 * int(part.shared.sum())
        sizes[0] = 8 * count + words * part.vertex_bytes
        if part.device == 0:
            sizes[0] += 8 + 8 * (count + 1 + int(positions.sum()))
        yield sizes

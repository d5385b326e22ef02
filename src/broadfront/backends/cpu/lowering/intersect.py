"""An `Intersect` on CPU devices: rows of the graph, or lists that devices have sent each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.exchange.bounds import Bounds
from broadfront.backends.cpu.exchange.known import known
from broadfront.backends.cpu.exchange.lists import lists_brought
from broadfront.backends.cpu.exchange.propose import Column, proposed
from broadfront.backends.cpu.exchange.refresh import offered
from broadfront.backends.cpu.loop.across import Across, agree_on_sum, timed
from broadfront.backends.cpu.lowering.lowered import Loop, Lowering, Portion, Section
from broadfront.backends.cpu.operators.combine import combining
from broadfront.backends.cpu.operators.intersect import intersect
from broadfront.backends.cpu.operators.intersect_part import IntersectCrossing, intersect_part
from broadfront.backends.cpu.operators.orient import new_lists
from broadfront.backends.cpu.operators.part_lists import new_part_lists
from broadfront.execution.program import Program
from broadfront.kernel import inner
from broadfront.operators.describe import Field, Intersect


class LoweredIntersect(Lowering[Intersect]):
    """How an `Intersect` runs."""

    def section(self, loop: Loop) -> Section:
        """Return the section of one device, or of one of several."""
        total = self.operator.total
        place = None if total is None else loop.place(total)
        if loop.across is None:
            return intersect(self.operator, place)
        return intersect_part(self.operator, place, _crossing(loop.across))

    def memory(self, program: Program, portion: Portion) -> Mapping[str, Any]:
        """Return lists of neighbours, and marks."""
        space, graph, threads = portion.space, portion.graph, portion.threads
        if not portion.several:
            return {"lists": new_lists(space, graph, threads, self.operator)}
        return {"lists": new_part_lists(
            space, portion.positions, graph, threads, self.operator, portion.relabelled
        )}  # fmt: skip

    def messages(self, bounds: Bounds) -> Iterator[NDArray[Any]]:
        """Give the sizes of degrees and counts, and of neighbour lists.

        Those for oneself are all that one has and gets.
        """
        part, parts = bounds.part, bounds.parts
        yield bounds.columns(np.maximum(part.ghosts, part.shared), 8, 1)
        entries = np.array([peer.brought[part.device] for peer in parts])
        entries[part.device] = part.num_arcs + part.brought.sum()
        yield 8 * part.shared + entries * part.vertex_bytes


def _crossing(across: Across) -> IntersectCrossing:
    item = across.vertex_bytes
    counts = Column(_counts_of, 8, combining(Field(np.int64, combine="sum")), 0)
    return IntersectCrossing(
        across.is_ghost, item, timed(offered(_degrees_of)),
        timed(lists_brought(known(across.relabelled), item)), timed(proposed([counts])),
        agree_on_sum,
    )  # fmt: skip


@inner
def _degrees_of(work):
    return work.lists.degree


@inner
def _counts_of(state, work):
    return work.lists.counts

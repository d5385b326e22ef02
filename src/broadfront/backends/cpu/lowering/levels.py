"""A `Levels` on CPU devices: vertices in the order of their levels, and a level at a time.

On several devices ghosts get the values of a level as soon as it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from broadfront.backends.cpu.exchange.bounds import Bounds
from broadfront.backends.cpu.exchange.by_level import count_levels, sort_shared, telling
from broadfront.backends.cpu.loop.across import Across
from broadfront.backends.cpu.lowering.lowered import Loop, Lowering, Portion, Section
from broadfront.backends.cpu.operators.level_order import LevelCrossing, new_level_order
from broadfront.backends.cpu.operators.levels import levels
from broadfront.execution.program import Program
from broadfront.operators.describe import Levels


class LoweredLevels(Lowering[Levels]):
    """How a `Levels` runs."""

    def section(self, loop: Loop) -> Section:
        """Return the section that goes from level to level."""
        by = self.operator.by
        place = None if by is None else loop.place(by)
        crossing = None if loop.across is None else self._crossing(loop.across)
        return levels(self.operator, place, crossing)

    def _crossing(self, across: Across) -> LevelCrossing:
        plan = across.plan
        told = plan.by_level[self.operator][1]
        carried = plan.carried.get(self.operator, ())
        tell = telling(
            across.columns(told), across.vertex_bytes, carried,
            () if carried else plan.agreed[self.operator],
        )  # fmt: skip
        return LevelCrossing(count_levels, sort_shared, tell)

    def agrees(self, across: Across) -> bool:
        """Tell whether shared values travelled with the messages; others were agreed upon."""
        return self.operator in across.plan.carried

    def memory(self, program: Program, portion: Portion) -> Mapping[str, Any]:
        """Return the order of the levels."""
        return {"levels": new_level_order(
            portion.space, portion.owned, portion.graph.targets.dtype,
            portion.graph.num_vertices, portion.shared, portion.devices,
        )}  # fmt: skip

    def messages(self, bounds: Bounds) -> Iterator[NDArray[Any]]:
        """Give the size of what goes to ghosts after a level, were it the only one."""
        plan, part = bounds.plan, bounds.part
        told = plan.by_level[self.operator][1]
        many = len(told) + 1 + len(plan.carried.get(self.operator, ()))
        yield bounds.columns(part.shared, part.vertex_bytes + bounds.width(told), many)

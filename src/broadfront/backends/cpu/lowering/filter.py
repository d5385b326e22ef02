"""A `Filter` on CPU devices: the frontier is written anew, from itself or from all vertices."""

from __future__ import annotations

from broadfront.backends.cpu.lowering.lowered import Loop, Lowering, Section, Uses
from broadfront.backends.cpu.operators.new_frontier import chosen
from broadfront.backends.cpu.operators.over_frontier import filtered
from broadfront.operators.describe import Filter


class LoweredFilter(Lowering[Filter]):
    """How a `Filter` runs."""

    always_agrees = True

    def section(self, loop: Loop) -> Section:
        """Return the section over the frontier, or over all vertices."""
        make = chosen if self.operator.over == "vertices" else filtered
        return make(self.operator, loop.has_marks)

    def uses(self, several: bool) -> Uses:
        """Return that it writes the other queue, which may come to hold all vertices."""
        return Uses(next_queue=True, gathers=self.operator.over == "vertices")

"""A `Compute` on CPU devices: threads claim blocks of vertices, and add totals in a fixed order."""

from __future__ import annotations

from broadfront.backends.cpu.lowering.lowered import Loop, Lowering, Section, Uses
from broadfront.backends.cpu.operators.compute import compute
from broadfront.backends.cpu.operators.over_frontier import over_frontier
from broadfront.operators.describe import Compute


class LoweredCompute(Lowering[Compute]):
    """How a `Compute` runs."""

    def section(self, loop: Loop) -> Section:
        """Return the section over the frontier, or over all vertices."""
        sums = loop.places(self.operator.sums)
        if self.operator.over == "frontier":
            return over_frontier(self.operator, sums)
        return compute(self.operator, sums)

    def uses(self, several: bool) -> Uses:
        """Return that it adds up totals."""
        return Uses(partials=True)

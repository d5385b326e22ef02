"""A `Once` on CPU devices: one thread of each device calls the functor while the others wait."""

from __future__ import annotations

from broadfront.backends.cpu.lowering.lowered import Loop, Lowering, Section
from broadfront.backends.cpu.operators.compute import once
from broadfront.operators.describe import Once


class LoweredOnce(Lowering[Once]):
    """How a `Once` runs."""

    def section(self, loop: Loop) -> Section:
        """Return the section of the first thread."""
        return once(self.operator)

"""A `Reduce` on CPU devices: by rows, or by tiles where offers depend on the neighbour alone.

On several devices such offers go from owners to ghosts before they are combined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from broadfront.backends.cpu.exchange.bounds import Bounds
from broadfront.backends.cpu.exchange.refresh import offered
from broadfront.backends.cpu.loop.across import timed
from broadfront.backends.cpu.loop.numbers import place_of_identity
from broadfront.backends.cpu.lowering.lowered import Loop, Lowering, Portion, Section, Uses
from broadfront.backends.cpu.operators.reduce import new_offers, reduce
from broadfront.backends.cpu.operators.sides import outgoing
from broadfront.execution.program import Program
from broadfront.operators.describe import Reduce


class LoweredReduce(Lowering[Reduce]):
    """How a `Reduce` runs."""

    def section(self, loop: Loop) -> Section:
        """Return the section, which hears one side of the arcs or the other."""
        operator = self.operator
        brings = loop.across is not None and operator.of_neighbor
        section = reduce(
            operator, loop.places(operator.sums), place_of_identity(operator, loop.program),
            loop.large, _offers_to_ghosts if brings else None,
        )  # fmt: skip
        return section if operator.along == "in" else outgoing(section)

    def uses(self, several: bool) -> Uses:
        """Return that it adds up totals."""
        return Uses(partials=True)

    def memory(self, program: Program, portion: Portion) -> Mapping[str, Any]:
        """Return what vertices offer, where that depends on the vertex alone."""
        if not self.operator.of_neighbor:
            return {}
        space, layout = portion.space, portion.layout
        return {"offers": new_offers(space, portion.positions, portion.threads, layout)}

    def messages(self, bounds: Bounds) -> Iterator[NDArray[Any]]:
        """Give the size of offers to ghosts."""
        if self.operator.of_neighbor:
            yield bounds.columns(bounds.part.shared, 8, 1)


def _offers_to_ghosts(offers_of: Section) -> Section:
    return timed(offered(offers_of))

"""An `Advance` on CPU devices: pushed or pulled level by level, or in buckets by its priority.

On several devices ghosts that have improved go to their owners, as they are or with the sources
that they have from, and owners tell ghosts of the frontier before a pull.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.exchange.announce import announced
from broadfront.backends.cpu.exchange.bounds import Bounds
from broadfront.backends.cpu.exchange.collect import Proposals, collected
from broadfront.backends.cpu.exchange.places import places
from broadfront.backends.cpu.loop.across import Across, agree_on_bucket, emptied_to, timed
from broadfront.backends.cpu.loop.phases import chained
from broadfront.backends.cpu.lowering.lowered import Loop, Lowering, Portion, Section, Uses
from broadfront.backends.cpu.operators.advance import Crossing, advance
from broadfront.backends.cpu.operators.buckets import new_buckets, sensible_width
from broadfront.backends.cpu.operators.buckets_across import BucketCrossing
from broadfront.backends.cpu.operators.each_once import each_once
from broadfront.backends.cpu.operators.prioritised import prioritised
from broadfront.backends.cpu.operators.queues import as_queue
from broadfront.backends.cpu.operators.sides import SIDES, recounted, turned
from broadfront.execution.frontiers import notices_twice, wanting_changes
from broadfront.execution.program import Program
from broadfront.kernel import inner
from broadfront.operators.describe import Advance


class LoweredAdvance(Lowering[Advance]):
    """How an `Advance` runs."""

    always_agrees = True

    def section(self, loop: Loop) -> Section:
        """Return the section of one iteration or, by a priority, of all."""
        operator, program, across = self.operator, loop.program, loop.across
        crossing = None if across is None else self._crossing(program, across)
        if operator.priority is None:
            return advance(
                operator, dict(program.fields), loop.names, crossing, notices_twice(program),
                wanting_changes(operator, program),
            )  # fmt: skip
        in_buckets = None
        if across is not None and crossing is not None:
            position = _position_by_search if across.relabelled else _position_by_owner
            in_buckets = BucketCrossing(
                crossing.is_ghost, crossing.collect, agree_on_bucket, position
            )
        return prioritised(operator, dict(program.fields), loop.place(operator.into), in_buckets)

    def whole(self, loop: Loop) -> Section:
        """Return the section with what makes the frontier ready for it, and for others."""
        operator, program = self.operator, loop.program
        sections: list[Section] = []
        if program.advances_back:
            agreement = None if loop.across is None else loop.across.agreement()
            sections.append(recounted(SIDES[operator.along], agreement))
        if not operator.may_pull and loop.may_pull:
            sections.append(as_queue)
        itself = [self.section(loop)]
        if "frontier_size" in program.names_read and operator.priority is None:
            itself.append(each_once)
        whole = chained([*sections, *self.between(loop, itself)])
        return turned(whole) if operator.along == "in" else whole

    def uses(self, several: bool) -> Uses:
        """Return the arrays of a push and of a pull; buckets do without on one device."""
        operator = self.operator
        if operator.priority is not None and not several:
            return Uses()
        balance = operator.balance or "by_degree"
        return Uses(
            marks=True, gathers=True, next_queue=True, bitmaps=operator.may_pull,
            hubs=balance == "by_degree", sums=balance == "by_edges",
            enters_again=operator.activate is not None,
        )  # fmt: skip

    def memory(self, program: Program, portion: Portion) -> Mapping[str, Any]:
        """Return buckets, if there is a priority."""
        operator, graph = self.operator, portion.graph
        if operator.priority is None:
            return {}
        return {"buckets": new_buckets(
            portion.space, portion.positions, portion.threads,
            program.fields[operator.into].storage,
            operator.width or sensible_width(graph, portion.several), graph.targets.dtype,
        )}  # fmt: skip

    def messages(self, bounds: Bounds) -> Iterator[NDArray[Any]]:
        """Give the sizes of proposals to owners, and of the frontier to ghosts."""
        operator, part = self.operator, bounds.part
        along = [operator.into] + ([operator.record_source] if operator.record_source else [])
        yield bounds.columns(part.ghosts, part.vertex_bytes + bounds.width(along), 3)
        with_it = bounds.plan.with_frontier.get(operator, ())
        columns = bounds.columns(part.shared, bounds.width(with_it), len(with_it))
        yield columns + (part.shared + 63) // 64 * 8

    def _crossing(self, program: Program, across: Across) -> Crossing:
        operator, into = self.operator, across.place(self.operator.into)
        source = operator.record_source
        field = program.fields[operator.into]
        with_it = across.plan.with_frontier.get(operator, {operator.into})
        announce = timed(announced(across.columns(with_it), across.relabelled))

        def collect(combine: Any, joins: Section) -> Section:
            proposals = Proposals(
                into, into if source is None else across.place(source),
                across.size(operator.into), across.vertex_bytes,
                0 if source is None else across.size(source), emptied_to(field),
            )  # fmt: skip
            return timed(collected(proposals, combine, joins, places(across.relabelled)))

        return Crossing(across.is_ghost, announce, collect, across.runs_on(operator))


@inner
def _position_by_search(vertex, graph, state):
    for position in range(graph.owned):
        if np.int64(state.ids[position]) == vertex:
            return np.int64(position)
    return np.int64(-1)


@inner
def _position_by_owner(vertex, graph, state):
    return vertex if graph.owner[vertex] == graph.device else np.int64(-1)

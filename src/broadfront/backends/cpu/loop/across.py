"""The sections that a program needs between its operators on many devices.

Around each operator: copies that have become stale are refreshed before it; what it proposed to
ghosts goes to their owners, and shared values are agreed upon, after it. One device needs none of
them, and its loop is as if there were no others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import nanoseconds, trip
from broadfront.backends.cpu.device.growing import EXCHANGED
from broadfront.backends.cpu.exchange.agree import agree_on, agreed, least, most, total
from broadfront.backends.cpu.exchange.announce import announced
from broadfront.backends.cpu.exchange.blocks import KERNEL
from broadfront.backends.cpu.exchange.by_level import count_levels, sort_shared, telling
from broadfront.backends.cpu.exchange.collect import Proposals, collected
from broadfront.backends.cpu.exchange.empty import emptied
from broadfront.backends.cpu.exchange.known import known
from broadfront.backends.cpu.exchange.lists import lists_brought
from broadfront.backends.cpu.exchange.places import places
from broadfront.backends.cpu.exchange.propose import Column, field_column, proposed
from broadfront.backends.cpu.exchange.refresh import offered, refreshed
from broadfront.backends.cpu.exchange.trees import uniting
from broadfront.backends.cpu.operators.advance import Crossing
from broadfront.backends.cpu.operators.buckets_across import BucketCrossing
from broadfront.backends.cpu.operators.combine import combining
from broadfront.backends.cpu.operators.intersect_part import IntersectCrossing
from broadfront.backends.cpu.operators.level_order import LevelCrossing
from broadfront.execution.plan import Plan, planned
from broadfront.execution.program import Program
from broadfront.kernel import inlined, inner
from broadfront.operators.describe import (
    Advance,
    Field,
    Filter,
    Intersect,
    Levels,
    Operator,
    Reduce,
    Unite,
)

Section = Callable[..., Any]


def timed(section: Section) -> Section:
    """Return a section that also counts its time as that of exchanging."""

    @inner
    def counted(rank, threads, control, graph, state, in_state, work, front, turn):
        began = nanoseconds()
        turn = section(rank, threads, control, graph, state, in_state, work, front, turn)
        if rank == 0:
            work.mail.account[EXCHANGED] += nanoseconds() - began
        return turn

    return counted


@inner
def _begin_kernel(rank, threads, control, graph, state, in_state, work, front, turn):
    if rank == 0:
        trip(control, KERNEL)
    return turn


@inlined
def _comes_after_owned(vertex, graph):
    return vertex >= graph.owned


@inlined
def _belongs_elsewhere(vertex, graph):
    return graph.owner[vertex] != graph.device


@inner
def _agree_on_bucket(rank, threads, control, work, front, turn, following, goal, edges, again):
    mail = work.mail
    turn = agree_on(rank, threads, control, mail, front, turn, following, goal, edges, again)
    following, goal = least(mail, front, 0), most(mail, front, 1)
    edges, again = total(mail, front, 2), total(mail, front, 3)
    return turn, following, goal, edges // mail.devices, again // mail.devices


@inner
def _agree_on_sum(rank, threads, control, work, front, turn, number):
    began = nanoseconds()
    turn = agree_on(rank, threads, control, work.mail, front, turn, number)
    if rank == 0:
        work.mail.account[EXCHANGED] += nanoseconds() - began
    return turn, total(work.mail, front, 0)


@inner
def _degrees_of(work):
    return work.lists.degree


@inner
def _counts_of(state, work):
    return work.lists.counts


@inner
def _position_by_search(vertex, graph, state):
    for position in range(graph.owned):
        if np.int64(state.ids[position]) == vertex:
            return np.int64(position)
    return np.int64(-1)


@inner
def _position_by_owner(vertex, graph, state):
    return vertex if graph.owner[vertex] == graph.device else np.int64(-1)


def _emptied_to(field: Field) -> Any:
    """Return what a copy is set to when its value has been sent; None where it stays."""
    return field.constant(field.neutral) if field.adds_up else None


class Across:
    """What comes around the operators of a program, its dtypes settled, on many devices."""

    def __init__(
        self, program: Program, names: tuple[str, ...], vertex: np.dtype[Any], relabelled: bool
    ) -> None:
        self.plan: Plan = planned(program, names, relabelled)
        self._program = program
        self._names = names
        self._vertex = vertex
        self._relabelled = relabelled

    def before(self, operator: Operator) -> list[Section]:
        """Return the sections before an operator."""
        sections: list[Section] = []
        if stale := self.plan.before.get(operator):
            sections.append(timed(refreshed(self._columns(stale))))
        sections += [
            emptied(self._names.index(name), _emptied_to(self._program.fields[name]))
            for name in sorted(self.plan.emptied[operator])
        ]
        return [*sections, _begin_kernel]

    def after(self, operator: Operator) -> list[Section]:
        """Return the sections after an operator."""
        shared = self.plan.agreed[operator]
        sections: list[Section] = []
        if changed := self.plan.proposed[operator]:
            columns = [self._proposal(name) for name in sorted(changed)]
            sections.append(timed(proposed(columns)))
        if isinstance(operator, Levels):
            return [*sections, timed(agreed(shared))] if operator in self.plan.carried else sections
        if shared or isinstance(operator, (Advance, Filter)):
            sections.append(timed(agreed(shared)))
        return sections

    @staticmethod
    def agreement() -> Section:
        """Return the section in which devices agree on the frontier alone."""
        return timed(agreed(()))

    def crossing(self, operator: Operator) -> Any:
        """Return what an operator needs that meets other devices while it runs."""
        match operator:
            case Advance(priority=None):
                return self._advance(operator)
            case Advance():
                is_ghost, _, collect, _ = self._advance(operator)
                position = _position_by_search if self._relabelled else _position_by_owner
                return BucketCrossing(is_ghost, collect, _agree_on_bucket, position)
            case Levels():
                return self._levels(operator)
            case Reduce(of_neighbor=True):
                return lambda offers_of: timed(offered(offers_of))
            case Intersect():
                return self._intersect()
            case Unite():
                into = self._names.index(operator.into)
                return uniting(into, self._vertex.itemsize, self._relabelled)
        return None

    def _intersect(self) -> IntersectCrossing:
        item = self._vertex.itemsize
        counts = Column(_counts_of, 8, combining(Field(np.int64, combine="sum")), 0)
        return IntersectCrossing(
            self._is_ghost, item, timed(offered(_degrees_of)),
            timed(lists_brought(known(self._relabelled), item)), timed(proposed([counts])),
            _agree_on_sum,
        )  # fmt: skip

    def _proposal(self, name: str) -> Column:
        field = self._program.fields[name]
        return field_column(
            self._names.index(name), self._size(name), combining(field), _emptied_to(field)
        )

    @property
    def _is_ghost(self) -> Callable[..., Any]:
        return _comes_after_owned if self._relabelled else _belongs_elsewhere

    def _levels(self, operator: Levels) -> LevelCrossing:
        by, told = self.plan.by_level[operator]
        carried = self.plan.carried.get(operator, ())
        tell = telling(
            self._columns(told), self._names.index(by), self._vertex.itemsize, carried,
            () if carried else self.plan.agreed[operator],
        )  # fmt: skip
        return LevelCrossing(count_levels, sort_shared, tell)

    def _advance(self, operator: Advance) -> Crossing:
        names, into = self._names, self._names.index(operator.into)
        field = self._program.fields[operator.into]
        record_source = (
            None if operator.record_source is None else names.index(operator.record_source)
        )
        trail_size = 0 if record_source is None else self._size(str(operator.record_source))
        with_it = self.plan.with_frontier.get(operator, {operator.into})
        announce = timed(announced(self._columns(with_it), self._relabelled))

        def collect(combine: Any, joins: Section) -> Section:
            proposals = Proposals(
                into, into if record_source is None else record_source, self._size(operator.into),
                self._vertex.itemsize, trail_size, _emptied_to(field),
            )  # fmt: skip
            return timed(collected(proposals, combine, joins, places(self._relabelled)))

        return Crossing(self._is_ghost, announce, collect, self._runs_on(operator))

    def _runs_on(self, operator: Advance) -> bool:
        """Tell whether a device may go on by itself: nothing but proposals ever crosses."""
        plan = self.plan
        if self._program.counters:  # of an iteration that all devices are in
            return False
        if plan.before.get(operator) or plan.proposed[operator] or plan.agreed[operator]:
            return False
        phases = [phase for phase in self._program.all_phases if operator in phase.step]
        return all(
            len(phase.step) == 1 and phase.limit is None and phase.until is None for phase in phases
        )

    def _columns(self, fields: set[str]) -> list[tuple[int, int]]:
        return [(self._names.index(name), self._size(name)) for name in sorted(fields)]

    def _size(self, name: str) -> int:
        return self._program.fields[name].storage.itemsize

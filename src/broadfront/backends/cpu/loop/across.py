"""The sections that a program needs between its operators on many devices.

Around each operator: copies that have become stale are refreshed before it; what it proposed to
ghosts goes to their owners, and shared values are agreed upon, after it. One device needs none of
them, and its loop is as if there were no others. What devices exchange while an operator runs is in
its lowering (`broadfront.backends.cpu.lowering`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import nanoseconds, trip
from broadfront.backends.cpu.device.growing import EXCHANGED
from broadfront.backends.cpu.exchange.agree import agree_on, agreed, least, most, total
from broadfront.backends.cpu.exchange.blocks import KERNEL
from broadfront.backends.cpu.exchange.empty import emptied
from broadfront.backends.cpu.exchange.propose import Column, field_column, proposed
from broadfront.backends.cpu.exchange.refresh import refreshed
from broadfront.backends.cpu.operators.combine import combining
from broadfront.execution.plan import Plan, planned
from broadfront.execution.program import Program
from broadfront.kernel import inlined, inner
from broadfront.operators.describe import Field, Operator

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
def agree_on_bucket(rank, threads, control, work, front, turn, following, goal, edges, again):
    """Have all devices agree on the next bucket and the goal's; what they did is on average."""
    mail = work.mail
    turn = agree_on(rank, threads, control, mail, front, turn, following, goal, edges, again)
    following, goal = least(mail, front, 0), most(mail, front, 1)
    edges, again = total(mail, front, 2), total(mail, front, 3)
    return turn, following, goal, edges // mail.devices, again // mail.devices


@inner
def agree_on_sum(rank, threads, control, work, front, turn, number):
    """Have all devices agree on the sum of a number."""
    began = nanoseconds()
    turn = agree_on(rank, threads, control, work.mail, front, turn, number)
    if rank == 0:
        work.mail.account[EXCHANGED] += nanoseconds() - began
    return turn, total(work.mail, front, 0)


def emptied_to(field: Field) -> Any:
    """Return what a copy is set to when its value has been sent; None where it stays."""
    return field.constant(field.neutral) if field.adds_up else None


class Across:
    """What comes around the operators of a program, its dtypes settled, on many devices."""

    def __init__(
        self, program: Program, names: tuple[str, ...], vertex: np.dtype[Any], relabelled: bool
    ) -> None:
        self.plan: Plan = planned(program, names, relabelled)
        self.relabelled = relabelled
        self.vertex_bytes = vertex.itemsize
        self._program = program
        self._names = names

    @property
    def is_ghost(self) -> Callable[..., Any]:
        """The compiled function that tells whether another device owns a vertex."""
        return _comes_after_owned if self.relabelled else _belongs_elsewhere

    def before(self, operator: Operator) -> list[Section]:
        """Return the sections before an operator."""
        sections: list[Section] = []
        if stale := self.plan.before.get(operator):
            sections.append(timed(refreshed(self.columns(stale))))
        sections += [
            emptied(self.place(name), emptied_to(self._program.fields[name]))
            for name in sorted(self.plan.emptied[operator])
        ]
        return [*sections, _begin_kernel]

    def after(self, operator: Operator, agrees: bool) -> list[Section]:
        """Return the sections after an operator; in the last, devices agree on shared values."""
        sections: list[Section] = []
        if changed := self.plan.proposed[operator]:
            columns = [self._proposal(name) for name in sorted(changed)]
            sections.append(timed(proposed(columns)))
        if agrees:
            sections.append(timed(agreed(self.plan.agreed[operator])))
        return sections

    @staticmethod
    def agreement() -> Section:
        """Return the section in which devices agree on the frontier alone."""
        return timed(agreed(()))

    def runs_on(self, operator: Operator) -> bool:
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

    def place(self, name: str) -> int:
        """Return where a field is in the state."""
        return self._names.index(name)

    def size(self, name: str) -> int:
        """Return the bytes of an element of a field."""
        return self._program.fields[name].storage.itemsize

    def columns(self, fields: Iterable[str]) -> list[tuple[int, int]]:
        """Return where fields are, and how large, in the order of their names."""
        return [(self.place(name), self.size(name)) for name in sorted(fields)]

    def _proposal(self, name: str) -> Column:
        field = self._program.fields[name]
        return field_column(self.place(name), self.size(name), combining(field), emptied_to(field))

"""Running a program in plain Python: ``devices="python"``.

Functors are called as they are, without a compiler: `print`, `breakpoint` and debuggers work in
them, every index is checked, and integers do not wrap. It takes microseconds for each edge, and is
what all other back ends are tested against.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.contract import Job
from broadfront.backends.python.course import new_course
from broadfront.backends.python.operators import do
from broadfront.backends.python.promises import (
    Promise,
    promises_of,
    refuse_broken,
    turned_around,
)
from broadfront.clock import Clock
from broadfront.execution.columns import refuse_columns
from broadfront.execution.fields import checked_start, fresh_fields, frontier_of
from broadfront.execution.parameters import values_of
from broadfront.execution.program import Phase
from broadfront.execution.refusals import refuse_everywhere
from broadfront.execution.repeat import Repeat
from broadfront.report.record import Record

Array = NDArray[Any]
Row = tuple[int, int, float]


class _Stopped(Exception):
    """The listener of a run has had enough of it."""


class PythonRun:
    """A run in plain Python, on one device that has the graph as it is."""

    def __init__(self, job: Job) -> None:
        self._clock = Clock()
        self._job, graph = job, job.graph
        self.program = job.program.on(graph.targets.dtype)
        refuse_everywhere(self.program)
        refuse_columns(self.program, graph, many=False)
        self._places = frontier_of(graph, job.frontier).tolist()
        self._begins = checked_start(self.program, job.init, graph)
        self._numbers = values_of(job.program, job.parameters)
        self._rows: list[Row] = []
        self._stopped = False

    def compile(self) -> None:
        """Leave functors as they are."""

    def allocate(self, kept: ExitStack) -> None:
        """Make the arrays of the answer."""
        self._arrays = fresh_fields(self.program, self._job.graph, self._begins, 1)

    def initialise(self) -> None:
        """Show the arrays to functors, as a state that checks every index."""
        self._course = new_course(
            self.program, self._job.graph, self._arrays, self._numbers, self._places
        )
        self._course.checked = self._job.checked

    def launch(self, time_limit: float | None) -> None:
        """Do nothing: `wait` does all of it."""

    def wait(self) -> bool:
        """Run all phases; once more for each promise, if everything is to be checked."""
        self._go_through(self.program.members)
        if self._job.checked:
            for promise in promises_of(self.program):
                refuse_broken(promise, self.program, self.collect(), self._otherwise(promise))
        return False

    def _otherwise(self, promise: Promise) -> tuple[Mapping[str, Array], NDArray[np.int64]]:
        """Return what another run comes to, in an order that a promise says does not matter."""
        graph, places = turned_around(self._job.graph)
        if not promise.turned:
            graph, places = self._job.graph, np.arange(graph.num_arcs)
        other = PythonRun(self._job._replace(graph=graph, checked=False))
        with ExitStack() as kept:
            other.allocate(kept)
        per_edge = [name for name, field in self.program.fields.items() if field.per == "edge"]
        for name in per_edge:
            other._arrays[name][:] = other._arrays[name][places]
        other.initialise()
        other._course.as_they_come = not promise.turned
        other.wait()
        for name in per_edge:  # turned around twice, a row is as it was
            other._arrays[name][:] = other._arrays[name][places]
        return other.collect()

    def iterations(self) -> int:
        """Return how many iterations there were so far."""
        return len(self._rows)

    def interrupt(self) -> None:
        """Have the next operator not begin."""
        self._stopped = True

    def record(self) -> Record:
        """Return the record: a row per iteration, without anything that only devices have."""
        return _recorded(self._rows, sum(map(_nbytes, self._arrays.values())), self._clock)

    def collect(self) -> tuple[Mapping[str, Array], NDArray[np.int64]]:
        """Return the arrays, and what is left in the frontier."""
        return self._arrays, np.array(self._course.frontier, np.int64)

    def _go_through(self, members: Sequence[Phase | Repeat]) -> None:
        """Run phases in order, and those of a `Repeat` round after round."""
        course = self._course
        for member in members:
            if isinstance(member, Phase):
                self._repeat(member)
                continue
            rounds, over = 0, False
            while not over and (member.limit is None or rounds < member.limit):
                self._go_through(member.phases)
                course.count(rounds)
                rounds += 1
                over = member.by_frontier and not course.frontier
                if member.until is not None:
                    over = course.once(member.until)

    def _repeat(self, phase: Phase) -> None:
        """Run a phase as often as it says, and note a row for each time that counts."""
        course, limit = self._course, phase.limit
        if limit is None and not phase.advances and phase.until is None:
            limit = 1
        times = 0
        while (limit is None or times < limit) and (course.frontier or not phase.advances):
            began, size = time.perf_counter(), len(course.frontier)
            course.count(times)
            for operator in phase.step:
                if self._stopped:
                    raise _Stopped
                do(operator, course)
            course.count(times)
            times += 1
            if phase.counts:
                self._rows.append((size, course.edges, (time.perf_counter() - began) * 1e6))
                course.edges = 0
            if phase.until is not None and course.once(phase.until):
                break


def _recorded(rows: list[Row], answer_bytes: int, clock: Clock) -> Record:
    sizes, edges, microseconds = np.array(rows, np.float64).reshape(-1, 3).T
    none = np.zeros(len(rows), np.int64)
    return Record(
        len(rows), np.ones(len(rows), np.int64), sizes.astype(np.int64), edges.astype(np.int64),
        none, none, microseconds, clock.run_seconds, clock.compile_seconds, clock.load_seconds,
        1, 0, 0, np.array([[answer_bytes, 0]], np.int64), prepare_seconds=clock.prepare_seconds,
    )  # fmt: skip


def _nbytes(array: Any) -> int:
    return int(array.nbytes)

"""Running a program in plain Python: ``devices="python"``.

Functors are called as they are, without a compiler: `print`, `breakpoint` and debuggers work in
them, every index is checked, and integers do not wrap. It takes microseconds for each edge, and is
what all other back ends are tested against.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from broadfront.backends.cpu.alone import frontier_of
from broadfront.backends.python.course import Course, new_course
from broadfront.backends.python.operators import do
from broadfront.clock import Allowance, Clock
from broadfront.errors import OptionError
from broadfront.execution.answer import Answer
from broadfront.execution.columns import refuse_columns
from broadfront.execution.fields import answered, checked_start, fresh_fields
from broadfront.execution.parameters import values_of
from broadfront.execution.program import Phase, Program
from broadfront.execution.refusals import refuse_everywhere
from broadfront.execution.repeat import Repeat
from broadfront.graph.csr import Graph
from broadfront.progress import Listener, listening, report
from broadfront.report.record import Record

PYTHON = "python"
"""What `devices=` calls it."""
Row = tuple[int, int, float]


def run_in_python(
    program: Program,
    graph: Graph,
    frontier: ArrayLike,
    start: Mapping[str, Any],
    parameters: Mapping[str, float],
    *,
    time_limit: float | None = None,
    progress: Listener | None = None,
) -> Answer:
    """Run `program` on `graph`; see `broadfront.run`."""
    clock = Clock()
    settled = program.on(graph.targets.dtype)
    refuse_everywhere(settled)
    refuse_columns(settled, graph, many=False)
    places = frontier_of(graph, frontier).tolist()
    begins = checked_start(settled, start, graph)
    arrays = fresh_fields(settled, graph, begins, 1)
    course = new_course(settled, graph, arrays, values_of(program, parameters), places)
    rows: list[Row] = []
    with Allowance(time_limit), listening(progress):
        _go_through(settled.members, course, rows)
    left = np.array(course.frontier, np.int64)
    record = _recorded(rows, sum(map(_nbytes, arrays.values())), clock)
    return Answer(answered(settled, arrays), left, record)


def in_python(where: Mapping[str, Any], how: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a run's options that mean anything here; refuse what asks for more."""
    for name in where.keys() - {"devices"}:
        raise OptionError(f"{name}= is for devices with a memory of their own; 'python' has none")
    return {name: how[name] for name in ("time_limit", "progress") if name in how}


def _go_through(members: Sequence[Phase | Repeat], course: Course, rows: list[Row]) -> None:
    """Run phases in order, and those of a `Repeat` round after round."""
    for member in members:
        if isinstance(member, Phase):
            _repeat(member, course, rows)
            continue
        rounds, over = 0, False
        while not over and (member.limit is None or rounds < member.limit):
            _go_through(member.phases, course, rows)
            course.count(rounds)
            rounds += 1
            over = member.by_frontier and not course.frontier
            if member.until is not None:
                over = course.once(member.until)


def _repeat(phase: Phase, course: Course, rows: list[Row]) -> None:
    """Run a phase as often as it says, and note a row for each time that counts."""
    limit = phase.limit
    if limit is None and not phase.advances and phase.until is None:
        limit = 1
    times = 0
    while (limit is None or times < limit) and (course.frontier or not phase.advances):
        began, size = time.perf_counter(), len(course.frontier)
        steps = phase.step if not phase.alternate else [phase.step[times % len(phase.step)]]
        course.count(times)
        for operator in steps:
            do(operator, course)
        course.count(times)
        times += 1
        if phase.counts:
            rows.append((size, course.edges, (time.perf_counter() - began) * 1e6))
            course.edges = 0
            report(course.program.name, len(rows), 0)
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

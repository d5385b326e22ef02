"""Running a program asynchronously: the parts of a graph, a worker each, mailboxes between them.

What each device gets is what it gets for the bulk-synchronous loop: its part, fields with copies of
its neighbours, and a share of the frontier. Only one thread works for a device, and for several if
there are more devices than cores.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.contract import Job
from broadfront.backends.cpu.asynchronous import mailbox, termination, worklist
from broadfront.backends.cpu.asynchronous.desk import JITTER, WORDS, Desk, Links
from broadfront.backends.cpu.asynchronous.log import new_log
from broadfront.backends.cpu.asynchronous.record import recorded
from broadfront.backends.cpu.asynchronous.roster import new_roster
from broadfront.backends.cpu.asynchronous.rules import rules_of
from broadfront.backends.cpu.asynchronous.serving import new_gathered
from broadfront.backends.cpu.asynchronous.worker import GOING, worker
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device import workspace as workspaces
from broadfront.backends.cpu.exchange.places import places
from broadfront.backends.cpu.many import rows_of, share_of, states_of
from broadfront.backends.cpu.operators import frontier
from broadfront.backends.cpu.operators.buckets import WINDOW
from broadfront.backends.cpu.split_run import SplitRun, split_run
from broadfront.backends.cpu.transports import current
from broadfront.clock import Clock, preparing
from broadfront.errors import OptionError
from broadfront.execution.asynchronous.allowed import asynchronous
from broadfront.execution.asynchronous.settings import Async
from broadfront.execution.asynchronous.step import only_step
from broadfront.execution.faults import COMPILE_ERRORS, explained
from broadfront.execution.fields import Places
from broadfront.execution.loops import made_once, may_not_end
from broadfront.execution.plan import Plan, planned
from broadfront.execution.program import Program
from broadfront.execution.refusals import refuse_elements
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition
from broadfront.report.record import Record
from broadfront.threads import available

Array = NDArray[Any]

WITHOUT_END = 1 << 62
BATCH = 1
"""Steps of a call from Python, where the worker is not fused."""
BAND = 64
"""Buckets that a device may be ahead at most, where nobody says."""


class One(NamedTuple):
    """One device of a run."""

    part: Part
    space: workspaces.Workspace
    fields: dict[str, Array]
    rows: frontier.Rows
    state: Any
    desk: Desk


class AsynchronousRun:
    """A run on devices that never meet, as a worker on each."""

    def __init__(self, job: Job, partition: Partition, how: Async) -> None:
        if current().apart:
            raise OptionError(
                "devices in processes of their own take no execution='async': leave it out"
            )
        self._clock, self._how = job.clock or Clock(), how
        written = asynchronous(job.program, partition.graph, job.frontier, job.init)
        self._job = job._replace(program=written)
        self._partition = partition
        self._split = split_run(self._job, partition)
        self.program = self._split.program
        self._operator = only_step(self.program).advance
        self._looks_back = written.looks_back(False)

    def compile(self) -> None:
        """Make the worker, which is compiled when it is first called, and the plan of copies."""
        split, job = self._split, self._job
        self._loop, self._plan = _worker(
            job.program, self._partition.graph, split.names, split.relabel, self._how.priority,
            job.checked,
        )  # fmt: skip

    def allocate(self, kept: ExitStack) -> None:
        """Split the graph and its columns, borrow a workspace for each device, make mailboxes."""
        split, how = self._split, self._how
        with preparing():
            self._parts = split.parts(self._looks_back)
            self._along = split.columns.in_parts(self._partition, split.relabel, self._looks_back)
        self._spaces = kept.enter_context(workspaces.borrowed_many(len(self._parts)))
        self._fields = split.fields(self._parts, self._spaces, self._plan, self._looks_back)
        operator = self._operator
        self._rings = mailbox.new_rings(
            self._spaces[0], self._parts, self.program.fields[operator.into].storage,
            self._partition.graph.targets.dtype, operator.record_source is not None, how.packet,
            how.slots,
        )  # fmt: skip
        self._board = termination.new_board(len(self._parts))
        self._roster = new_roster(len(self._parts))
        own_threads = self._job.jitter % 2 == 1  # in some tests, for more interleavings
        self._threads = min(len(self._parts), len(self._parts) if own_threads else available())

    def initialise(self) -> None:
        """Make every device ready: rows, what functors see, and a desk with its frontier."""
        width = _width(self._split, self._operator)
        self._crew = [
            self._one(number, part, space, width)
            for number, (part, space) in enumerate(zip(self._parts, self._spaces, strict=True))
        ]

    def _one(self, number: int, part: Part, space: workspaces.Workspace, width: float) -> One:
        split, fields, partition = self._split, self._fields, self._partition
        rows = rows_of(part, partition, self.program)
        out, incoming = states_of(
            self.program, split.names, part, rows, fields.arrays[number], split.numbers,
            self._along[number],
        )  # fmt: skip
        links = Links(
            number, len(self._parts), self._rings, mailbox.new_outbox(space, part), self._board,
            part.ghost_starts, part.shared_starts, part.shared,
            None if part.relabelled else partition.owner, fields.field_io[number],
        )  # fmt: skip
        if self._operator.along == "in":
            rows, out = _turned(rows), incoming
        desk = self._desk(part, space, links, width)
        return One(part, space, fields.arrays[number], rows, out, desk)

    def _desk(self, part: Part, space: workspaces.Workspace, links: Links, width: float) -> Desk:
        """Return what a device works with."""
        words, how, split = np.zeros(WORDS, np.int64), self._how, self._split
        if self._job.jitter:
            words[JITTER] = self._job.jitter * 0x9E3779B9 + part.device + 1
        ring, blocks = worklist.new_ring(space, part.owned, part.targets.dtype)
        most = WITHOUT_END if not how.priority else BAND if how.band is None else int(how.band)
        least = 0 if how.priority and how.band is None else most
        pending, served = (
            space.array(name, (part.positions + 63) // 64, np.uint64)
            for name in ("pending", "served")
        )
        queue = share_of(part, split.queue, split.partition)
        storage = self.program.fields[self._operator.into].storage
        gathered = new_gathered(space, storage, part.targets.dtype)
        return Desk(
            words, pending, served, ring, gathered, blocks, 1.0 / width, least, most, queue,
            len(queue), links, new_log(space, part.count), self._roster, self._threads,
        )  # fmt: skip

    def launch(self, time_limit: float | None) -> None:
        """Keep the time that is left."""
        self._time_limit = time_limit

    def wait(self) -> bool:
        """Run the workers of all devices."""
        crew = self._crew
        arguments = [(one.rows, one.state, one.desk) for one in crew]
        threads = [1] * self._threads + [0] * (len(crew) - self._threads)
        team = self._spaces[0].team
        try:
            team.reset(None, len(crew))
            for number in range(self._threads, len(crew)):  # others take turns at these
                self._loop(0, 1, team.control[number], *arguments[number], 0)
            team.run(
                _driven(self._loop, self._how.fused), threads, arguments,
                time_limit=self._time_limit, fault=self._job.fault,
                may_not_end=may_not_end(self._job.program),
            )  # fmt: skip
        except COMPILE_ERRORS as error:
            raise explained(error, self._job.program, crew[0].state) from error
        return False

    def iterations(self) -> int:
        """Return how many vertices were served so far: there are no iterations."""
        return int(sum(one.desk.words[worklist.CONSUMED] for one in self._crew))

    def interrupt(self) -> None:
        """Have all workers stop at their next poll."""
        control.interrupt(self._spaces[0].team.control)

    def record(self) -> Record:
        """Return the record of the run, gathered from all devices."""
        name = self._partition.name
        return recorded(self._crew, self._job.devices, self._clock, self._how, name)

    def collect(self) -> tuple[Mapping[str, Array], NDArray[np.int64]]:
        """Return what owners have brought home; nothing is ever left to do."""
        return self._fields.collected(), np.empty(0, np.int64)


def _worker(
    program: Program,
    graph: Graph,
    names: tuple[str, ...],
    relabel: bool,
    priority: bool,
    checked: bool,
) -> tuple[Any, Plan]:
    """Return the compiled worker of a program, and what copies it needs; made once."""
    vertex = graph.targets.dtype

    def make() -> tuple[Any, Plan]:
        settled = program.on(vertex)
        plan = planned(settled, names, relabel)
        refuse_elements(settled)
        rules = rules_of(
            only_step(settled), dict(settled.fields), names, places(relabel), relabel, priority
        )
        return worker(rules), plan

    return made_once(program, ("async", vertex, relabel, priority, names), make, checked)


def _driven(loop: Any, fused: bool) -> Any:
    """Return what each device's thread calls: the worker without end, or again and again."""
    if fused:
        return _Fused(loop)

    def by_host(*arguments: Any) -> int:
        answer = GOING
        while answer == GOING:
            answer = int(loop(*arguments, BATCH))
        return answer

    return by_host


class _Fused:
    """The worker, called once."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop

    @property
    def overloads(self) -> Any:
        """What it has been compiled for."""
        return getattr(self._loop, "overloads", True)

    def __call__(self, *arguments: Any) -> int:
        return int(self._loop(*arguments, WITHOUT_END))


def _width(split: SplitRun, operator: Advance) -> float:
    """Return the width of a bucket; where values are the order, the first ones lie in one ring."""
    program, graph = split.program, split.partition.graph
    width = worklist.bucket_width(operator, graph, program.reads_weights)
    given = split.begins.get(operator.into)
    if given is None or not worklist.has_implied_priority(operator, program.fields[operator.into]):
        return width
    values = given.values if isinstance(given, Places) else given[split.queue]
    if len(values) == 0:
        return width
    return max(width, (float(values.max()) - float(values.min())) / WINDOW)


def _turned(rows: frontier.Rows) -> frontier.Rows:
    return rows._replace(
        offsets=rows.in_offsets, targets=rows.in_targets, in_offsets=rows.offsets,
        in_targets=rows.targets,
    )  # fmt: skip

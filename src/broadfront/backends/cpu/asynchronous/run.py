"""Running a program asynchronously: the parts of a graph, a worker each, mailboxes between them.

What each device gets is what it gets for the bulk-synchronous loop: its part, fields with copies of
its neighbours, and a share of the frontier. Only one thread of each device works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.backends.cpu.alone import frontier_of
from broadfront.backends.cpu.asynchronous import mailbox, termination, worklist
from broadfront.backends.cpu.asynchronous.desk import JITTER, WORDS, Desk, Links
from broadfront.backends.cpu.asynchronous.rules import rules_of
from broadfront.backends.cpu.asynchronous.serving import new_gathered
from broadfront.backends.cpu.asynchronous.worker import GOING, worker
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device import workspace as workspaces
from broadfront.backends.cpu.device.team import Team
from broadfront.backends.cpu.exchange.places import places
from broadfront.backends.cpu.many import rows_of, share_of, states_of
from broadfront.backends.cpu.operators import frontier
from broadfront.backends.cpu.operators.buckets import WINDOW
from broadfront.backends.cpu.transports import current
from broadfront.clock import Allowance, Clock, preparing
from broadfront.devices.choose import Device
from broadfront.errors import OptionError
from broadfront.execution.answer import Answer
from broadfront.execution.asynchronous.allowed import asynchronous, only_advance
from broadfront.execution.asynchronous.settings import Async
from broadfront.execution.columns import InPart, columns_read, refuse_columns
from broadfront.execution.faults import COMPILE_ERRORS, explained
from broadfront.execution.fields import (
    Places,
    Start,
    answer_arrays,
    answered,
    checked_start,
    packed,
    part_fields,
)
from broadfront.execution.loops import made_once, may_not_end
from broadfront.execution.parameters import values_of
from broadfront.execution.plan import Plan, planned
from broadfront.execution.program import Program
from broadfront.execution.refusals import needs_ids, refuse_elements
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition
from broadfront.progress import following
from broadfront.report.asynchronous import recorded

Array = NDArray[Any]

WITHOUT_END = 1 << 62
BATCH = 1
"""Steps of a call from Python, where the worker is not fused."""
BAND = 64
"""Buckets that a device may be ahead."""


class One(NamedTuple):
    """One device of a run."""

    part: Part
    space: workspaces.Workspace
    fields: dict[str, Array]
    rows: frontier.Rows
    state: Any
    desk: Desk


class Setup(NamedTuple):
    """What is the same for all devices of a run; dtypes are settled."""

    program: Program
    operator: Advance
    names: tuple[str, ...]
    partition: Partition
    parts: Sequence[Part]
    along: Sequence[InPart]
    numbers: Sequence[float]
    begins: Start
    queue: Array
    how: Async
    jitter: int


def run_asynchronously(
    program: Program,
    partition: Partition,
    devices: Sequence[Device],
    starting: ArrayLike,
    start: Mapping[str, Any],
    parameters: Mapping[str, float],
    *,
    how: Async,
    relabel: bool | None = None,
    time_limit: float | None = None,
    checked: bool = False,
    fault: tuple[int, int, int] | None = None,
    jitter: int = 0,
    clock: Clock | None = None,
) -> Answer:
    """Run `program` on the parts of a graph, each on a device; see `broadfront.execution.run`.

    `fault` makes a device fail, for tests, and `jitter` is the seed of random delays.
    """
    if current().apart:
        raise OptionError(
            "devices in processes of their own take no execution='async': leave it out"
        )
    clock = clock or Clock()
    graph = partition.graph
    program = asynchronous(program, graph, starting, start)
    settled = program.on(graph.targets.dtype)
    relabel = not needs_ids(settled) if relabel is None else relabel
    numbers = values_of(program, parameters)
    begins = checked_start(settled, start, graph)
    queue = frontier_of(graph, starting)
    columns = columns_read(program, graph)
    refuse_columns(program, graph, many=True)
    names = program.state_names_with(columns.names)
    looks_back = program.looks_back(False)
    with Allowance(time_limit) as time_left:
        with preparing():
            parts = partition.parts(relabel=relabel, looks_back=looks_back)
            along = columns.in_parts(partition, relabel, looks_back)
        loop, plan = _worker(program, graph, names, relabel, how.priority, checked)
        setup = Setup(
            settled, only_advance(settled), names, partition, parts, along, numbers, begins,
            queue, how, jitter,
        )  # fmt: skip
        with workspaces.borrowed_many(len(parts)) as spaces:
            answer = answer_arrays(settled, graph)
            crew = _crew(setup, spaces, plan, answer)
            _go(program, _driven(loop, how.fused), spaces[0].team, crew, time_left(), fault)
            record = recorded(crew, devices, clock, how)
    for name, whole in answer.items():
        if settled.fields[name].length is not None:
            whole[:] = crew[0].fields[name]
    return Answer(answered(settled, answer), np.empty(0, np.int64), record)


def _crew(
    setup: Setup,
    spaces: Sequence[workspaces.Workspace],
    plan: Plan,
    answer: Mapping[str, Array],
) -> list[One]:
    """Make all devices ready: fields, mailboxes, and shares of the frontier."""
    program, partition, parts, how = setup.program, setup.partition, setup.parts, setup.how
    operator, vertex = setup.operator, partition.graph.targets.dtype
    arrays = part_fields(program, parts, spaces, plan.copies)
    luggage = packed(program, partition, parts, arrays, plan.adding, setup.begins, answer)
    rings = mailbox.new_rings(
        spaces[0], parts, program.fields[operator.into].storage, vertex,
        operator.record_source is not None, how.packet, how.slots,
    )  # fmt: skip
    board, width = termination.new_board(len(parts)), _width(setup)
    crew = []
    for number, (part, space) in enumerate(zip(parts, spaces, strict=True)):
        rows = rows_of(part, partition, program)
        out, incoming = states_of(
            program, setup.names, part, rows, arrays[number], setup.numbers, setup.along[number]
        )
        links = Links(
            number, len(parts), rings, mailbox.new_outbox(space, part), board, part.ghost_starts,
            part.shared_starts, part.shared, None if part.relabelled else partition.owner,
            luggage[number],
        )  # fmt: skip
        if operator.along == "in":
            rows, out = _turned(rows), incoming
        crew.append(
            One(part, space, arrays[number], rows, out, _desk(setup, part, space, links, width))
        )
    return crew


def _go(
    program: Program,
    loop: Any,
    team: Team,
    crew: Sequence[One],
    time_limit: float | None,
    fault: tuple[int, int, int] | None,
) -> None:
    """Run the workers of all devices."""
    arguments = [(one.rows, one.state, one.desk) for one in crew]
    try:
        with following(
            program.name, lambda: _served(crew), lambda: control.interrupt(team.control)
        ):
            team.run(
                loop, [1] * len(crew), arguments, time_limit=time_limit, fault=fault,
                may_not_end=may_not_end(program),
            )  # fmt: skip
    except COMPILE_ERRORS as error:
        raise explained(error, program, crew[0].state) from error


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
            only_advance(settled), dict(settled.fields), names, places(relabel), relabel, priority
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


def _desk(
    setup: Setup, part: Part, space: workspaces.Workspace, links: Links, width: float
) -> Desk:
    """Return what a device works with."""
    words, how, into = np.zeros(WORDS, np.int64), setup.how, setup.operator.into
    if setup.jitter:
        words[JITTER] = setup.jitter * 0x9E3779B9 + part.device + 1
    ring, blocks = worklist.new_ring(space, part.owned, part.targets.dtype)
    band = WITHOUT_END if not how.priority else BAND if how.band is None else int(how.band)
    pending = space.array("pending", (part.positions + 63) // 64, np.uint64)
    queue = share_of(part, setup.queue, setup.partition)
    gathered = new_gathered(space, setup.program.fields[into].storage, part.targets.dtype)
    return Desk(words, pending, ring, gathered, blocks, 1.0 / width, band, queue, len(queue), links)


def _width(setup: Setup) -> float:
    """Return the width of a bucket; where values are the order, the first ones lie in one ring."""
    program, graph = setup.program, setup.partition.graph
    operator = setup.operator
    width = worklist.bucket_width(operator, graph, program.reads_weights)
    given = setup.begins.get(operator.into)
    if given is None or not worklist.has_implied_priority(operator, program.fields[operator.into]):
        return width
    values = given.values if isinstance(given, Places) else given[setup.queue]
    if len(values) == 0:
        return width
    return max(width, (float(values.max()) - float(values.min())) / WINDOW)


def _turned(rows: frontier.Rows) -> frontier.Rows:
    return rows._replace(
        offsets=rows.in_offsets, targets=rows.in_targets, in_offsets=rows.offsets,
        in_targets=rows.targets,
    )  # fmt: skip


def _served(crew: Sequence[One]) -> int:
    """Return how many vertices were served so far."""
    return int(sum(one.desk.words[worklist.CONSUMED] for one in crew))

"""Running a program on many devices, each with its own part of the graph and its own memory.

Every device gets its part, fields for the vertices of the part and for copies of their neighbours,
and a share of the starting frontier; all run the same compiled loop, on their own threads, and meet
in it through the mail alone. When it is over, what the owners hold is put together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.contract import Job
from broadfront.backends.cpu.alone import left_in
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device import workspace as workspaces
from broadfront.backends.cpu.device.mail import Post
from broadfront.backends.cpu.device.team import Team
from broadfront.backends.cpu.field_io import FieldIO
from broadfront.backends.cpu.loop.across import Across
from broadfront.backends.cpu.loop.fused import fused
from broadfront.backends.cpu.loop.numbers import numbers_of
from broadfront.backends.cpu.memory.equip import Setting, directions, mail_for, portion_of
from broadfront.backends.cpu.memory.need import (
    Case,
    allow,
    array_bytes,
    held_by,
    memory_error,
    refuse,
)
from broadfront.backends.cpu.memory.work import work_for
from broadfront.backends.cpu.operators import frontier, tiles
from broadfront.backends.cpu.record.gathered import gathered
from broadfront.backends.cpu.record.needs import needs
from broadfront.backends.cpu.split_run import split_run
from broadfront.backends.cpu.transports import Transport, current
from broadfront.clock import Clock, preparing
from broadfront.devices.choose import Device
from broadfront.devices.profile import largest
from broadfront.errors import DeviceMemoryError
from broadfront.execution.columns import InPart
from broadfront.execution.far import far_names, ids_where_kept
from broadfront.execution.faults import COMPILE_ERRORS, explained
from broadfront.execution.loops import made_once, may_not_end
from broadfront.execution.plan import Plan
from broadfront.execution.program import Program
from broadfront.execution.states import state_class
from broadfront.graph.csr import Graph
from broadfront.partition.outline import Outline
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition
from broadfront.report.record import Record

Array = NDArray[Any]


class RunOnMany:
    """A run on many devices that go from iteration to iteration together."""

    def __init__(self, job: Job, partition: Partition) -> None:
        self._clock, self._transport = job.clock or Clock(), current()
        self._job, self._partition = job, partition
        self._split = split_run(job, partition)
        self.program = self._split.program
        graph, program = partition.graph, job.program
        self._large, in_tiles, looks_back = directions(program, graph, self._split.relabel)
        self._in_tiles, self._looks_back = in_tiles, looks_back
        threads = max(device.threads for device in job.devices)
        self._case = Case(
            self.program, graph, len(self._split.queue), threads, job.memory, partition,
            self._split.relabel,
        )  # fmt: skip

    def compile(self) -> None:
        """Make the loop, compiled when it is first called, and the plan of what crosses."""
        with preparing():
            refuse(self._case, self._job.memory_limit)
        split = self._split
        self._loop, self._plan = _loop(
            self._job.program, self._partition.graph, split.names, self._large, split.relabel,
            self._job.checked,
        )  # fmt: skip

    def allocate(self, kept: ExitStack) -> None:
        """Split the graph and its columns, and borrow a workspace for each device."""
        partition, split = self._partition, self._split
        with preparing():
            self._layouts = _layouts(partition, self._in_tiles)
            self._parts = split.parts(self._looks_back)
            relabel, looks_back = split.relabel, self._looks_back
            self._outlines = partition.outlines(relabel=relabel, looks_back=looks_back)
            self._along = split.columns.in_parts(partition, relabel, looks_back)
        anew = self._job.memory_limit is not None
        self._spaces = kept.enter_context(workspaces.borrowed_many(len(self._parts), anew))
        self._post = self._spaces[0].post(len(self._parts), without_boxes=anew)
        self._fields = split.fields(self._parts, self._spaces, self._plan, self._looks_back)

    def initialise(self) -> None:
        """Make every device ready: mail, memory, its share of the frontier."""
        job, split = self._job, self._split
        setting = Setting(
            self.program, self._plan, split.names, self._partition, split.numbers, split.queue,
            job.memory, job.memory_limit is not None, self._looks_back, split.columns,
        )  # fmt: skip
        fields = self._fields
        self._crew = [
            _prepare(setting, part, self._outlines[number], space, fields.arrays[number],
                     fields.field_io[number], self._layouts[number], job.devices[number],
                     self._post, self._along[number], self._transport)
            for number, (part, space) in enumerate(zip(self._parts, self._spaces, strict=True))
        ]  # fmt: skip
        _tell_all(self._crew, len(split.queue), self._partition.graph.num_arcs)

    def launch(self, time_limit: float | None) -> None:
        """Let what grows take what the memory limit leaves of it."""
        self._time_limit = time_limit
        for number, one in enumerate(self._crew):
            allow(self._case, one.work.account, held_by(one), self._job.memory_limit, number)

    def wait(self) -> bool:
        """Run the loop on the threads of all devices."""
        crew, job, transport = self._crew, self._job, self._transport
        team = self._spaces[0].team
        arguments = [(one.rows, one.state, one.in_state, one.work) for one in crew]
        try:
            with connected(transport, self._post, crew, team):
                self._iterations = int(
                    team.run(
                        self._loop, [device.threads for device in job.devices], arguments,
                        time_limit=self._time_limit, fault=job.fault,
                        may_not_end=may_not_end(self.program),
                        here=[number for number in range(len(crew))
                              if transport.runs_here(number)],
                    )
                )  # fmt: skip
        except COMPILE_ERRORS as error:
            raise explained(error, self.program, crew[0].state) from error
        except DeviceMemoryError as error:
            held = held_by(crew[error.device])
            raise memory_error(self._case, error, held, job.memory_limit) from None
        answer = self._fields.answer
        self._left = brought_together(transport, self.program, crew, answer)
        return False

    def iterations(self) -> int:
        """Return how many iterations there were so far on the first device."""
        return int(self._crew[0].work.fronts[frontier.ITERATION])

    def interrupt(self) -> None:
        """Have all threads of all devices stop at their next poll."""
        control.interrupt(self._spaces[0].team.control)

    def record(self) -> Record:
        """Return the record of the run, gathered from all devices."""
        crew, program = self._crew, self._job.program
        profile = largest(needs(program, self._partition.graph, one.work, one.outline)
                          for one in crew)  # fmt: skip
        return gathered(
            crew, self._job.devices, self._iterations, self._clock, self._spaces[0].team, profile,
            self._partition.name,
        )  # fmt: skip

    def collect(self) -> tuple[Mapping[str, Array], NDArray[np.int64]]:
        """Return what owners have brought home, and what is left in their frontiers."""
        return self._fields.collected(), np.sort(np.concatenate(self._left))


def _layouts(partition: Partition, in_tiles: bool) -> Sequence[tiles.Tiles | None]:
    """Return the tiles of each part, or nothing for each."""
    if not in_tiles:
        return [None] * partition.count
    return partition.kept("tiles", tiles.tiles_of_part)


class One(NamedTuple):
    """One device of a run: its part, its arrays, and what its loop is called with."""

    part: Part
    outline: Outline
    space: workspaces.Workspace
    fields: dict[str, Array]
    rows: frontier.Rows
    state: Any
    in_state: Any
    work: frontier.Work
    edges: int
    extra_bytes: int
    """Of the tiles of its part, and of its columns."""


def _loop(
    program: Program,
    graph: Graph,
    names: tuple[str, ...],
    large: bool,
    relabel: bool,
    checked: bool,
) -> tuple[Any, Plan]:
    """Return the loop of a program on many devices, and what crosses in it; made once."""
    vertex = graph.targets.dtype

    def make() -> tuple[Any, Plan]:
        settled = program.on(vertex)
        across = Across(settled, names, vertex, relabel)
        return fused(settled, names, large, across), across.plan

    return made_once(program, ("many", vertex, large, relabel, names), make, checked)


def _prepare(
    setting: Setting,
    part: Part,
    outline: Outline,
    space: workspaces.Workspace,
    fields: dict[str, Array],
    field_io: FieldIO,
    layout: tiles.Tiles | None,
    device: Device,
    post: Post,
    along: InPart,
    transport: Transport,
) -> One:
    """Make one device ready: mail, memory, and its share of the frontier."""
    partition, threads = setting.partition, device.threads
    rows = rows_of(part, partition, setting.program)
    mail = mail_for(setting, part, outline, post, space, threads, field_io, transport)
    work = work_for(
        setting.program, portion_of(setting, outline, space, threads, layout),
        min(part.owned, len(setting.queue)), mail, setting.memory, setting.anew,
    )  # fmt: skip
    state, in_state = states_of(
        setting.program, setting.names, part, rows, fields, setting.numbers, along
    )
    edges = _start(part, work, rows, setting.queue, partition)
    extra = along.nbytes + (0 if layout is None else array_bytes(layout))
    return One(part, outline, space, fields, rows, state, in_state, work, edges, extra)


def _tell_all(crew: Sequence[One], size: int, arcs: int) -> None:
    """Tell every device how large the frontier is on all of them."""
    edges = sum(one.edges for one in crew)
    for one in crew:
        fronts = one.work.fronts.reshape(-1, frontier.FRONT_WORDS)
        fronts[:, frontier.ALL_SIZE] = size
        fronts[:, frontier.ALL_EDGES] = edges
        fronts[:, frontier.UNEXPLORED] = fronts[:, frontier.ARCS] = arcs


@contextmanager
def connected(transport: Transport, post: Post, crew: Sequence[One], team: Team) -> Iterator[None]:
    """Have a transport carry what the devices of a run send, and end it however the run ends."""
    if not transport.apart:
        yield
        return
    team.reset(None, len(crew))
    transport.begin(post, [one.work.mail for one in crew], team.control)
    failed = True
    try:
        yield
        failed = False
    finally:
        transport.end(team.control, failed)


def brought_together(
    transport: Transport, program: Program, crew: Sequence[One], answer: Mapping[str, Array]
) -> list[Array]:
    """Return the vertices left in each device's frontier, when all that devices have left is here.

    Of those that run in other processes that is what they tell, put where they would have left it.
    """
    if not transport.apart:
        return [_left(one) for one in crew]
    (own,) = (one for number, one in enumerate(crew) if transport.runs_here(number))
    told = transport.gather(([array.copy() for array in _memory_of(own)], _left(own)))
    for one, (arrays, _) in zip(crew, told, strict=True):
        if one is own:
            continue
        for here, there in zip(_memory_of(one), arrays, strict=True):
            here[:] = there
        for name in filter(lambda name: program.fields[name].per_vertex, answer):
            ids, values = one.part.owned_ids, one.fields[name]
            answer[name][ids] = values[: len(ids)] if one.part.relabelled else values[ids]
    return [left for _, left in told]


def _memory_of(one: One) -> list[Array]:
    """Return the arrays in which a device leaves its fields and what its record is made of."""
    work, mail = one.work, one.work.mail
    return [*one.fields.values(), work.record, work.fronts, work.account, mail.log, mail.sent,
            mail.asked]  # fmt: skip


def _left(one: One) -> Array:
    """Return the ids of the vertices left in a device's frontier."""
    places = left_in(one.work, one.part.positions)
    if one.part.ids is None:
        return places
    ids: Array = one.part.ids[places].astype(np.int64)
    return ids


def states_of(
    program: Program,
    names: tuple[str, ...],
    part: Part,
    rows: frontier.Rows,
    fields: Mapping[str, Array],
    numbers: Sequence[float],
    along: InPart,
) -> tuple[Any, Any]:
    """Return what functors of a device see, of outgoing and of incoming edges."""
    far = far_names(program)
    make = state_class(names, far)
    in_weights = part.weights if part.in_offsets is None else part.in_weights
    in_weight = program.in_weights(in_weights)
    ids = part.ids if part.ids is not None else ids_where_kept(far, part.num_vertices)
    tail = (*rows[:4], part.num_vertices, ids, in_weight, *(0 for _ in program.counters))
    common = (*fields.values(), *numbers)
    return (
        make(*common, *along.out, program.weights(part.weights), *tail),
        make(*common, *along.incoming, program.weights(in_weights), *tail),
    )


def rows_of(part: Part, partition: Partition, program: Program) -> frontier.Rows:
    """Return the part of a device as kernels see it."""
    in_offsets = part.offsets if part.in_offsets is None else part.in_offsets
    in_targets = part.targets if part.in_targets is None else part.in_targets
    most_degree = part.max_degree
    if program.advances_back:
        most_degree = max(most_degree, int(np.diff(in_offsets).max(initial=0)))
    return frontier.Rows(
        part.offsets, part.targets, in_offsets, in_targets, part.positions, most_degree,
        part.owned, part.num_vertices, part.owned_list,
        None if part.relabelled else partition.owner, part.device, numbers_of(program),
    )  # fmt: skip


def _start(
    part: Part, work: frontier.Work, rows: frontier.Rows, queue: Array, partition: Partition
) -> int:
    """Put a device's share of the frontier into its queue; return how many arcs leave it."""
    places = share_of(part, queue, partition)
    work.queue[: len(places)] = places
    edges = int((rows.offsets[places + 1].astype(np.int64) - rows.offsets[places]).sum())
    fronts = work.fronts.reshape(-1, frontier.FRONT_WORDS)
    fronts[:, frontier.SIZE] = len(places)
    fronts[:, frontier.EDGES] = edges
    return edges


def share_of(part: Part, queue: Array, partition: Partition) -> Array:
    """Return where a device has its vertices of a frontier."""
    mine: Array = queue[partition.owner[queue] == part.device]
    return mine if part.ids is None else partition.home()[mine]

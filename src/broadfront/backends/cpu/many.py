"""Running a program on many devices, each with its own part of the graph and its own memory.

Every device gets its part, fields for the vertices of the part and for copies of their neighbours,
and a share of the starting frontier; all run the same compiled loop, on their own threads, and meet
in it through the mail alone. When it is over, what the owners hold is put together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.backends.cpu.alone import frontier_of, left_in
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device import workspace as workspaces
from broadfront.backends.cpu.device.mail import Post
from broadfront.backends.cpu.device.team import Team
from broadfront.backends.cpu.loop.across import Across
from broadfront.backends.cpu.loop.fused import fused
from broadfront.backends.cpu.loop.numbers import numbers_of
from broadfront.backends.cpu.luggage import Luggage
from broadfront.backends.cpu.memory.equip import Setting, directions, mail_for, work_for_part
from broadfront.backends.cpu.memory.need import (
    Case,
    allow,
    array_bytes,
    held_by,
    memory_error,
    refuse,
)
from broadfront.backends.cpu.operators import frontier, tiles
from broadfront.backends.cpu.transports import Transport, current
from broadfront.clock import Allowance, Clock, preparing
from broadfront.devices.choose import Device
from broadfront.devices.profile import MINIMAL, MemoryProfile, largest
from broadfront.errors import DeviceMemoryError
from broadfront.execution.answer import Answer
from broadfront.execution.columns import InPart, columns_read, refuse_columns
from broadfront.execution.edge_fields import EdgeFields
from broadfront.execution.far import far_names, ids_where_kept
from broadfront.execution.faults import COMPILE_ERRORS, explained
from broadfront.execution.fields import (
    answer_arrays,
    answered,
    checked_start,
    packed,
    part_fields,
)
from broadfront.execution.loops import made_once, may_not_end
from broadfront.execution.parameters import values_of
from broadfront.execution.plan import Plan
from broadfront.execution.program import Program
from broadfront.execution.refusals import needs_ids
from broadfront.execution.states import state_class
from broadfront.graph.csr import Graph
from broadfront.partition.outline import Outline
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition
from broadfront.progress import Listener, following, listening
from broadfront.report.gathered import gathered
from broadfront.report.needs import needs

Array = NDArray[Any]


def run_on(
    program: Program,
    partition: Partition,
    devices: Sequence[Device],
    starting: ArrayLike,
    start: Mapping[str, Any],
    parameters: Mapping[str, float],
    *,
    relabel: bool | None = None,
    memory: MemoryProfile = MINIMAL,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    progress: Listener | None = None,
    checked: bool = False,
    fault: tuple[int, int, int] | None = None,
    clock: Clock | None = None,
) -> Answer:
    """Run `program` on the parts of a graph, each on a device; see `broadfront.execution.run`.

    `fault` makes a device fail, for tests: its number, a block of the loop, and after how often.
    `clock` runs since before the graph was split for this run. Without a word on `relabel`, parts
    keep the ids of the graph where the program uses numbers of vertices as values.
    """
    clock, transport = clock or Clock(), current()
    graph, settled = partition.graph, program.on(partition.graph.targets.dtype)
    if relabel is None:
        relabel = not needs_ids(settled)
    numbers = values_of(program, parameters)
    begins = checked_start(settled, start, graph)
    queue = frontier_of(graph, starting)
    case = Case(
        settled, graph, len(queue), max(device.threads for device in devices), memory, partition,
        relabel,
    )  # fmt: skip
    columns = columns_read(program, graph)
    refuse_columns(program, graph, many=True)
    names = program.state_names_with(columns.names)
    large, in_tiles, looks_back = directions(program, graph, relabel)
    with Allowance(time_limit) as time_left, listening(progress):
        with preparing():
            refuse(case, memory_limit)
            layouts = _layouts(partition, in_tiles)
            parts = partition.parts(relabel=relabel, looks_back=looks_back)
            outlines = partition.outlines(relabel=relabel, looks_back=looks_back)
            along = columns.in_parts(partition, relabel, looks_back)
        loop, plan = _loop(program, graph, names, large, relabel, checked)
        with workspaces.borrowed_many(len(parts), memory_limit is not None) as spaces:
            post = spaces[0].post(len(parts), without_boxes=memory_limit is not None)
            setting = Setting(
                settled, plan, names, partition, numbers, queue, memory, memory_limit is not None,
                looks_back, columns,
            )  # fmt: skip
            arrays = part_fields(settled, parts, spaces, plan.copies)
            answer = answer_arrays(settled, graph)
            edges = EdgeFields(settled, partition, relabel, looks_back)
            edges.begin(arrays, begins)
            luggage = packed(settled, partition, parts, arrays, plan.adding, begins, answer)
            crew = [
                _prepare(setting, part, outlines[number], space, arrays[number], luggage[number],
                         layouts[number], devices[number], post, along[number], transport)
                for number, (part, space) in enumerate(zip(parts, spaces, strict=True))
            ]  # fmt: skip
            _tell_all(crew, len(queue), graph.num_arcs)
            team = spaces[0].team
            with connected(transport, post, crew, team):
                iterations = _go(
                    loop, team, crew, devices, case, memory_limit, time_left(), fault, transport
                )
            brought = brought_together(transport, settled, crew, answer)
            profile = largest(needs(program, graph, one.work, one.outline) for one in crew)
            record = gathered(crew, devices, iterations, clock, team, profile, partition.name)
            left = np.sort(np.concatenate(brought))
            edges.gather(arrays, answer)
    for name, whole in answer.items():
        if settled.fields[name].length is not None:
            whole[:] = arrays[0][name]
    return Answer(answered(settled, answer), left, record)


def _layouts(partition: Partition, in_tiles: bool) -> Sequence[tiles.Tiles | None]:
    """Return the tiles of each part, or nothing for each."""
    if not in_tiles:
        return [None] * partition.count
    return partition.kept("tiles", tiles.tiles_of_part)


def _go(
    loop: Any,
    team: Team,
    crew: Sequence[One],
    devices: Sequence[Device],
    case: Case,
    memory_limit: int | None,
    time_limit: float | None,
    fault: tuple[int, int, int] | None,
    transport: Transport,
) -> int:
    """Run the loop on all devices; return the number of iterations."""
    for number, one in enumerate(crew):
        allow(case, one.work.account, held_by(one), memory_limit, number)
    threads = [device.threads for device in devices]
    arguments = [(one.rows, one.state, one.in_state, one.work) for one in crew]
    try:
        with following(
            case.program.name, lambda: _iteration(crew), lambda: control.interrupt(team.control)
        ):
            return int(
                team.run(
                    loop, threads, arguments, time_limit=time_limit, fault=fault,
                    may_not_end=may_not_end(case.program),
                    here=[number for number in range(len(crew)) if transport.runs_here(number)],
                )
            )  # fmt: skip
    except COMPILE_ERRORS as error:
        raise explained(error, case.program, crew[0].state) from error
    except DeviceMemoryError as error:
        held = held_by(crew[error.device])
        raise memory_error(case, error, held, memory_limit) from None


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
    luggage: Luggage,
    layout: tiles.Tiles | None,
    device: Device,
    post: Post,
    along: InPart,
    transport: Transport,
) -> One:
    """Make one device ready: mail, memory, and its share of the frontier."""
    partition, threads = setting.partition, device.threads
    rows = rows_of(part, partition, setting.program)
    mail = mail_for(setting, part, outline, post, space, threads, luggage, transport)
    work = work_for_part(setting, outline, space, threads, mail, layout)
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


def _iteration(crew: Sequence[One]) -> int:
    return int(crew[0].work.fronts[frontier.ITERATION])


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
    make = state_class(names, far_names(program))
    in_weights = part.weights if part.in_offsets is None else part.in_weights
    in_weight = program.in_weights(in_weights)
    ids = part.ids if part.ids is not None else ids_where_kept(program, part.num_vertices)
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

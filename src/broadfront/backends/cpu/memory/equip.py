"""What devices are equipped with: memory that operators work in and, of several, mail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.device.growing import ACCOUNT_WORDS, HELD, allocate
from broadfront.backends.cpu.device.mail import Mail, Post, log_columns
from broadfront.backends.cpu.device.timeline import ROWS
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.field_io import FieldIO
from broadfront.backends.cpu.memory.boxes import at_first, at_most
from broadfront.backends.cpu.operators import frontier, tiles
from broadfront.backends.cpu.operators.buckets import new_buckets, sensible_width
from broadfront.backends.cpu.operators.level_order import new_level_order
from broadfront.backends.cpu.operators.orient import new_lists
from broadfront.backends.cpu.operators.part_lists import new_part_lists
from broadfront.backends.cpu.operators.reduce import new_offers
from broadfront.backends.cpu.operators.unite import new_trees
from broadfront.backends.cpu.transports import Transport
from broadfront.devices.profile import MemoryProfile
from broadfront.errors import DeviceMemoryError
from broadfront.execution.columns import Columns
from broadfront.execution.plan import Plan
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Advance, Intersect, Levels, Unite
from broadfront.partition.outline import Outline
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition

Array = NDArray[Any]


def memory_for(
    program: Program,
    graph: Graph,
    workspace: Workspace,
    threads: int,
    starting: int,
    kept: tiles.Tiles | None,
    memory_profile: MemoryProfile,
    anew: bool = False,
) -> frontier.Work:
    """Return the memory of a run that starts from so many vertices, the program's dtypes settled.

    `kept` is a layout that the graph keeps for it.
    """
    vertex = graph.targets.dtype
    memory: Any = ()
    order: Any = ()
    lists: Any = ()
    trees: Any = ()
    operators = [operator for phase in program.all_phases for operator in phase.step]
    for operator in operators:
        if isinstance(operator, Advance) and operator.priority is not None:
            memory = new_buckets(
                workspace, graph.num_vertices, threads, program.fields[operator.into].storage,
                operator.width or sensible_width(graph), vertex,
            )  # fmt: skip
        if isinstance(operator, Levels):
            order = new_level_order(workspace, graph.num_vertices, vertex)
        if isinstance(operator, Intersect):
            lists = new_lists(workspace, graph, threads, operator)
        if isinstance(operator, Unite):
            trees = new_trees(workspace, graph.num_vertices, vertex, threads, graph.directed)
    offers = new_offers(workspace, graph.num_vertices, threads, program.reduces, kept)
    return frontier.new_work(
        workspace, graph.num_vertices, graph.num_arcs, vertex, threads, operators, starting,
        memory, order, lists, offers, trees, memory=memory_profile, anew=anew,
    )  # fmt: skip


class Setting(NamedTuple):
    """What is the same for all devices of a run."""

    program: Program
    plan: Plan
    names: tuple[str, ...]
    partition: Partition
    numbers: Sequence[float]
    queue: Array
    memory: MemoryProfile
    anew: bool
    """Whether to begin without what earlier runs have left."""
    looks_back: bool
    columns: Columns


def directions(program: Program, graph: Graph, relabel: bool) -> tuple[bool, bool, bool]:
    """Tell whether a graph in parts is large, read in tiles, and looked at backwards."""
    large = relabel and program.reduces_often and tiles.suit(graph)
    in_tiles = any(operator.in_tiles(large) for operator in program.reduces)
    return large, in_tiles, in_tiles or program.looks_back(False)


def boxes_at_first(setting: Setting, part: Outline) -> Array:
    """Return the bytes of a device's box for each that it begins with."""
    if setting.memory.fixed:
        peers = setting.partition.outlines(part.relabelled, setting.looks_back)
        return at_most(setting.program, setting.plan, peers, part.device)
    return at_first(setting.memory, part)


def mail_for(
    setting: Setting,
    part: Part,
    outline: Outline,
    post: Post,
    space: Workspace,
    threads: int,
    field_io: FieldIO,
    transport: Transport,
) -> Mail:
    """Return the mail of one device, its boxes as large as they are to begin with."""
    devices, partition = part.count, setting.partition
    log = space.sparse_array("mail log", ROWS * log_columns(devices), np.int64)
    account = np.zeros(ACCOUNT_WORDS, np.int64)
    asked = boxes_at_first(setting, outline)
    account[HELD] = asked.sum()
    if not allocate(post.boxes[2 * devices * part.device :], asked):
        wanted = int(account[HELD])
        raise DeviceMemoryError(
            f"cpu:{part.device} could not get {wanted:,} bytes", part.device, wanted
        )
    return Mail(
        part.device, devices, *post, account, asked, 0 if setting.memory.fixed else 1,
        np.zeros(2 * threads * devices, np.int64), np.zeros(devices, np.int64),
        np.zeros(devices, np.int64), np.zeros(2 * devices, np.int64),
        log, part.ghost_starts, part.shared_starts, part.shared, part.ghosts,
        None if part.relabelled else partition.owner, *transport.link(part.device), field_io,
    )  # fmt: skip


def work_for_part(
    setting: Setting,
    part: Outline,
    space: Workspace,
    threads: int,
    mail: Any,
    layout: tiles.Tiles | None,
) -> frontier.Work:
    """Return the memory that the operators of one device work in."""
    program, graph = setting.program, setting.partition.graph
    vertex = graph.targets.dtype
    order: Any = ()
    memory: Any = ()
    lists: Any = ()
    trees: Any = ()
    operators = [operator for phase in program.all_phases for operator in phase.step]
    for operator in operators:
        if isinstance(operator, Advance) and operator.priority is not None:
            dtype = program.fields[operator.into].storage
            width = operator.width or sensible_width(graph, in_parts=True)
            memory = new_buckets(space, part.positions, threads, dtype, width, vertex)
        if isinstance(operator, Levels):
            order = new_level_order(
                space, part.owned, vertex, all_vertices=part.num_vertices,
                shared=int(part.shared.sum()), devices=part.count,
            )  # fmt: skip
        if isinstance(operator, Intersect):
            lists = new_part_lists(space, part, graph, threads, operator)
        if isinstance(operator, Unite):
            trees = new_trees(
                space, part.owned, vertex, threads, graph.directed,
                positions=part.positions, shared=int(part.shared.sum()),
            )  # fmt: skip
    offers = new_offers(space, part.positions, threads, program.reduces, layout)
    arcs = max(part.num_arcs, part.num_in_arcs if program.advances_back else 0)
    return frontier.new_work(
        space, part.positions, arcs, vertex, threads, operators,
        min(part.owned, len(setting.queue)), memory, order, lists, offers, trees, mail,
        memory=setting.memory, anew=setting.anew,
    )  # fmt: skip

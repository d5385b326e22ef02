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
from broadfront.backends.cpu.lowering.lowered import Portion
from broadfront.backends.cpu.memory.boxes import at_first, at_most
from broadfront.backends.cpu.operators import tiles
from broadfront.backends.cpu.transports import Transport
from broadfront.devices.profile import MemoryProfile
from broadfront.errors import DeviceMemoryError
from broadfront.execution.columns import Columns
from broadfront.execution.plan import Plan
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.partition.outline import Outline
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition

Array = NDArray[Any]


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


def portion_of(
    setting: Setting,
    part: Outline,
    space: Workspace,
    threads: int,
    layout: tiles.Tiles | None,
) -> Portion:
    """Return what one device has of the graph."""
    arcs = max(part.num_arcs, part.num_in_arcs if setting.program.advances_back else 0)
    return Portion.part(setting.partition.graph, space, threads, part, arcs, layout)

"""Running a program on many devices, each with its own part of the graph and its own memory.

    answer = run_on(program, split(graph, 4), frontier=[source], start={"depth": {source: 0}})

Every device gets its part, fields for the vertices of the part and for copies of their neighbours,
and a share of the starting frontier; all run the same compiled loop, on their own threads, and meet
in it through the mail alone. When it is over, what the owners hold is put together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, NDArray

from broadfront.clock import Clock
from broadfront.devices import workspace as workspaces
from broadfront.devices.mail import ACCOUNT_WORDS, Mail, Post, new_post
from broadfront.execution.across import Across
from broadfront.execution.faults import explained
from broadfront.execution.fused import fused
from broadfront.execution.program import RESERVED, Program
from broadfront.execution.states import state_class
from broadfront.graph.csr import Graph
from broadfront.operators.cpu import frontier
from broadfront.operators.cpu.buckets import new_buckets, sensible_width
from broadfront.operators.cpu.levels import new_level_order
from broadfront.operators.cpu.reduce import new_offers
from broadfront.operators.describe import Advance, Levels
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition
from broadfront.progress import Listener, following, listening

Array = NDArray[Any]


def run_on(
    program: Program,
    partition: Partition,
    *,
    starting: ArrayLike = (),
    start: Mapping[str, Any] | None = None,
    parameters: Sequence[float] = (),
    threads: Sequence[int],
    relabel: bool = True,
    time_limit: float | None = None,
    progress: Listener | None = None,
    fault: tuple[int, int, int] | None = None,
) -> Any:
    """Run `program` on the parts of a graph, each on a device with so many threads."""
    clock = Clock()
    graph = partition.graph
    vertex = graph.targets.dtype
    settled = program.on(vertex)
    names = (*program.fields, *program.parameters, *RESERVED)
    key = (vertex, relabel, "many")
    known = program._loops.get(key)
    if known is None:
        across = Across(settled, names, vertex, relabel)
        known = program._loops[key] = (fused(settled, names, False, across), across.plan)
    loop, plan = known
    parts = partition.parts(relabel=relabel, looks_back=program.looks_back(False))
    queue = np.unique(np.asarray(starting, dtype=np.int64))
    with workspaces.borrowed_many(len(parts)) as spaces:
        post = new_post(len(parts))
        make = state_class(names)
        arguments, fields = [], []
        edges = 0
        for part, space, count in zip(parts, spaces, threads, strict=True):
            arrays = _fields(settled, part, plan, start or {})
            rows = _rows(part, partition)
            mail = _mail(part, post, partition, count)
            work = _work(settled, part, space, count, graph, mail)
            tail = (*rows[:4], graph.num_vertices, part.ids)
            common = (*arrays.values(), *parameters)
            state = make(*common, _or_nothing(part.weights), *tail)
            in_state = make(*common, _or_nothing(part.in_weights), *tail)
            edges += _start(part, work, rows, queue, partition)
            fields.append(arrays)
            arguments.append((rows, state, in_state, work))
        for (_, _, _, work), count in zip(arguments, threads, strict=True):
            _start_all(work, count, len(queue), edges, graph.num_arcs)
        try:
            with listening(progress), following(program.name, lambda: _iteration(arguments)):
                iterations = spaces[0].team.run(
                    loop, threads, arguments, time_limit=time_limit, fault=fault
                )
        except NumbaError as error:
            raise explained(error, settled, arguments[0][1]) from error
        answer = {}
        for name, kind in settled.fields.items():
            if kind.length is not None:
                answer[name] = fields[0][name]
                continue
            whole = np.empty(graph.num_vertices, kind.dtype)
            for part, arrays in zip(parts, fields, strict=True):
                owned = slice(part.owned) if part.owned_list is None else part.owned_list
                whole[part.owned_ids] = arrays[name][owned]
            answer[name] = whole
        return answer, iterations, arguments, clock


def _or_nothing(array: Array | None) -> Any:
    return () if array is None else array


def _iteration(arguments: Sequence[tuple[Any, ...]]) -> int:
    return int(arguments[0][3].fronts[frontier.ITERATION])


def _fields(program: Program, part: Part, plan: Any, start: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays of one device's fields."""
    arrays = {}
    adding = {name for operator in _advances(program) for name in [operator.into]
              if program.fields[name].combine == "sum"}  # fmt: skip
    for name, kind in program.fields.items():
        given = start.get(name)
        if kind.length is not None:
            array = np.full(kind.length, kind.fill, kind.dtype)
            for place, value in _pairs(given):
                array[place] = value
            arrays[name] = array
            continue
        with_copies = name in plan.copies or not part.relabelled
        ids = part.ids if part.ids is not None else slice(None)
        if part.ids is not None and not with_copies:
            ids = part.ids[: part.owned]
        if isinstance(given, np.ndarray):
            array = given[ids].astype(kind.dtype)
        else:
            length = part.positions if with_copies else part.owned
            array = np.full(length, kind.fill, kind.dtype)
            for place, value in _pairs(given):
                for position in _positions(part, place, with_copies):
                    array[position] = value
        if name in adding:
            ghosts = slice(part.owned, None) if part.ghosts is None else part.ghosts
            array[ghosts] = 0
        arrays[name] = array
    return arrays


def _advances(program: Program) -> list[Advance]:
    return [operator for phase in program.all_phases for operator in phase.step
            if isinstance(operator, Advance)]  # fmt: skip


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    if isinstance(given, np.ndarray):
        return list(enumerate(given))
    return list(dict(given or {}).items())


def _positions(part: Part, vertex: int, with_copies: bool) -> list[int]:
    """Return where a vertex of the graph is in a part, if it is there at all."""
    if part.ids is None:
        return [vertex]
    starts = [0, *part.ghost_starts.tolist()] if with_copies else [0, part.owned]
    for begin, end in pairwise(starts):
        place = begin + int(np.searchsorted(part.ids[begin:end], vertex))
        if place < end and part.ids[place] == vertex:
            return [place]
    return []


def _rows(part: Part, partition: Partition) -> frontier.Rows:
    in_offsets = part.offsets if part.in_offsets is None else part.in_offsets
    in_targets = part.targets if part.in_targets is None else part.in_targets
    return frontier.Rows(
        part.offsets, part.targets, in_offsets, in_targets, part.positions, part.max_degree,
        part.owned, part.num_vertices, part.owned_list,
        None if part.relabelled else partition.owner, part.device,
    )  # fmt: skip


def _mail(part: Part, post: Post, partition: Partition, threads: int) -> Mail:
    devices = part.count
    return Mail(
        part.device, devices, *post, np.zeros(ACCOUNT_WORDS, np.int64),
        np.zeros(2 * threads * devices, np.int64), np.zeros(2 * devices, np.int64),
        part.ghost_starts, part.shared_starts, part.shared, part.ghosts,
        None if part.relabelled else partition.owner,
    )  # fmt: skip


def _work(
    program: Program,
    part: Part,
    space: workspaces.Workspace,
    threads: int,
    graph: Graph,
    mail: Mail,
) -> frontier.Work:
    vertex = graph.targets.dtype
    order: Any = ()
    memory: Any = ()
    for phase in program.all_phases:
        for operator in phase.step:
            if isinstance(operator, Advance) and operator.priority is not None:
                dtype = np.dtype(program.fields[operator.into].dtype)
                width = operator.width or sensible_width(graph)
                memory = new_buckets(space, part.positions, threads, dtype, width, vertex)
            if isinstance(operator, Levels):
                order = new_level_order(
                    space, part.owned, vertex, all_vertices=part.num_vertices,
                    shared=len(part.shared), devices=part.count,
                )  # fmt: skip
    operators = [operator for phase in program.all_phases for operator in phase.step]
    offers = new_offers(space, part.positions, threads, program.reduces, None)
    return frontier.new_work(
        space, part.positions, part.num_arcs, vertex, threads, operators, part.owned, memory, order,
        (), offers, mail,
    )  # fmt: skip


def _start(
    part: Part, work: frontier.Work, rows: frontier.Rows, queue: Array, partition: Partition
) -> int:
    """Put a device's share of the frontier into its queue; return how many arcs leave it."""
    mine = queue[partition.owner[queue] == part.device]
    places = mine if part.ids is None else np.searchsorted(part.ids[: part.owned], mine)
    work.queue[: len(places)] = places
    edges = int((rows.offsets[places + 1].astype(np.int64) - rows.offsets[places]).sum())
    fronts = work.fronts.reshape(-1, frontier.FRONT_WORDS)
    fronts[:, frontier.SIZE] = len(places)
    fronts[:, frontier.EDGES] = edges
    return edges


def _start_all(work: frontier.Work, threads: int, size: int, edges: int, arcs: int) -> None:
    fronts = work.fronts.reshape(-1, frontier.FRONT_WORDS)[:threads]
    fronts[:, frontier.ALL_SIZE] = size
    fronts[:, frontier.ALL_EDGES] = edges
    fronts[:, frontier.UNEXPLORED] = arcs

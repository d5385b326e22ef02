"""Running a program on one device: fields, rows, a workspace, and the compiled loop.

Fields become fresh arrays, the graph its rows, and the program a compiled loop; a workspace is
borrowed, its team runs the loop, and the arrays come back with the record of what happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, NDArray

from broadfront import threads as thread_settings
from broadfront.clock import Clock, preparing
from broadfront.devices import workspace as workspaces
from broadfront.devices.profile import MINIMAL, MemoryProfile
from broadfront.errors import DeviceMemoryError, OptionError
from broadfront.execution.answer import Answer
from broadfront.execution.equip import memory_for
from broadfront.execution.faults import explained
from broadfront.execution.fields import fresh_fields
from broadfront.execution.fused import fused
from broadfront.execution.memory import Case, allow, memory_error, refuse
from broadfront.execution.program import RESERVED, Program
from broadfront.execution.states import state_class
from broadfront.graph.csr import Graph
from broadfront.operators.cpu import frontier, tiles
from broadfront.progress import Listener, following, listening
from broadfront.report.needs import needs
from broadfront.report.record import recorded

Array = NDArray[Any]

ARCS_WORTH_A_THREAD = 1 << 15


def run_alone(
    program: Program,
    graph: Graph,
    frontier: ArrayLike,
    start: Mapping[str, Any],
    parameters: Mapping[str, float],
    *,
    threads: int | None = None,
    memory: MemoryProfile = MINIMAL,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    progress: Listener | None = None,
    fault: tuple[int, int, int] | None = None,
) -> Answer:
    """Run `program` on `graph` on one device; see `broadfront.execution.run`.

    `fault` makes it fail, for tests; see `broadfront.execution.many.run_on`.
    """
    clock = Clock()
    count = thread_count(graph, threads)
    places = frontier_of(graph, frontier)
    settled = program.on(graph.targets.dtype)
    case = Case(settled, graph, len(places), count, memory)
    refuse(case, memory_limit)
    arrays = fresh_fields(settled, graph.num_vertices, start, count)
    names = (*program.fields, *program.parameters, *RESERVED)
    given = values_of(program, parameters)
    weights = graph.weights
    large = program.reduces_often and tiles.suit(graph)
    with workspaces.borrowed() as workspace:
        work, queue_length = work_for(
            program, graph, workspace, count, places, large, memory,
            anew=memory_limit is not None,
        )  # fmt: skip
        rows, in_weights = rows_of(program, graph, large)
        answer_bytes = sum(array.nbytes for array in arrays.values())
        held = graph.nbytes + answer_bytes + workspace.asked_bytes
        allow(case, work.account, held, memory_limit)
        make = state_class(names)
        common = (*arrays.values(), *given)
        tail = (*rows[:4], graph.num_vertices, None)
        state = make(*common, weights if weights is not None else (), *tail)
        in_state = make(*common, in_weights if in_weights is not None else (), *tail)
        _start_fronts(work, rows, graph, queue_length, count)
        key = graph.targets.dtype, large
        loop = program._loops.get(key)
        if loop is None:
            with preparing():
                loop = fused(settled, names, large)
                loop = program._loops.setdefault(key, loop)
        try:
            with listening(progress), following(program.name, lambda: _iteration(work)):
                iterations = workspace.team.run(
                    loop, [count], [(rows, state, in_state, work)], time_limit=time_limit,
                    fault=fault,
                )  # fmt: skip
        except NumbaError as error:
            raise explained(error, program, state) from error
        except DeviceMemoryError as error:
            raise memory_error(case, error, held, memory_limit) from None
        profile = needs(program, graph, work)
        record = recorded(workspace, work, int(iterations), count, clock, answer_bytes, profile)
        left = left_in(work, graph.num_vertices)
    return Answer(arrays, left, record)


def left_in(work: frontier.Work, num_vertices: int) -> NDArray[np.int64]:
    """Return the positions that are left in the frontier, in increasing order."""
    front = work.fronts[: frontier.FRONT_WORDS]
    if front[frontier.SIZE] == 0:
        return np.empty(0, np.int64)
    odd = front[frontier.PARITY] == 1
    if front[frontier.PULLING]:
        bits = work.other_bits if odd else work.bits
        octets = bits[: num_vertices // 64 + 1].view(np.uint8)
        return np.flatnonzero(np.unpackbits(octets, bitorder="little")[:num_vertices])
    queue = work.other_queue if odd else work.queue
    return np.unique(queue[: front[frontier.SIZE]]).astype(np.int64)


def _iteration(work: frontier.Work) -> int:
    return int(work.fronts[frontier.ITERATION])


def frontier_of(graph: Graph, starting: ArrayLike) -> NDArray[np.int64]:
    """Return the positions to start from, each once; refuse what is not a vertex."""
    queue = np.unique(np.asarray(starting, dtype=np.int64))
    if len(queue) and (queue[0] < 0 or queue[-1] >= graph.num_vertices):
        raise OptionError(f"the frontier holds {queue[0]}..{queue[-1]}, which are not all vertices")
    return queue


def values_of(program: Program, given: Mapping[str, float]) -> list[float]:
    """Return the values of the program's parameters, in order."""
    if set(given) != set(program.parameters):
        raise OptionError(
            f"the program's parameters are {', '.join(program.parameters) or 'none'}; "
            f"given were {', '.join(given) or 'none'}"
        )
    return [given[name] for name in program.parameters]


def thread_count(graph: Graph, threads: int | None) -> int:
    """Return how many threads to run on: as told, or as many as pay."""
    if threads is not None:
        if threads < 1:
            raise OptionError(f"threads={threads} is not a positive number")
        return threads
    return max(1, min(thread_settings.count(), graph.num_arcs // ARCS_WORTH_A_THREAD))


def work_for(
    program: Program,
    graph: Graph,
    workspace: workspaces.Workspace,
    threads: int,
    starting: ArrayLike,
    large: bool,
    memory_profile: MemoryProfile = MINIMAL,
    anew: bool = False,
) -> tuple[frontier.Work, int]:
    """Return the memory of a run, the frontier in its queue, and how long that is."""
    queue = frontier_of(graph, starting)
    in_tiles = any(operator.in_tiles(large) for operator in program.reduces)
    with thread_settings.limit(threads):
        kept = tiles.tiles_of(graph) if in_tiles else None
    work = memory_for(
        program.on(graph.targets.dtype), graph, workspace, threads, len(queue), kept,
        memory_profile, anew,
    )  # fmt: skip
    work.queue[: len(queue)] = queue
    return work, len(queue)


def rows_of(program: Program, graph: Graph, large: bool) -> tuple[frontier.Rows, Array | None]:
    """Return the rows of the graph, and the weights along its incoming arcs where needed."""
    turned = graph.transpose if program.looks_back(large) else graph
    rows = frontier.Rows(
        graph.offsets, graph.targets, turned.offsets, turned.targets,
        graph.num_vertices, graph.max_degree, graph.num_vertices, graph.num_vertices,
    )  # fmt: skip
    return rows, turned.weights


def _start_fronts(
    work: frontier.Work, rows: frontier.Rows, graph: Graph, size: int, threads: int
) -> None:
    queue = work.queue[:size]
    edges = int((rows.offsets[queue + 1].astype(np.int64) - rows.offsets[queue]).sum())
    for thread in range(threads):
        front = work.fronts[thread * frontier.FRONT_WORDS :]
        front[[frontier.SIZE, frontier.ALL_SIZE]] = size
        front[[frontier.EDGES, frontier.ALL_EDGES]] = edges
        front[frontier.UNEXPLORED] = graph.num_arcs

"""Running a program on one device: fields, rows, a workspace, and the compiled loop.

Fields become fresh arrays, the graph its rows, and the program a compiled loop; a workspace is
borrowed, its team runs the loop, and the arrays come back with the record of what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront import threads as thread_settings
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device import workspace as workspaces
from broadfront.backends.cpu.ends import arcs_of, increasing, places_in
from broadfront.backends.cpu.loop.fused import fused
from broadfront.backends.cpu.loop.numbers import numbers_of
from broadfront.backends.cpu.memory.equip import memory_for
from broadfront.backends.cpu.memory.need import Case, allow, memory_error
from broadfront.backends.cpu.memory.streaming import (
    allowed,
    held_by_graph,
    streaming,
    turn_back,
)
from broadfront.backends.cpu.operators import frontier, tiles
from broadfront.clock import Allowance, Clock, preparing
from broadfront.devices.profile import MINIMAL, MemoryProfile
from broadfront.errors import DeviceMemoryError
from broadfront.execution.answer import Answer
from broadfront.execution.columns import columns_read, refuse_columns
from broadfront.execution.far import far_names, ids_where_kept
from broadfront.execution.faults import COMPILE_ERRORS, explained
from broadfront.execution.fields import answered, checked_start, fresh_fields
from broadfront.execution.loops import made_once, may_not_end
from broadfront.execution.parameters import values_of
from broadfront.execution.program import Program
from broadfront.execution.states import state_class
from broadfront.given import count as counted
from broadfront.given import vertices
from broadfront.graph.csr import Graph
from broadfront.progress import Listener, following, listening
from broadfront.report.needs import needs
from broadfront.report.record import recorded
from broadfront.residence import Guard

Array = NDArray[Any]

ARCS_WORTH_A_THREAD = 1 << 15
FEW_STARTS, FEW_ARCS = 64, 1 << 19
"""What is one thread's work in a graph that never branches: so many vertices to start from, and so
many arcs where each is looked at once."""


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
    checked: bool = False,
    fault: tuple[int, int, int] | None = None,
) -> Answer:
    """Run `program` on `graph` on one device; see `broadfront.execution.run`.

    `fault` makes it fail, for tests; see `broadfront.backends.cpu.many.run_on`.
    """
    clock = Clock()
    places = frontier_of(graph, frontier)
    count = thread_count(graph, threads, _is_narrow(program, graph, len(places)))
    settled = program.on(graph.targets.dtype)
    begins = checked_start(settled, start, graph)
    numbers = values_of(program, parameters)
    case = allowed(Case(settled, graph, len(places), count, memory), memory_limit)
    arrays = fresh_fields(settled, graph, begins, count)
    answer_bytes = sum(array.nbytes for array in arrays.values())
    common = (*arrays.values(), *numbers)
    large = program.reduces_often and tiles.suit(graph)
    with (
        Allowance(time_limit) as time_left,
        listening(progress),
        workspaces.borrowed(anew=memory_limit is not None) as workspace,
        streaming(case, memory_limit) as guard,
    ):
        work, queue_length = work_for(
            program, graph, workspace, count, places, large, memory,
            anew=memory_limit is not None, guard=guard,
        )  # fmt: skip
        if guard is not None:
            guard.pace(workspace.team.looked)
        _start_fronts(work, graph, queue_length, count)
        ready = Ready(
            case, large, common, work, workspace, answer_bytes, memory_limit, checked, guard
        )
        calls = _go(ready, time_left, fault)
        profile = needs(program, graph, work)
        record = recorded(
            workspace, work, _iteration(work), count, clock, answer_bytes, profile, calls
        )
        left = left_in(work, graph.num_vertices)
    return Answer(answered(settled, arrays), left, record)


class Ready(NamedTuple):
    """A run on one device that is ready to begin."""

    case: Case
    large: bool
    """Whether the graph is worth a layout of its own."""
    values: tuple[Any, ...]
    """Fields and parameters."""
    work: frontier.Work
    workspace: workspaces.Workspace
    answer_bytes: int
    memory_limit: int | None
    checked: bool
    guard: Guard | None
    """What keeps arcs from taking too much memory, where they are streamed."""


def _go(
    ready: Ready, time_left: Callable[[], float | None], fault: tuple[int, int, int] | None
) -> int:
    """Run the loop to its end; return how often it was entered.

    Where incoming arcs are of no use until a pull pays, and are not there yet, it begins without
    them, is left if it comes to that, and entered again where it was.
    """
    case, work, team = ready.case, ready.work, ready.workspace.team
    program, graph = case.program, case.graph
    columns = columns_read(program, graph)
    refuse_columns(program, graph, many=False)
    names = program.state_names_with(columns.names)
    later = program.pulls_later(ready.large) and not graph.has_transpose
    entries = [False, True] if later else [program.looks_back(ready.large)]
    barriers = 0
    for entry, looks_back in enumerate(entries):
        held = held_by_graph(case, looks_back, ready.guard) + ready.answer_bytes
        held += ready.workspace.asked_bytes
        allow(case, work.account, held, ready.memory_limit)
        rows, turned = rows_of(graph, program, looks_back, ready.guard)
        in_weight = program.in_weights(turned.weights)
        ids = ids_where_kept(program, graph.num_vertices)
        tail = (*rows[:4], graph.num_vertices, ids, in_weight, *(0 for _ in program.counters))
        state, in_state = (
            state_class(names, far_names(program))(
                *ready.values, *columns.of(one), program.weights(one.weights), *tail
            )
            for one in (graph, turned)
        )
        loop = _loop(program, names, graph.targets.dtype, ready.large, ready.checked)
        try:
            with following(
                program.name, lambda: _iteration(work), lambda: control.interrupt(team.control)
            ):
                team.run(
                    loop, [case.threads], [(rows, state, in_state, work)], time_limit=time_left(),
                    fault=fault, one_way=later and entry == 0, may_not_end=may_not_end(program),
                )  # fmt: skip
        except COMPILE_ERRORS as error:
            raise explained(error, program, state) from error
        except DeviceMemoryError as error:
            raise memory_error(case, error, held, ready.memory_limit) from None
        team.control[0, control.BARRIERS] += barriers
        if not team.wants_incoming:
            break
        barriers = int(team.control[0, control.BARRIERS])
        fault = fault and (*fault[:2], int(team.control[0, control.FAULT_COUNT]))
    return entry + 1


def _loop(
    program: Program, names: tuple[str, ...], vertex: np.dtype[Any], large: bool, checked: bool
) -> Any:
    """Return the loop of a program, its dtypes settled, on one device; made once."""
    return made_once(program, (vertex, large, names), lambda: fused(program, names, large), checked)


def left_in(work: frontier.Work, num_vertices: int) -> NDArray[np.int64]:
    """Return the positions that are left in the frontier, in increasing order."""
    front = work.fronts[: frontier.FRONT_WORDS]
    if front[frontier.SIZE] == 0:
        return np.empty(0, np.int64)
    odd = front[frontier.PARITY] == 1
    if front[frontier.PULLING]:
        bits = work.other_bits if odd else work.bits
        return places_in(bits, num_vertices)
    queue = work.other_queue if odd else work.queue
    return increasing(queue[: front[frontier.SIZE]], num_vertices)


def _iteration(work: frontier.Work) -> int:
    return int(work.fronts[frontier.ITERATION])


def frontier_of(graph: Graph, starting: ArrayLike) -> NDArray[np.int64]:
    """Return the positions to start from, each once; refuse what is not a vertex."""
    found = vertices(starting, graph.num_vertices, "the frontier")
    if (found[1:] > found[:-1]).all():
        return found
    return increasing(found, graph.num_vertices)


def _is_narrow(program: Program, graph: Graph, starts: int) -> bool:
    """Tell whether there is nothing to share: along paths a frontier never grows."""
    if not graph.never_branches:
        return False
    if program.looks_once:
        return graph.num_arcs < FEW_ARCS
    return program.only_advances and starts <= FEW_STARTS


def thread_count(graph: Graph, threads: int | None, narrow: bool = False) -> int:
    """Return how many threads to run on: as told, or as many as pay; one for `narrow` work."""
    if threads is not None:
        threads = counted(threads, "threads")
        return thread_settings.check(threads, f"threads={threads}")
    worth = 1 if narrow else graph.num_arcs // ARCS_WORTH_A_THREAD
    return max(1, min(thread_settings.count(), worth))


def work_for(
    program: Program,
    graph: Graph,
    workspace: workspaces.Workspace,
    threads: int,
    starting: ArrayLike,
    large: bool,
    memory_profile: MemoryProfile = MINIMAL,
    anew: bool = False,
    guard: Guard | None = None,
) -> tuple[frontier.Work, int]:
    """Return the memory of a run, the frontier, checked before, in its queue, and its length."""
    queue = np.asarray(starting, np.int64)
    workspace.of_arcs = None if guard is None else guard.array
    in_tiles = any(operator.in_tiles(large) for operator in program.reduces)
    kept = None
    if in_tiles:
        with thread_settings.limit(threads), preparing():
            kept = tiles.tiles_of(graph, np.empty if guard is None else guard.array)
    work = memory_for(
        program.on(graph.targets.dtype), graph, workspace, threads, len(queue), kept,
        memory_profile, anew,
    )  # fmt: skip
    work.queue[: len(queue)] = queue
    return work, len(queue)


def rows_of(
    graph: Graph, program: Program, looks_back: bool, guard: Guard | None = None
) -> tuple[frontier.Rows, Graph]:
    """Return the rows of the graph for a program, its dtypes settled, and the graph turned round.

    The arcs of the latter are the incoming ones. Where these are not needed, outgoing arcs stand in
    their place, which nobody looks at.
    """
    turned = graph
    if looks_back:
        with preparing():
            turn_back(graph, guard)
            turned = graph.transpose
    most_degree = max(graph.max_degree, turned.max_degree if program.advances_back else 0)
    rows = frontier.Rows(
        graph.offsets, graph.targets, turned.offsets, turned.targets,
        graph.num_vertices, most_degree, graph.num_vertices, graph.num_vertices,
        numbers=numbers_of(program),
    )  # fmt: skip
    return rows, turned


def _start_fronts(work: frontier.Work, graph: Graph, size: int, threads: int) -> None:
    edges = arcs_of(graph, work.queue[:size])
    for thread in range(threads):
        front = work.fronts[thread * frontier.FRONT_WORDS :]
        front[frontier.SIZE] = front[frontier.ALL_SIZE] = size
        front[frontier.EDGES] = front[frontier.ALL_EDGES] = edges
        front[frontier.UNEXPLORED] = graph.num_arcs

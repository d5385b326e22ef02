"""Running a program on one device: fields, rows, a workspace, and the compiled loop.

Fields become fresh arrays, the graph its rows, and the program a compiled loop; a workspace is
borrowed, its team runs the loop, and the arrays come back with the record of what happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads as thread_settings
from broadfront.backends.contract import Job
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device import workspace as workspaces
from broadfront.backends.cpu.loop.fused import fused
from broadfront.backends.cpu.loop.numbers import numbers_of
from broadfront.backends.cpu.lowering.lowered import Portion
from broadfront.backends.cpu.memory import work as memory
from broadfront.backends.cpu.memory.need import Case, allow, memory_error
from broadfront.backends.cpu.memory.streaming import allowed, held_by_graph, streaming, turn_back
from broadfront.backends.cpu.operators import frontier, tiles
from broadfront.backends.cpu.record.alone import recorded
from broadfront.backends.cpu.record.needs import needs
from broadfront.clock import Clock, preparing
from broadfront.devices.profile import MINIMAL, MemoryProfile
from broadfront.errors import DeviceMemoryError
from broadfront.execution.columns import Columns, columns_read, refuse_columns
from broadfront.execution.ends import arcs_of, increasing, places_in
from broadfront.execution.far import far_names, ids_where_kept
from broadfront.execution.faults import COMPILE_ERRORS, explained
from broadfront.execution.fields import checked_start, fresh_fields, frontier_of
from broadfront.execution.loops import made_once, may_not_end
from broadfront.execution.parameters import values_of
from broadfront.execution.program import Program
from broadfront.execution.states import state_class
from broadfront.given import count as counted
from broadfront.graph.csr import Graph
from broadfront.report.record import Record
from broadfront.residence import Guard

Array = NDArray[Any]

ARCS_WORTH_A_THREAD = 1 << 15
FEW_STARTS, FEW_ARCS = 64, 1 << 18
"""What is one thread's work in a graph that never branches: so many vertices to start from, and so
many arcs where each is looked at once."""


class RunAlone:
    """A run on one device that has the graph as it is.

    Where incoming arcs are of no use until a pull pays, and are not there yet, it is launched
    without them, ends if it comes to that, and is launched again where it was.
    """

    def __init__(self, job: Job) -> None:
        self._clock = job.clock or Clock()
        self._job, self._graph = job, job.graph
        graph = job.graph
        self._places = frontier_of(graph, job.frontier)
        self._arcs = arcs_of(graph, self._places)
        narrow = _is_narrow(job.program, graph, len(self._places), self._arcs)
        self._threads = thread_count(graph, job.threads, narrow)
        self.program = job.program.on(graph.targets.dtype)
        self._begins = checked_start(self.program, job.init, graph)
        self._numbers = values_of(job.program, job.parameters)
        self._case = Case(self.program, graph, len(self._places), self._threads, job.memory)
        self._large = job.program.reduces_often and tiles.suit(graph)
        self._columns = columns_read(self.program, graph)
        self._names = self.program.state_names_with(self._columns.names)
        self._launches, self._barriers = 0, 0
        self._fault = job.fault

    @property
    def threads(self) -> int:
        """How many threads it has."""
        return self._threads

    def compile(self) -> None:
        """Make the loop, which is compiled when it is first called."""
        self._case = allowed(self._case, self._job.memory_limit)
        refuse_columns(self.program, self._graph, many=False)
        vertex = self._graph.targets.dtype
        self._loop = made_once(
            self.program, (vertex, self._large, self._names),
            lambda: fused(self.program, self._names, self._large), self._job.checked,
        )  # fmt: skip

    def allocate(self, kept: ExitStack) -> None:
        """Make the arrays of the answer, and borrow a workspace."""
        job, anew = self._job, self._job.memory_limit is not None
        self._arrays = fresh_fields(self.program, self._graph, self._begins, self._threads)
        self._answer_bytes = sum(array.nbytes for array in self._arrays.values())
        (self._space,) = kept.enter_context(workspaces.borrowed_many(1, anew))
        self._guard = kept.enter_context(streaming(self._case, job.memory_limit))
        self._work = work_for(
            job.program, self._graph, self._space, self._threads, len(self._places), self._large,
            job.memory, anew, self._guard,
        )  # fmt: skip

    def initialise(self) -> None:
        """Put the frontier into the queue; fields have been filled as they were made."""
        program, graph = self.program, self._graph
        queue = self._work.queue[: len(self._places)]
        queue[:] = self._places
        _start_fronts(self._work, graph, len(queue), self._arcs, self._threads)
        self._later = not graph.has_transpose and program.pulls_later(self._large)
        self._looks_back = not self._later and program.looks_back(self._large)

    def launch(self, time_limit: float | None) -> None:
        """Make the rows of the graph and the state that functors see, of either direction."""
        program, graph, limit = self.program, self._graph, self._job.memory_limit
        if limit is not None:
            allow(self._case, self._work.account, self._held_bytes(), limit)
        rows, turned = rows_of(graph, program, self._looks_back, self._guard)
        values = (*self._arrays.values(), *self._numbers)
        state, in_state = states_of(
            program, self._names, self._columns, values, graph, turned, rows
        )  # fmt: skip
        self._arguments = rows, state, in_state, self._work
        self._time_limit = time_limit
        self._launches += 1

    def wait(self) -> bool:
        """Run the loop on the threads of the device; tell whether it waits for incoming arcs."""
        team, one_way = self._space.team, self._later and self._launches == 1
        try:
            team.run(
                self._loop, [self._threads], [self._arguments], time_limit=self._time_limit,
                fault=self._fault, one_way=one_way, guard=self._guard,
                may_not_end=may_not_end(self.program),
            )  # fmt: skip
        except COMPILE_ERRORS as error:
            raise explained(error, self.program, self._arguments[1]) from error
        except DeviceMemoryError as error:
            limit = self._job.memory_limit
            raise memory_error(self._case, error, self._held_bytes(), limit) from None
        team.control[0, control.BARRIERS] += self._barriers
        if not team.wants_incoming:
            return False
        self._barriers = int(team.control[0, control.BARRIERS])
        fault = self._fault
        self._fault = fault and (*fault[:2], int(team.control[0, control.FAULT_COUNT]))
        self._looks_back = True
        return True

    def _held_bytes(self) -> int:
        """Return the bytes of the run, all but what grows."""
        of_graph = held_by_graph(self._case, self._looks_back, self._guard)
        return of_graph + self._answer_bytes + self._space.asked_bytes

    def iterations(self) -> int:
        """Return how many iterations there were so far."""
        return int(self._work.fronts[frontier.ITERATION])

    def interrupt(self) -> None:
        """Have all threads stop at their next poll."""
        control.interrupt(self._space.team.control)

    def record(self) -> Record:
        """Return the record of the run."""
        profile = needs(self._job.program, self._graph, self._work)
        return recorded(
            self._space, self._work, self.iterations(), self._threads, self._clock,
            self._answer_bytes, profile, self._launches,
        )  # fmt: skip

    def collect(self) -> tuple[Mapping[str, Array], NDArray[np.int64]]:
        """Return the arrays, which are the answer, and what is left in the frontier."""
        return self._arrays, left_in(self._work, self._graph.num_vertices)


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


def _is_narrow(program: Program, graph: Graph, starts: int, arcs: int) -> bool:
    """Tell whether there is nothing to share, from so many vertices with so many arcs.

    Along paths a frontier never grows, and one step may be all there is.
    """
    if program.goes_once and max(starts, arcs) < 2 * ARCS_WORTH_A_THREAD:
        return not may_not_end(program)  # a loop in a functor is work that nobody has counted
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
    starting: int,
    large: bool,
    memory_profile: MemoryProfile = MINIMAL,
    anew: bool = False,
    guard: Guard | None = None,
) -> frontier.Work:
    """Return the memory of a run that starts from so many vertices."""
    workspace.of_arcs = None if guard is None else guard.array
    in_tiles = any(operator.in_tiles(large) for operator in program.reduces)
    kept = None
    if in_tiles:
        with thread_settings.limit(threads), preparing():
            kept = tiles.tiles_of(graph, np.empty if guard is None else guard.array)
    return memory.work_for(
        program.on(graph.targets.dtype), Portion.whole(graph, workspace, threads, kept), starting,
        memory=memory_profile, anew=anew,
    )  # fmt: skip


def rows_of(
    graph: Graph, program: Program, looks_back: bool, guard: Guard | None = None
) -> tuple[frontier.Rows, Graph]:
    """Return the rows of the graph for a program, its dtypes settled, and the graph turned round.

    The arcs of the latter are the incoming ones. Where these are not needed, outgoing arcs stand in
    their place, which nobody looks at.
    """
    turned = graph
    if looks_back:
        with nullcontext() if graph.has_transpose else preparing():
            turn_back(graph, guard)
            turned = graph.transpose
    most_degree = max(graph.max_degree, turned.max_degree if program.advances_back else 0)
    rows = frontier.Rows(
        graph.offsets, graph.targets, turned.offsets, turned.targets,
        graph.num_vertices, most_degree, graph.num_vertices, graph.num_vertices,
        numbers=numbers_of(program),
    )  # fmt: skip
    return rows, turned


def states_of(
    program: Program,
    names: tuple[str, ...],
    columns: Columns,
    values: tuple[Any, ...],
    graph: Graph,
    turned: Graph,
    rows: frontier.Rows,
) -> tuple[Any, Any]:
    """Return what functors see, of outgoing and of incoming edges; `values` begin a state."""
    far = far_names(program)
    make = state_class(names, far)
    in_weight = program.in_weights(turned.weights)
    ids = ids_where_kept(far, graph.num_vertices)
    tail = (*rows[:4], graph.num_vertices, ids, in_weight, *(0 for _ in program.counters))
    state = in_state = make(*values, *columns.of(graph), program.weights(graph.weights), *tail)
    if turned is not graph:
        in_state = make(*values, *columns.of(turned), program.weights(turned.weights), *tail)
    return state, in_state


def _start_fronts(work: frontier.Work, graph: Graph, size: int, edges: int, threads: int) -> None:
    for thread in range(threads):
        front = work.fronts[thread * frontier.FRONT_WORDS :]
        front[frontier.SIZE] = front[frontier.ALL_SIZE] = size
        front[frontier.EDGES] = front[frontier.ALL_EDGES] = edges
        front[frontier.UNEXPLORED] = graph.num_arcs

"""Running a program from many sources, each by itself, into the rows of two-dimensional fields.

    answer = run_each(program, graph, frontier=[3, 5], init={"depth": {3: 0, 5: 0}})
    answer["depth"].shape    # (2, graph.num_vertices)

Threads take sources from a common counter, and each runs its source alone: no meetings, and Python
neither between iterations nor between sources. Where sources are fewer than threads, and the graph
is large enough to be worth it, all threads run one source after the other together.

Invariant: a row is what `run` gives for its source alone, but for choices that `run` leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront import threads as thread_settings
from broadfront.backends.cpu.alone import (
    ARCS_WORTH_A_THREAD,
    rows_of,
    thread_count,
    work_for,
)
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device import workspace as workspaces
from broadfront.backends.cpu.device.team import compiled
from broadfront.backends.cpu.device.timeline import FINE
from broadfront.backends.cpu.loop.fused_batch import AT_SOURCE, FILLED, GIVEN, Batch, fused_batch
from broadfront.backends.cpu.memory.need import Case, allow, graph_bytes, memory_error
from broadfront.backends.cpu.memory.streaming import allowed, held_by_graph, streaming
from broadfront.backends.cpu.operators.frontier import Work
from broadfront.backends.python.run import PYTHON
from broadfront.clock import Allowance, Clock
from broadfront.devices.choose import choose, names_threads
from broadfront.devices.profile import FIXED, MemoryProfile
from broadfront.errors import DeviceMemoryError, OptionError
from broadfront.execution.answer import Answer
from broadfront.execution.asynchronous.settings import requested
from broadfront.execution.columns import columns_read, refuse_columns
from broadfront.execution.far import far_names, ids_where_kept
from broadfront.execution.faults import COMPILE_ERRORS, explained
from broadfront.execution.fields import answered, pairs_of
from broadfront.execution.loops import made_once, may_not_end
from broadfront.execution.lowering import Meaning
from broadfront.execution.options import Options, sorted_out
from broadfront.execution.parameters import values_of
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.execution.states import state_class
from broadfront.execution.synchronous import meaning_of_each
from broadfront.given import vertices
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Intersect
from broadfront.progress import following, listening, report
from broadfront.records import held
from broadfront.report.needs import needs
from broadfront.report.record import Record, joined, recorded
from broadfront.residence import Guard

Array = NDArray[Any]
NOBODY = np.empty(0, np.int64)


def run_each(
    program: Program,
    graph: Graph,
    *,
    frontier: ArrayLike,
    init: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    **options: Unpack[Options],
) -> Answer:
    """Run `program` from each of many vertices by itself; every field has a row for each.

    Parameters
    ----------
    frontier
        The positions of the vertices to start from, or a mask that is true for them; each is the
        frontier of a run of its own.
    init
        For some fields what they are at the start: pairs of position and value, of which each row
        takes that of its own vertex, or an array of whole rows.
    parameters
        The numbers that the program's parameters stand for, in all runs.
    options
        As in `run`; a time limit is for all runs together. With a memory limit as many sources are
        under way at once as are sure to fit, one at the least; each counts with a row of every
        field. On several devices sources run one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> import broadfront as bf
    >>> def one_further(source, neighbor, edge, state):
    ...     return state.depth[source] + 1
    >>> hops = bf.Program(
    ...     fields={"depth": bf.Field(np.int32, fill=99, combine="min")},
    ...     step=[bf.Advance(one_further, into="depth")],
    ... )
    >>> path = bf.generate("path:4")
    >>> bf.run_each(hops, path, frontier=[0, 2], init={"depth": {0: 0, 2: 0}})["depth"]
    array([[0, 1, 2, 3],
           [2, 1, 0, 1]], dtype=int32)
    """
    places = vertices(frontier, graph.num_vertices, "the frontier")
    if any(isinstance(step, Intersect) for phase in program.all_phases for step in phase.step):
        raise OptionError("what an Intersect finds is the same from every source: use run")
    where, how = sorted_out(options)
    one_device = False
    if where.get("devices") != PYTHON:
        devices = choose(where.get("devices"), how.get("threads"))
        one_device = len(devices) == 1 and "partitioner" not in where
        one_device = one_device and requested(where.get("execution")) is None
        if one_device and names_threads(where.get("devices")):
            how["threads"] = devices[0].threads
    count = _workers(graph, len(places), how.get("threads")) if one_device else 0
    if count == 0:  # `run` finds out, for each of them
        meaning = Meaning(program, {})
    else:
        meaning = meaning_of_each(program, places, init or {})
    start = meaning.start(init or {})
    arrays, begins, first = _fields(meaning.program, graph, places, start)
    batch = Batch(
        places, np.zeros(1, np.int64), np.zeros((len(places), 3), np.int64),
        tuple(array.shape[1] for array in arrays.values()), begins, first, 0,
    )  # fmt: skip
    settings = dict(parameters or {})
    with listening(how.pop("progress", None)):
        if count == 0:
            record = _together(program, graph, arrays, batch, settings, {**where, **how})
        else:
            record = _apart(
                meaning.program, graph, arrays, batch, settings, count,
                how.get("time_limit"), how["memory"], where.get("memory_limit"),
                how.get("checked", False),
            )  # fmt: skip
    found = answered(meaning.program.on(graph.targets.dtype), arrays)
    return meaning.shown(Answer(found, NOBODY, record))


def _workers(graph: Graph, runs: int, threads: int | None) -> int:
    """Return how many threads run sources of their own; 0 if all are to run each together."""
    alone = thread_count(graph, threads)
    if threads is None:
        threads = max(1, min(thread_settings.count(), runs * graph.num_arcs // ARCS_WORTH_A_THREAD))
    worth = graph.num_arcs >= ARCS_WORTH_A_THREAD
    return 0 if alone > 1 and 0 < runs < threads and worth else max(1, min(threads, runs))


def _fields(
    program: Program, graph: Graph, sources: Array, start: Mapping[str, Any]
) -> tuple[dict[str, Array], tuple[int, ...], tuple[Array, ...]]:
    """Return rows for every field, how they begin, and the values at the sources."""
    arrays, begins, first = {}, [], []
    for name in start:
        if name not in program.fields:
            raise OptionError(f"init has no field {name!r}; there are {', '.join(program.fields)}")
    for name, field in program.on(graph.targets.dtype).fields.items():
        shape = (len(sources), field.places(graph.num_vertices, graph.num_arcs))
        given, what = start.get(name), f"init[{name!r}]"
        dtype = field.storage
        values = np.zeros(len(sources), dtype)
        if isinstance(given, np.ndarray):
            arrays[name] = np.array(held(given, dtype, what), order="C")
            if arrays[name].shape != shape:
                raise OptionError(f"{what} has shape {given.shape}, not {shape}")
            begins.append(GIVEN)
        else:
            arrays[name] = np.empty(shape, dtype)
            begins.append(FILLED if given is None else AT_SOURCE)
        if given is not None and begins[-1] == AT_SOURCE:
            pairs = pairs_of(given, what)
            if set(pairs) != set(sources.tolist()) or not field.per_vertex:
                raise OptionError(f"{what} needs a value for every vertex of the frontier")
            values[:] = held([pairs[source] for source in sources.tolist()], dtype, what)
        first.append(values)
    return arrays, tuple(begins), tuple(first)


def _apart(
    program: Program,
    graph: Graph,
    arrays: Mapping[str, Array],
    batch: Batch,
    parameters: Mapping[str, float],
    count: int,
    time_limit: float | None,
    memory: MemoryProfile,
    memory_limit: int | None,
    checked: bool,
) -> Record:
    """Let `count` threads, or as many as memory allows, run one source each at a time."""
    case = Case(program.on(graph.targets.dtype), graph, 1, 1, memory, each_alone=True)
    case = allowed(case, memory_limit)
    with streaming(case, memory_limit) as guard:
        return _run_apart(
            program, case, guard, arrays, batch, parameters, count, time_limit, memory_limit,
            checked,
        )  # fmt: skip


def _run_apart(
    program: Program,
    case: Case,
    guard: Guard | None,
    arrays: Mapping[str, Array],
    batch: Batch,
    parameters: Mapping[str, float],
    count: int,
    time_limit: float | None,
    memory_limit: int | None,
    checked: bool,
) -> Record:
    clock, graph = Clock(), case.graph
    columns = columns_read(program, graph)
    refuse_columns(program, graph, many=False)
    names = program.state_names_with(columns.names)
    make = state_class(names, far_names(program))
    allowance = Allowance(time_limit)
    with allowance:
        rows, turned = rows_of(graph, case.program, program.looks_back(False), guard)
    common = (*(array.reshape(-1) for array in arrays.values()), *values_of(program, parameters))
    in_weight = program.in_weights(turned.weights)
    ids = ids_where_kept(program, graph.num_vertices)
    tail = (*rows[:4], graph.num_vertices, ids, in_weight, *(0 for _ in program.counters))
    state, in_state = (
        make(*common, *columns.of(one), program.weights(one.weights), *tail)
        for one in (graph, turned)
    )
    key = ("batch", graph.targets.dtype, names)
    loop = made_once(program, key, lambda: fused_batch(program.on(key[1]), names), checked)
    of_graph = held_by_graph(case, program.looks_back(False), guard)
    count = _fitting(case, count, memory_limit, of_graph)
    row_bytes = sum(array.nbytes for array in arrays.values()) // max(1, len(batch.sources))
    anew = memory_limit is not None
    with workspaces.borrowed_many(count, anew) as crew, thread_settings.limit(count):
        works = [
            work_for(program, graph, each, 1, (), False, case.memory, anew)[0] for each in crew
        ]
        held = of_graph + row_bytes + crew[0].asked_bytes
        for each, own in zip(crew, works, strict=True):
            if count == 1:  # of several workers none can come to need more than its share
                allow(case, own.account, held, memory_limit)
            each.team.reset(allowance.left())
            if guard is not None:
                guard.pace(each.team.looked)
        try:
            with following(
                program.name, lambda: int(batch.turn[0]), lambda: _interrupt(crew),
                len(batch.sources),
            ):  # fmt: skip
                iterations = _run_all(
                    loop, crew, (rows, state, in_state), works, batch, may_not_end(program)
                )
            for each in crew:
                each.team.raise_if_stopped(time_limit)
        except COMPILE_ERRORS as error:
            raise explained(error, program, state) from error
        except DeviceMemoryError as error:
            raise memory_error(case, error, held, memory_limit) from None
        records = [
            recorded(each, own, done, count, clock, 0, needs(program, graph, own))
            for each, own, done in zip(crew, works, iterations, strict=True)
        ]
    answer_bytes = sum(array.nbytes for array in arrays.values())
    workspace_bytes = sum(record.workspace_bytes for record in records)
    return replace(
        _in_order(records, batch.spans),
        seconds=clock.run_seconds, compile_seconds=clock.compile_seconds,
        load_seconds=clock.load_seconds, prepare_seconds=clock.prepare_seconds, kernel_calls=count,
        bytes=np.array([[answer_bytes, workspace_bytes]], np.int64),
    )  # fmt: skip


def _run_all(
    loop: Callable[..., Any],
    crew: Sequence[workspaces.Workspace],
    common: tuple[Any, ...],
    works: Sequence[Work],
    batch: Batch,
    may_not_end: bool,
) -> list[int]:
    """Run the loop on a thread for each workspace; one that stops or fails stops all."""
    words = [each.team.control[0] for each in crew]
    calls = [
        (own, *common, work, batch._replace(worker=worker))
        for worker, (own, work) in enumerate(zip(words, works, strict=True))
    ]
    if not compiled(loop):  # here, where Ctrl-C lets the caller go
        over = np.array([len(batch.sources)])
        loop(words[0].copy(), *common, works[0], batch._replace(turn=over))
    answers = crew[0].team.call_all(loop, calls, words, may_not_end=may_not_end)
    return [int(answer) for answer in answers]


def _interrupt(crew: Sequence[workspaces.Workspace]) -> None:
    for each in crew:
        control.interrupt(each.team.control)


def _fitting(case: Case, count: int, memory_limit: int | None, of_graph: int) -> int:
    """Return how many of `count` workers are sure to fit, and 1 at the least."""
    if memory_limit is None:
        return count
    graph = graph_bytes(case.graph, False, case.streamed)
    most = case._replace(memory=FIXED).bytes_at_first()[0] - graph
    return max(1, min(count, (memory_limit - of_graph) // max(1, most)))


def _in_order(records: Sequence[Record], spans: Array) -> Record:
    """Return one record of all threads, its rows in the order of the sources.

    Rows that cover several iterations may cover those of several sources: they come last.
    """
    whole = joined(records)
    begins = np.cumsum([0, *(len(record.spans) for record in records)])
    pieces = [
        begins[worker] + np.arange(min(first, FINE), min(last, FINE))
        for worker, first, last in spans.tolist()
    ]
    ordered = np.concatenate([NOBODY, *pieces])
    order = np.concatenate([ordered, np.setdiff1d(np.arange(begins[-1]), ordered)])
    arrays = {
        field.name: getattr(whole, field.name)[order]
        for field in fields(whole)
        if field.name != "bytes" and isinstance(getattr(whole, field.name), np.ndarray)
    }
    return replace(whole, **arrays)


def _together(
    program: Program,
    graph: Graph,
    arrays: Mapping[str, Array],
    batch: Batch,
    parameters: Mapping[str, float],
    limits: dict[str, Any],
) -> Record:
    """Run one source after the other with all threads."""
    records = []
    begins = list(zip(program.fields, batch.begins, batch.first, strict=True))
    with Allowance(limits.pop("time_limit", None)) as left:
        for row, source in enumerate(batch.sources.tolist()):
            start: dict[str, Any] = {
                name: arrays[name][row] if begin == GIVEN else {source: values[row]}
                for name, begin, values in begins
                if begin != FILLED
            }
            answer = run(
                program, graph, frontier=[source], init=start, parameters=parameters,
                time_limit=left(), **limits,
            )  # fmt: skip
            for name, array in arrays.items():
                array[row] = held(answer[name], array.dtype, name)
            records.append(answer.record)
            report(program.name, row + 1, len(batch.sources))
    return joined(records)

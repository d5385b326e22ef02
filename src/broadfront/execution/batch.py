"""Running a program from many sources, each by itself, into the rows of two-dimensional fields.

    answer = run_each(program, graph, frontier=[3, 5], start={"depth": {3: 0, 5: 0}})
    answer["depth"].shape    # (2, graph.num_vertices)

Threads take sources from a common counter, and each runs its source alone: no meetings, and Python
neither between iterations nor between sources. Where sources are fewer than threads, and the graph
is large enough to be worth it, all threads run one source after the other together.

Invariant: a row is what `run` gives for its source alone, but for choices that `run` leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from typing import Any, Unpack

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, NDArray

from broadfront import threads as thread_settings
from broadfront.clock import Allowance, Clock
from broadfront.devices import control
from broadfront.devices import workspace as workspaces
from broadfront.devices.profile import MemoryProfile
from broadfront.errors import OptionError
from broadfront.execution.alone import (
    ARCS_WORTH_A_THREAD,
    rows_of,
    thread_count,
    values_of,
    work_for,
)
from broadfront.execution.answer import Answer
from broadfront.execution.faults import explained
from broadfront.execution.fused import AT_SOURCE, FILLED, GIVEN, Batch, fused_batch
from broadfront.execution.options import Options, checked
from broadfront.execution.program import RESERVED, Program
from broadfront.execution.run import run
from broadfront.execution.states import state_class
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Intersect
from broadfront.progress import following, listening
from broadfront.report.needs import needs
from broadfront.report.record import Record, joined, recorded

Array = NDArray[Any]
NOBODY = np.empty(0, np.int64)


def run_each(
    program: Program,
    graph: Graph,
    *,
    frontier: ArrayLike,
    start: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    **options: Unpack[Options],
) -> Answer:
    """Run `program` from each of many vertices by itself; every field has a row for each.

    Parameters
    ----------
    frontier
        The positions of the vertices to start from; each is the frontier of a run of its own.
    start
        For some fields what they are at the start: pairs of position and value, of which each row
        takes that of its own vertex, or an array of whole rows.
    parameters
        The numbers that the program's parameters stand for, in all runs.
    options
        As in `run`; a time limit is for all runs together. On several devices sources run one after
        the other.

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
    >>> bf.run_each(hops, path, frontier=[0, 2], start={"depth": {0: 0, 2: 0}})["depth"]
    array([[0, 1, 2, 3],
           [2, 1, 0, 1]], dtype=int32)
    """
    places = _sources(graph, frontier)
    if any(isinstance(step, Intersect) for phase in program.all_phases for step in phase.step):
        raise OptionError("what an Intersect finds is the same from every source: use run")
    where, how = checked(options)
    count = 0 if where else _workers(graph, len(places), how.get("threads"))
    arrays, begins, first = _fields(program, graph, places, start or {})
    batch = Batch(
        places, np.zeros(1, np.int64), np.zeros((len(places), 3), np.int64),
        tuple(array.shape[1] for array in arrays.values()), begins, first, 0,
    )  # fmt: skip
    numbers = dict(parameters or {})
    with (
        listening(how.pop("progress", None)),
        following(program.name, lambda: int(batch.turn[0]), len(places)),
    ):
        if count == 0:
            record = _together(program, graph, arrays, batch, numbers, {**where, **how})
        else:
            record = _apart(
                program, graph, arrays, batch, numbers, count,
                how.get("time_limit"), how["memory"],
            )  # fmt: skip
    return Answer(arrays, NOBODY, record)


def _sources(graph: Graph, frontier: ArrayLike) -> NDArray[np.int64]:
    places = np.array(frontier, dtype=np.int64, ndmin=1)
    wrong = (places < 0) | (places >= graph.num_vertices)
    if wrong.any():
        raise OptionError(f"the frontier holds {places[wrong][0]}, which is not a vertex")
    return places


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
            raise OptionError(f"start has no field {name!r}; there are {', '.join(program.fields)}")
    for name, field in program.on(graph.targets.dtype).fields.items():
        shape = (len(sources), graph.num_vertices if field.length is None else field.length)
        given = start.get(name)
        values = np.zeros(len(sources), field.dtype)
        if isinstance(given, np.ndarray):
            if given.shape != shape:
                raise OptionError(f"start[{name!r}] has shape {given.shape}, not {shape}")
            arrays[name] = np.array(given, field.dtype, order="C")
            begins.append(GIVEN)
        else:
            arrays[name] = np.empty(shape, field.dtype)
            begins.append(FILLED if given is None else AT_SOURCE)
        if given is not None and begins[-1] == AT_SOURCE:
            pairs = dict(given)
            if set(pairs) != set(sources.tolist()) or field.length is not None:
                raise OptionError(f"start[{name!r}] needs a value for every vertex of the frontier")
            values[:] = [pairs[source] for source in sources.tolist()]
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
) -> Record:
    """Let `count` threads run one source each at a time."""
    clock = Clock()
    names = (*program.fields, *program.parameters, *RESERVED)
    make = state_class(names)
    rows, in_weights = rows_of(program, graph, False)
    common = (*(array.reshape(-1) for array in arrays.values()), *values_of(program, parameters))
    tail = (*rows[:4], graph.num_vertices, None)
    state = make(*common, graph.weights if graph.weights is not None else (), *tail)
    in_state = make(*common, in_weights if in_weights is not None else (), *tail)
    key = ("batch", graph.targets.dtype)
    loop = program._loops.get(key)
    if loop is None:
        loop = program._loops.setdefault(key, fused_batch(program.on(key[1]), names))
    with ExitStack() as borrowed, thread_settings.limit(count):
        crew = [borrowed.enter_context(workspaces.borrowed()) for _ in range(count)]
        works = [work_for(program, graph, each, 1, (), False, memory)[0] for each in crew]
        for each in crew:
            each.team.reset(time_limit)

        def stop(reason: int) -> None:
            for each in crew:
                if each.team.control[0, control.STOP] == control.RUNNING:
                    each.team.control[0, control.STOP] = reason

        def work(worker: int) -> int:
            own = crew[worker].team.control[0]
            mine = batch._replace(worker=worker)
            try:
                iterations = loop(own, rows, state, in_state, works[worker], mine)
            except BaseException:
                stop(control.INTERRUPTED)
                raise
            if own[control.STOP] != control.RUNNING:
                stop(own[control.STOP])
            return int(iterations)

        try:
            iterations = thread_settings.run(work, count)
        except NumbaError as error:
            raise explained(error, program, state) from error
        except BaseException:  # Ctrl-C while waiting for the others
            stop(control.INTERRUPTED)
            raise
        for each in crew:
            each.team.raise_if_stopped(time_limit)
        records = [
            recorded(each, own, done, count, clock, 0, needs(program, graph, own))
            for each, own, done in zip(crew, works, iterations, strict=True)
        ]
    answer_bytes = sum(array.nbytes for array in arrays.values())
    workspace_bytes = sum(record.workspace_bytes for record in records)
    return replace(
        _in_order(records, batch.spans),
        seconds=clock.seconds, compile_seconds=clock.compile_seconds,
        load_seconds=clock.load_seconds, kernel_calls=count,
        bytes=np.array([[answer_bytes, workspace_bytes]], np.int64),
    )  # fmt: skip


def _in_order(records: Sequence[Record], spans: Array) -> Record:
    """Return one record of all threads, its iterations in the order of the sources."""
    whole = joined(records)
    begins = np.cumsum([0, *(len(record.frontier) for record in records)])
    pieces = [
        np.arange(begins[worker] + first, min(begins[worker] + last, begins[worker + 1]))
        for worker, first, last in spans.tolist()
    ]
    order = np.concatenate([NOBODY, *pieces])
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
                program, graph, frontier=[source], start=start, parameters=parameters,
                time_limit=left(), **limits,
            )  # fmt: skip
            for name, array in arrays.items():
                array[row] = answer[name]
            records.append(answer.record)
            batch.turn[0] += 1
    return joined(records)

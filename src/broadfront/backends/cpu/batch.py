"""Many sources on one device, each by itself, into rows of its own.

Threads take sources from a common counter, and each runs its source alone: no meetings, and Python
neither between iterations nor between sources. Where sources are fewer than threads, and the graph
is large enough to be worth it, it is left to `run`, in which all threads run each source together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads as thread_settings
from broadfront.backends.contract import Job, Rows
from broadfront.backends.cpu.alone import (
    ARCS_WORTH_A_THREAD,
    rows_of,
    states_of,
    thread_count,
    work_for,
)
from broadfront.backends.cpu.device import control
from broadfront.backends.cpu.device import workspace as workspaces
from broadfront.backends.cpu.device.pace import keep_to
from broadfront.backends.cpu.device.team import compiled
from broadfront.backends.cpu.device.timeline import FINE
from broadfront.backends.cpu.loop.fused_batch import Batch, fused_batch
from broadfront.backends.cpu.memory.need import Case, allow, graph_bytes, memory_error
from broadfront.backends.cpu.memory.streaming import allowed, held_by_graph, streaming
from broadfront.backends.cpu.operators.frontier import Work
from broadfront.backends.cpu.record.alone import recorded
from broadfront.backends.cpu.record.needs import needs
from broadfront.clock import Allowance, Clock
from broadfront.devices.profile import FIXED
from broadfront.errors import DeviceMemoryError
from broadfront.execution.columns import columns_read, refuse_columns
from broadfront.execution.faults import COMPILE_ERRORS, explained
from broadfront.execution.loops import made_once, may_not_end
from broadfront.execution.parameters import values_of
from broadfront.graph.csr import Graph
from broadfront.progress import following
from broadfront.report.record import Record, joined
from broadfront.residence import Guard

Array = NDArray[Any]
NOBODY = np.empty(0, np.int64)


def rows_at_once(graph: Graph, rows: int, threads: int | None) -> int:
    """Return how many threads run sources of their own; 0 if all are to run each together."""
    alone = thread_count(graph, threads)
    if threads is None:
        threads = max(1, min(thread_settings.count(), rows * graph.num_arcs // ARCS_WORTH_A_THREAD))
    worth = graph.num_arcs >= ARCS_WORTH_A_THREAD
    return 0 if alone > 1 and 0 < rows < threads and worth else max(1, min(threads, rows))


def run_rows(job: Job, given: Rows, count: int) -> Record:
    """Let `count` threads, or as many as memory allows, run one source each at a time."""
    settled = job.program.on(job.graph.targets.dtype)
    case = allowed(Case(settled, job.graph, 1, 1, job.memory, each_alone=True), job.memory_limit)
    with streaming(case, job.memory_limit) as guard:
        return _run_rows(job, case, guard, given, count)


def _run_rows(job: Job, case: Case, guard: Guard | None, given: Rows, count: int) -> Record:
    clock, program, graph, arrays = job.clock or Clock(), job.program, job.graph, given.arrays
    memory_limit, time_limit = job.memory_limit, job.time_limit
    batch = Batch(
        given.sources, np.zeros(1, np.int64), np.zeros((len(given.sources), 3), np.int64),
        tuple(array.shape[1] for array in arrays.values()), given.begins, given.first, 0,
    )  # fmt: skip
    columns = columns_read(program, graph)
    refuse_columns(program, graph, many=False)
    names = program.state_names_with(columns.names)
    allowance = Allowance(time_limit)
    with allowance:
        rows, turned = rows_of(graph, case.program, program.looks_back(False), guard)
    common = (
        *(array.reshape(-1) for array in arrays.values()),
        *values_of(program, job.parameters),
    )
    state, in_state = states_of(program, names, columns, common, graph, turned, rows)
    key = ("batch", graph.targets.dtype, names)
    loop = made_once(program, key, lambda: fused_batch(program.on(key[1]), names), job.checked)
    of_graph = held_by_graph(case, program.looks_back(False), guard)
    count = _fitting(case, count, memory_limit, of_graph)
    row_bytes = sum(array.nbytes for array in arrays.values()) // max(1, len(batch.sources))
    anew = memory_limit is not None
    with workspaces.borrowed_many(count, anew) as crew, thread_settings.limit(count):
        works = [work_for(program, graph, each, 1, 0, False, case.memory, anew) for each in crew]
        held = of_graph + row_bytes + crew[0].asked_bytes
        for each, own in zip(crew, works, strict=True):
            if count == 1:  # of several workers none can come to need more than its share
                allow(case, own.account, held, memory_limit)
            each.team.reset(allowance.left())
            if guard is not None:
                keep_to(guard, each.team.control[0])
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
    if len(records) == 1:
        return records[0]
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

"""Running a program on a graph, on one device or on many: the whole route.

    answer = run(program, graph, frontier=[source], init={"depth": {source: 0}}, devices=4)

Options say on which back end and devices; what the program means there is settled, the graph is
split where there are several devices, and the back end carries out the job (`backends.contract`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Unpack

from numpy.typing import ArrayLike

from broadfront.backends.contract import Job, carry_out
from broadfront.backends.registry import backend_of
from broadfront.clock import Allowance, Clock
from broadfront.devices.choose import PYTHON, Device, choose, names_threads
from broadfront.devices.profile import MINIMAL
from broadfront.execution.answer import Answer
from broadfront.execution.asynchronous.choice import Choice, choose_execution
from broadfront.execution.asynchronous.settings import requested
from broadfront.execution.expected import expect_run
from broadfront.execution.fields import refuse_lawless
from broadfront.execution.frontiers import refuse_without_frontier
from broadfront.execution.lowering import Meaning
from broadfront.execution.options import Options, Partitioner, sorted_out
from broadfront.execution.program import Program
from broadfront.execution.spread import partition_for
from broadfront.execution.synchronous import meaning_of
from broadfront.given import is_word
from broadfront.graph.csr import Graph
from broadfront.progress import listening


def run(
    program: Program,
    graph: Graph,
    *,
    frontier: ArrayLike | None = None,
    init: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    **options: Unpack[Options],
) -> Answer:
    """Run `program` on `graph`.

    Parameters
    ----------
    frontier
        The positions of the vertices to start from, or a mask that is true for them. Programs that
        make their frontiers, or need none, do without.
    init
        For some fields what they are at the start: a whole array, or pairs of position and value.
        Values must fit the field: nothing is cut off or wrapped.
    parameters
        The numbers that the program's parameters stand for.
    options
        Where it runs, how long it may, and who listens: `broadfront.execution.options.Options`.
    """
    expect_run(program, graph, init, parameters)
    if frontier is None:
        refuse_without_frontier(program)
        frontier = ()
    where, how = sorted_out(options)
    execution = where.pop("execution", None)
    asynchronous = requested(execution)
    job = Job(
        program, graph, frontier, init or {}, parameters or {}, memory=how["memory"],
        memory_limit=where.get("memory_limit"), relabel=where.get("relabel"),
        checked=how.get("checked", False), asynchronous=asynchronous,
    )  # fmt: skip
    refuse_lawless(program, job.init, graph)
    backend = backend_of(where.get("devices"))
    backend.check(where, asynchronous)
    meaning = Meaning(program, {})
    if asynchronous is None:
        meaning = meaning_of(program, graph, frontier, job.init)
    with listening(how.get("progress")), Allowance(how.get("time_limit")) as left:
        if is_word(where.get("devices"), PYTHON):  # proposals wait there: it runs what was written
            return carry_out(backend.prepared(job), left())
        is_open = execution is None and backend.may_go_without_meeting()
        with _placed(job, where, how.get("threads"), is_open) as (placed, why):
            if placed.asynchronous is None and meaning.hidden:
                begin = meaning.start(job.init)
                placed = placed._replace(program=meaning.program, init=begin)
            answer = meaning.shown(carry_out(backend.prepared(placed), left()))
    return _said(answer, why)


def _placed(
    job: Job, where: Mapping[str, Any], threads: int | None, is_open: bool
) -> AbstractContextManager[tuple[Job, str]]:
    """Say where a job runs: on one device or, with a part of the graph each, on several.

    Where it `is_open` how, the graph decides; then the second tells why.
    """
    named, by = where.get("devices"), where.get("partitioner")
    whole = by is None and job.asynchronous is None
    if named is not None or not whole:
        devices = choose(named, threads)
        if len(devices) > 1 or not whole:
            return _split(job, devices, by, is_open)
        if names_threads(named):
            threads = devices[0].threads
    return nullcontext((job if threads is None else job._replace(threads=threads), ""))


@contextmanager
def _split(
    job: Job, devices: list[Device], by: Partitioner | None, is_open: bool
) -> Iterator[tuple[Job, str]]:
    clock = Clock()
    with partition_for(job.graph, devices, by) as partition:
        choice = Choice(job.asynchronous, "")
        if is_open:
            limited = job.memory_limit is not None or job.memory is not MINIMAL
            choice = choose_execution(
                job.program, partition, devices, job.frontier, job.init, limited=limited
            )
        placed = job._replace(
            devices=devices, partition=partition, clock=clock, asynchronous=choice.how
        )
        yield placed, choice.why


def _said(answer: Answer, why: str) -> Answer:
    """Return an answer whose record says why it was run in the way that it was."""
    return replace(answer, record=replace(answer.record, why=why)) if why else answer

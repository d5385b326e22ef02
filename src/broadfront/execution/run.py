"""Running a program on a graph, on one device or on many: the whole route.

    answer = run(program, graph, frontier=[source], init={"depth": {source: 0}}, devices=4)

On one device the program is one compiled loop on all of its threads. On several, the graph is split
among them, each runs the same loop on its part, and they meet in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from numpy.typing import ArrayLike

from broadfront.backends.cpu.alone import run_alone
from broadfront.backends.cpu.asynchronous.run import run_asynchronously
from broadfront.backends.cpu.many import run_on
from broadfront.backends.cpu.transports import current
from broadfront.backends.python.run import PYTHON, in_python, run_in_python
from broadfront.clock import Allowance, Clock
from broadfront.devices.choose import choose, names_threads
from broadfront.devices.profile import MINIMAL
from broadfront.errors import OptionError
from broadfront.execution.answer import Answer
from broadfront.execution.asynchronous.choice import Choice, choose_execution
from broadfront.execution.asynchronous.settings import Async, requested
from broadfront.execution.lowering import Meaning
from broadfront.execution.options import Options, sorted_out
from broadfront.execution.program import Program
from broadfront.execution.spread import partition_for
from broadfront.execution.synchronous import meaning_of
from broadfront.graph.csr import Graph
from broadfront.progress import listening


def run(
    program: Program,
    graph: Graph,
    *,
    frontier: ArrayLike = (),
    init: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    **options: Unpack[Options],
) -> Answer:
    """Run `program` on `graph`.

    Parameters
    ----------
    frontier
        The positions of the vertices to start from, or a mask that is true for them.
    init
        For some fields what they are at the start: a whole array, or pairs of position and value.
        Values must fit the field: nothing is cut off or wrapped.
    parameters
        The numbers that the program's parameters stand for.
    options
        Where it runs, how long it may, and who listens: `broadfront.execution.options.Options`.
    """
    where, how = sorted_out(options)
    begin, numbers = init or {}, parameters or {}
    execution = where.pop("execution", None)
    asynchronously = requested(execution)
    if asynchronously is not None:
        return _asynchronously(asynchronously, program, graph, frontier, begin, numbers, where, how)
    meaning = meaning_of(program, graph, frontier, begin)
    if where.get("devices") == PYTHON:
        limits = in_python(where, how)
        return run_in_python(program, graph, frontier, begin, numbers, **limits)
    devices = choose(where.get("devices"), how.get("threads"))
    if len(devices) == 1 and "partitioner" not in where:
        if names_threads(where.get("devices")):
            how["threads"] = devices[0].threads
        most = where.get("memory_limit")
        return meaning.shown(run_alone(
            meaning.program, graph, frontier, meaning.start(begin), numbers, memory_limit=most,
            **how,
        ))  # fmt: skip
    return _on_several(meaning, program, graph, frontier, begin, numbers, where, how, execution)


def _on_several(
    meaning: Meaning,
    program: Program,
    graph: Graph,
    frontier: ArrayLike,
    init: Mapping[str, Any],
    parameters: Mapping[str, float],
    where: Mapping[str, Any],
    how: Mapping[str, Any],
    execution: str | None,
) -> Answer:
    """Run a program on several devices, bulk-synchronously unless that is left open."""
    devices = choose(where.get("devices"), how.get("threads"))
    clock, choice = Clock(), Choice(None, "")
    with (
        listening(how.get("progress")),
        Allowance(how.get("time_limit")) as left,
        partition_for(graph, devices, where.get("partitioner")) as partition,
    ):
        if execution is None and not current().apart:
            limited = "memory_limit" in where or how["memory"] is not MINIMAL
            choice = choose_execution(program, partition, devices, frontier, init, limited=limited)
        options = {
            "relabel": where.get("relabel"), "time_limit": left(), "clock": clock,
            "checked": how.get("checked", False),
        }  # fmt: skip
        if choice.how is not None:
            answer = run_asynchronously(
                program, partition, devices, frontier, init, parameters, how=choice.how, **options
            )
        else:
            answer = meaning.shown(run_on(
                meaning.program, partition, devices, frontier, meaning.start(init), parameters,
                memory=how["memory"], memory_limit=where.get("memory_limit"), **options,
            ))  # fmt: skip
    return _said(answer, choice.why)


def _said(answer: Answer, why: str) -> Answer:
    """Return an answer whose record says why it was run in the way that it was."""
    return replace(answer, record=replace(answer.record, why=why)) if why else answer


def _asynchronously(
    how_so: Async,
    program: Program,
    graph: Graph,
    frontier: ArrayLike,
    init: Mapping[str, Any],
    parameters: Mapping[str, float],
    where: Mapping[str, Any],
    how: Mapping[str, Any],
) -> Answer:
    """Run a program asynchronously, on one device or on many."""
    if where.get("devices") == PYTHON:
        raise OptionError("devices='python' is synchronous: leave execution='async' out")
    if "memory_limit" in where:
        raise OptionError("execution='async' takes no memory_limit: use execution='bsp' with it")
    devices = choose(where.get("devices"), how.get("threads"))
    clock, by = Clock(), where.get("partitioner")
    with (
        listening(how.get("progress")),
        Allowance(how.get("time_limit")) as left,
        partition_for(graph, devices, by) as partition,
    ):
        return run_asynchronously(
            program, partition, devices, frontier, init, parameters, how=how_so,
            relabel=where.get("relabel"), time_limit=left(), clock=clock,
            checked=how.get("checked", False),
        )  # fmt: skip

"""Running a program on a graph, on one device or on many: the whole route.

    answer = run(program, graph, frontier=[source], init={"depth": {source: 0}}, devices=4)

On one device the program is one compiled loop on all of its threads. On several, the graph is split
among them, each runs the same loop on its part, and they meet in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from numpy.typing import ArrayLike

from broadfront.backends.cpu.alone import run_alone
from broadfront.backends.cpu.asynchronous.run import run_asynchronously
from broadfront.backends.cpu.many import run_on
from broadfront.backends.python.run import PYTHON, in_python, run_in_python
from broadfront.clock import Allowance, Clock
from broadfront.devices.choose import choose, names_threads
from broadfront.errors import OptionError
from broadfront.execution.answer import Answer
from broadfront.execution.asynchronous.settings import Async, requested
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
    asynchronously = requested(where.pop("execution", None))
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
    clock, by = Clock(), where.get("partitioner")
    with (
        listening(how.get("progress")),
        Allowance(how.get("time_limit")) as left,
        partition_for(graph, devices, by) as partition,
    ):
        return meaning.shown(run_on(
            meaning.program, partition, devices, frontier, meaning.start(begin), numbers,
            relabel=where.get("relabel"), memory=how["memory"],
            memory_limit=where.get("memory_limit"), time_limit=left(), clock=clock,
            checked=how.get("checked", False),
        ))  # fmt: skip


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
    clock, by = Clock(), where.get("partitioner", "random")
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

"""Running a program from many sources, each by itself, into the rows of two-dimensional fields.

    answer = run_each(program, graph, frontier=[3, 5], init={"depth": {3: 0, 5: 0}})
    answer["depth"].shape    # (2, graph.num_vertices)

A back end may run several sources at once, each by itself, if that is quicker; otherwise `run` runs
one after the other.

Invariant: a row is what `run` gives for its source alone, but for choices that `run` leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.backends.contract import AT_SOURCE, FILLED, GIVEN, Job, Rows
from broadfront.backends.registry import backend_of
from broadfront.clock import Allowance
from broadfront.devices.choose import PYTHON, choose, names_threads
from broadfront.errors import OptionError
from broadfront.execution.answer import Answer
from broadfront.execution.asynchronous.settings import requested
from broadfront.execution.expected import expect_run
from broadfront.execution.fields import answered, pairs_of
from broadfront.execution.lowering import Meaning
from broadfront.execution.options import Options, sorted_out
from broadfront.execution.program import Program
from broadfront.execution.run import run
from broadfront.execution.synchronous import meaning_of_each
from broadfront.given import is_word, vertices
from broadfront.graph.csr import Graph
from broadfront.operators.describe import Intersect
from broadfront.progress import listening, report
from broadfront.records import held
from broadfront.report.record import Record, joined

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
    expect_run(program, graph, init, parameters)
    places = vertices(frontier, graph.num_vertices, "the frontier")
    if any(isinstance(step, Intersect) for phase in program.all_phases for step in phase.step):
        raise OptionError("what an Intersect finds is the same from every source: use run")
    where, how = sorted_out(options)
    backend, at_once = backend_of(where.get("devices")), 0
    threads, asynchronous = how.get("threads"), requested(where.get("execution"))
    if not is_word(where.get("devices"), PYTHON):
        devices = choose(where.get("devices"), threads)
        if len(devices) == 1 and "partitioner" not in where and asynchronous is None:
            threads = devices[0].threads if names_threads(where.get("devices")) else threads
            asked = not {"relabel", "memory_limit"}.isdisjoint(where)
            if not asked and backend.worth_an_order(program, graph, len(places)):
                where["relabel"] = True
            at_once = backend.rows_at_once(graph, len(places), threads)
    if at_once == 0:  # `run` finds out, for each of them
        meaning = Meaning(program, {})
    else:
        meaning = meaning_of_each(program, places, init or {})
    rows = _rows(meaning.program, graph, places, meaning.start(init or {}))
    numbers = dict(parameters or {})
    with listening(how.pop("progress", None)):
        if at_once == 0:
            if threads is not None:
                how["threads"] = threads
            record = _together(program, graph, rows, numbers, {**where, **how})
        else:
            job = Job(
                meaning.program, graph, parameters=numbers, memory=how["memory"],
                memory_limit=where.get("memory_limit"), time_limit=how.get("time_limit"),
                relabel=where.get("relabel"), threads=threads, checked=how.get("checked", False),
            )  # fmt: skip
            record = backend.run_rows(job, rows, at_once)
    found = answered(meaning.program.on(graph.targets.dtype), rows.arrays)
    return meaning.shown(Answer(found, NOBODY, record))


def _rows(program: Program, graph: Graph, sources: Array, start: Mapping[str, Any]) -> Rows:
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
    return Rows(sources, arrays, tuple(begins), tuple(first))


def _together(
    program: Program,
    graph: Graph,
    rows: Rows,
    parameters: Mapping[str, float],
    limits: dict[str, Any],
) -> Record:
    """Run one source after the other with all threads."""
    records = []
    begins = list(zip(program.fields, rows.begins, rows.first, strict=True))
    with Allowance(limits.pop("time_limit", None)) as left:
        for row, source in enumerate(rows.sources.tolist()):
            start: dict[str, Any] = {
                name: rows.arrays[name][row] if begin == GIVEN else {source: values[row]}
                for name, begin, values in begins
                if begin != FILLED
            }
            answer = run(
                program, graph, frontier=[source], init=start, parameters=parameters,
                time_limit=left(), **limits,
            )  # fmt: skip
            for name, array in rows.arrays.items():
                array[row] = held(answer[name], array.dtype, name)
            records.append(answer.record)
            report(program.name, row + 1, len(rows.sources))
    return joined(records)

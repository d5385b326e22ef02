"""A run on one device that has the vertices of the graph in the order of their degrees.

The run itself is that of any graph (`..alone`), on the graph in that order. What a caller gives is
put into the order before it, and what the caller gets is put back after it: arrays, the frontier,
and in fields that hold vertices their numbers.

Invariant: the compiled loop is the one that runs on the graph as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import atomics
from broadfront import threads as thread_settings
from broadfront.backends.contract import AT_SOURCE, GIVEN, Job, Rows
from broadfront.backends.cpu.alone import RunAlone
from broadfront.execution.fields import Start, checked_start, frontier_of
from broadfront.execution.program import Program
from broadfront.execution.relabelling import Relabelling
from broadfront.kernel import kernel
from broadfront.pages import answer_array
from broadfront.partition.by_degree import ByDegree
from broadfront.report.record import Record

Array = NDArray[Any]

GRAIN = 1 << 16


class RelabelledRun:
    """A run on one device, on the graph in the order of degrees."""

    def __init__(
        self, job: Job, order: ByDegree, meaning: Relabelling, told: Callable[[Record], None]
    ) -> None:
        graph = job.graph
        self._order, self._meaning, self._told = order, meaning, told
        self._fields = job.program.on(graph.targets.dtype).fields
        begins = checked_start(job.program.on(graph.targets.dtype), job.init, graph)
        starting = frontier_of(graph, job.frontier)
        some = len(starting) < graph.num_vertices
        self._inner = RunAlone(
            job._replace(
                graph=order.graph,
                frontier=order.places[starting] if some else starting,
                init=self._placed(begins),
            )
        )
        self.program = self._inner.program
        self.compile, self.allocate = self._inner.compile, self._inner.allocate
        self.initialise, self.launch = self._inner.initialise, self._inner.launch
        self.wait, self.iterations = self._inner.wait, self._inner.iterations
        self.interrupt = self._inner.interrupt

    def _placed(self, begins: Start) -> dict[str, Any]:
        """Return what fields begin with, vertex by vertex in the order."""
        order, found = self._order, dict[str, Any]()
        for name, given in begins.items():
            holds = name in self._meaning.recorded
            if isinstance(given, np.ndarray):
                own = self._fields[name].per_vertex
                values = given[order.ids] if own else given
                found[name] = renumbered(values, order.places) if holds else values
                continue
            places, values = given
            if holds:
                values = renumbered(values, order.places)
            if self._fields[name].per_vertex:
                places = order.places[places]
            found[name] = dict(zip(places.tolist(), values.tolist(), strict=True))
        return found

    def record(self) -> Record:
        """Return the record of the run, after its answer has been put back."""
        arrays, left = self._inner.collect()
        with thread_settings.limit(self._inner.threads):
            self._answer = {
                name: put_back(array, self._order, self._meaning, name)
                if self._fields[name].per_vertex
                else array
                for name, array in arrays.items()
            }
        self._left = np.sort(self._order.ids[left]).astype(np.int64)
        record = self._inner.record()
        twice = sum(self._answer[name].nbytes for name, array in arrays.items()
                    if self._answer[name] is not array)  # fmt: skip
        record = replace(
            record, bytes=record.bytes + np.array([[0, twice]]), order_bytes=self._order.nbytes
        )
        self._told(record)
        return record

    def collect(self) -> tuple[Mapping[str, Array], NDArray[np.int64]]:
        """Return the arrays of all fields by the ids of the graph, and what is in the frontier."""
        return self._answer, self._left


def put_back(values: Array, order: ByDegree, meaning: Relabelling, name: str) -> Array:
    """Return the values of a field of all vertices by their ids; `values` are used up."""
    if name in meaning.united:
        return _smallest_of_each(values, order)
    hold_vertices = name in meaning.recorded
    answer = answer_array(len(values), values.dtype)
    if values.dtype.names is not None or values.itemsize > 8:
        np.take(values, order.places, out=answer, mode="clip")
        return answer
    size = len(values)
    if hold_vertices:
        in_pieces(lambda first, last: _name(values, order.ids, first, last), size)
    given, found = values.view(f"u{values.itemsize}"), answer.view(f"u{values.itemsize}")
    in_pieces(lambda first, last: _take(given, order.places, first, last, found), size)
    return answer


def _smallest_of_each(roots: Array, order: ByDegree) -> Array:
    """Return for each vertex the smallest id in its set; `roots` has a place for each set."""
    answer = answer_array(len(roots), roots.dtype)
    smallest, places = np.empty(len(roots), roots.dtype), order.places
    size = len(roots)
    in_pieces(lambda first, last: _begin(smallest, first, last), size)
    in_pieces(lambda first, last: _meet(roots, places, first, last, smallest, answer), size)
    in_pieces(lambda first, last: _settle(smallest, first, last, answer), size)
    return answer


class RelabelledRows:
    """Rows of fields, put into the order of degrees, and put back in place."""

    def __init__(
        self, given: Rows, program: Program, order: ByDegree, meaning: Relabelling
    ) -> None:
        self._given, self._order, self._meaning = given, order, meaning
        self._names = [name for name, field in program.fields.items() if field.per_vertex]
        first = []
        for name, begin, values in zip(given.arrays, given.begins, given.first, strict=True):
            if begin == GIVEN and name in self._names:
                self._each_row(name, self._put)
            holds = begin == AT_SOURCE and name in meaning.recorded
            first.append(renumbered(values, order.places) if holds else values)
        self.placed = given._replace(
            sources=order.places[given.sources].astype(np.int64), first=tuple(first)
        )

    def put_back(self) -> None:
        """Put all rows back into the order of ids, in place."""
        for name in self._names:
            self._each_row(name, self._taken)

    def _put(self, name: str, row: Array) -> Array:
        values = row[self._order.ids]
        holds = name in self._meaning.recorded
        return renumbered(values, self._order.places) if holds else values

    def _taken(self, name: str, row: Array) -> Array:
        return put_back(row, self._order, self._meaning, name)

    def _each_row(self, name: str, changed: Callable[[str, Array], Array]) -> None:
        rows = self._given.arrays[name]

        def change(number: int) -> None:
            with thread_settings.limit(1):
                rows[number] = changed(name, rows[number])

        thread_settings.run(change, len(rows))


def renumbered(values: Array, places: Array) -> Array:
    """Return values with the places of vertices in place of their ids; others stay as they are."""
    found = values.copy()
    known = (values >= 0) & (values < len(places))
    found[known] = places[values[known]]
    return found


def in_pieces(task: Callable[[int, int], object], length: int) -> None:
    """Call ``task(first, last)`` on pieces of ``0 .. length``, on several threads where it pays."""
    pieces = thread_settings.ranges(length, GRAIN) if length > GRAIN else [(0, length)]
    thread_settings.run(lambda piece: task(*pieces[piece]), len(pieces))


@kernel
def _name(values, ids, first, last):
    # Before they are put back: here vertices without edges come last, and branches are foreseen.
    for place in range(first, last):
        value = values[place]
        if 0 <= value < len(ids):
            values[place] = ids[np.uint64(value)]


@kernel
def _take(values, places, first, last, answer):
    for vertex in range(first, last):
        answer[vertex] = values[np.uint64(places[vertex])]


@kernel
def _begin(smallest, first, last):
    for place in range(first, last):
        smallest[place] = len(smallest) - 1


@kernel
def _meet(roots, places, first, last, smallest, answer):
    for vertex in range(first, last):
        root = roots[np.uint64(places[vertex])]
        answer[vertex] = root
        if vertex < smallest[np.uint64(root)]:
            atomics.minimum(smallest, np.int64(root), vertex)


@kernel
def _settle(smallest, first, last, answer):
    for vertex in range(first, last):
        answer[vertex] = smallest[np.uint64(answer[vertex])]

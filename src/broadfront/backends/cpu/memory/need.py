"""How much memory a run takes on each device, and may take.

A device's memory is its part of the graph with the layouts that operators make of it, its fields,
what operators work in, queues, and boxes for what it sends. Not in it are what the caller has or
gets (the graph that was split, the answer, the record of iterations) and what building parts and
layouts takes for a while.

What all of that begins with is known from the outlines of parts, before anything is there: the code
that makes it ready is run on a ledger. The queues and boxes of a run come to need no more than
those of a fixed one begin with.

A run that would take too much is refused with what would fit in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.device.growing import ACCOUNT_WORDS, HELD, LIMIT
from broadfront.backends.cpu.device.workspace import Ledger
from broadfront.backends.cpu.lowering.lowered import Portion
from broadfront.backends.cpu.memory.equip import (
    Setting,
    boxes_at_first,
    directions,
    portion_of,
)
from broadfront.backends.cpu.memory.work import work_for
from broadfront.backends.cpu.operators import tiles
from broadfront.devices.profile import FIXED, MINIMAL, MemoryProfile
from broadfront.errors import DeviceMemoryError, OptionError
from broadfront.execution.columns import columns_read
from broadfront.execution.plan import planned
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.partition.outline import Outline
from broadfront.partition.partition import Partition
from broadfront.partition.split import PARTITIONERS, split
from broadfront.residence import guarding

if TYPE_CHECKING:
    from broadfront.backends.cpu.many import One

LEAST_OF_ARCS, LEAST_OF_A_THREAD = 1 << 24, 1 << 23
"""Bytes of arcs in memory that a streamed run has at least, and each of its threads."""
LONG_ROWS = 4
"""A thread may be inside so long a row when it is time to let go, a quarter of what it has."""
MOST_DEVICES = 64
"""So many are tried to find what would fit."""


class Case(NamedTuple):
    """A run as far as its memory goes."""

    program: Program
    """Its dtypes settled."""
    graph: Graph
    starting: int
    """How many vertices it starts from."""
    threads: int
    """Of a device, the most."""
    memory: MemoryProfile
    partition: Partition | None = None
    """None where one device has the graph as it is."""
    relabel: bool = True
    each_alone: bool = False
    """Whether it is one of many from sources of their own, which leave tiles alone."""
    streamed: bool = False
    """Whether what is as large as the arcs comes from files, a little at a time."""

    @property
    def least_of_arcs(self) -> int:
        """The least bytes of arcs in memory of a streamed run: room for the longest row, too."""
        graph, threads = self.graph, max(1, self.threads)
        row = graph.max_degree * sum(array.itemsize for array in graph.arc_arrays)
        return max(LEAST_OF_ARCS, threads * LEAST_OF_A_THREAD) + LONG_ROWS * threads * row

    def bytes_at_first(self, at_most: bool = False) -> list[int]:
        """Return what each device begins with; `at_most` with all that the graph may come to."""
        if self.partition is None:
            return [self._of_graph(at_most)]
        columns = columns_read(self.program, self.graph)
        names = self.program.state_names_with(columns.names)
        _, in_tiles, looks_back = directions(self.program, self.graph, self.relabel)
        setting = Setting(
            self.program, planned(self.program, names, self.relabel), names, self.partition, (),
            np.empty(self.starting, np.bool_), self.memory, False, looks_back, columns,
        )  # fmt: skip
        parts = self.partition.outlines(self.relabel, looks_back)
        return [_of_part(setting, part, self.threads, in_tiles, at_most) for part in parts]

    def _of_graph(self, at_most: bool) -> int:
        """Return what one device begins with that has the graph as it is."""
        program, graph, ledger = self.program, self.graph, Ledger(self.streamed)
        large = not self.each_alone and program.reduces_often and tiles.suit(graph)
        layout, held = None, 0
        if any(operator.in_tiles(large) for operator in program.reduces):
            arcs = graph.num_arcs
            layout = tiles.outlined(graph.num_vertices, arcs, arcs, filled_up=at_most)
            held += 0 if graph.keeps("tiles") or self.streamed else array_bytes(layout)
        portion = Portion.whole(graph, ledger, self.threads, layout)
        work = work_for(program, portion, self.starting, memory=self.memory)
        later = program.pulls_later(large) and not self.each_alone and not at_most
        held += graph_bytes(graph, program.looks_back(large) and not later, self.streamed)
        held += self.least_of_arcs if self.streamed else 0
        held += _field_bytes(program, graph.num_vertices, graph.num_arcs)
        return held + ledger.asked_bytes + int(work.account[HELD])

    def span(self) -> tuple[int, int]:
        """Return what the device that needs most begins with, and can come to need."""
        return max(self.bytes_at_first()), max(self._replace(memory=FIXED).bytes_at_first(True))


def _of_part(setting: Setting, part: Outline, threads: int, in_tiles: bool, at_most: bool) -> int:
    layout = None
    if in_tiles:
        arcs = part.num_arcs, part.num_in_arcs
        layout = tiles.outlined(part.positions, *arcs, filled_up=at_most)
    ledger, account = Ledger(), np.zeros(ACCOUNT_WORDS, np.int64)
    account[HELD] = boxes_at_first(setting, part).sum()
    portion = portion_of(setting, part, ledger, threads, layout)
    starting = min(part.owned, len(setting.queue))
    work_for(setting.program, portion, starting, SimpleNamespace(account=account), setting.memory)
    own = [name for name in setting.program.fields if name not in setting.plan.copies]
    least = part.owned if part.relabelled else part.positions
    fields = _field_bytes(setting.program, part.positions, part.num_arcs, own, least)
    held = part.nbytes + (0 if layout is None else array_bytes(layout))
    held += _column_bytes(setting, part)
    return held + fields + ledger.asked_bytes + int(account[HELD])


def _column_bytes(setting: Setting, part: Outline) -> int:
    """Return the bytes of the columns that a device has of the graph's data."""
    graph, columns = setting.partition.graph, setting.columns
    arcs = part.num_arcs
    if graph.directed and setting.looks_back:
        arcs += part.num_in_arcs
    return sum(graph.edge_data[name].itemsize * arcs for name in columns.edge) + sum(
        graph.vertex_data[name].itemsize * part.positions for name in columns.vertex
    )


def graph_bytes(graph: Graph, looks_back: bool, streamed: bool = False) -> int:
    """Return the bytes of a graph, with incoming arcs that have yet to be built where needed.

    Of one that is streamed these are its vertices.
    """
    if streamed:
        sides = 2 if graph.directed and (looks_back or graph.has_transpose) else 1
        vertices = sum(column.nbytes for column in graph.vertex_data.values())
        return sides * graph.offsets.nbytes + vertices
    missing = looks_back and not graph.has_transpose
    return graph.nbytes + (graph.row_bytes if missing else 0)


def array_bytes(layout: Iterable[Any]) -> int:
    """Return the bytes of the arrays among the members of a layout."""
    return sum(member.nbytes for member in layout if isinstance(member, np.ndarray))


def _field_bytes(program: Program, length: int, arcs: int, own: Any = (), owned: int = 0) -> int:
    """Return the bytes of all fields, those that are in `own` of the vertices owned alone."""
    total = 0
    for name, field in program.fields.items():
        places = field.places(owned if name in own else length, arcs)
        total += places * field.storage.itemsize
    return total


# ---------------------------------------------------------------------- limits


def refuse(case: Case, most: int | None) -> None:
    """Refuse a run in which a device would begin with more than it may, before it has anything."""
    if most is None:
        return
    wanted = case.bytes_at_first()
    device = int(np.argmax(wanted))
    if wanted[device] > most:
        raise _too_large(case, device, wanted[device], most)


def allow(case: Case, account: NDArray[Any], held: int, most: int | None, device: int = 0) -> None:
    """Let what grows take what `memory_limit` leaves beside what a device holds already."""
    if most is None:
        return
    wanted = held + int(account[HELD])
    if wanted > most:
        raise _too_large(case, device, wanted, most)
    account[LIMIT] = max(1, most - held)  # 0 is no limit


def held_by(one: One) -> int:
    """Return the bytes of a device, all but what grows: part, tiles, fields, workspace."""
    fields = sum(array.nbytes for array in one.fields.values())
    return one.part.nbytes + one.extra_bytes + fields + one.space.asked_bytes


def memory_error(
    case: Case, error: DeviceMemoryError, held: int, most: int | None
) -> DeviceMemoryError:
    """Return the error to raise when something could not grow beside what a device holds."""
    wanted = held + error.wanted
    if most is not None and wanted > most:
        return _too_large(case, error.device, wanted, most)
    text = f"cpu:{error.device} could not get {wanted:,} bytes"
    return DeviceMemoryError(text, error.device, wanted)


def _too_large(case: Case, device: int, wanted: int, most: int) -> DeviceMemoryError:
    text = f"cpu:{device} needs {wanted:,} bytes or more, and memory_limit is {most:,}"
    return DeviceMemoryError(f"{text}: {_advice(case, most)}", device, wanted)


# ---------------------------------------------------------------------- what would fit


def _advice(case: Case, most: int) -> str:
    perhaps = ""
    for told, least, all_of_it in _others(case, most):
        if all_of_it <= most:
            return f"{perhaps}{told} fits, with {all_of_it:,} at the most"
        if least <= most and not perhaps:
            perhaps = f"{told} may fit, with {least:,} at first and {all_of_it:,} at the most; "
    return f"{perhaps}nothing is sure to fit, with up to {MOST_DEVICES} devices: allow more"


def _others(case: Case, most: int) -> Iterator[tuple[str, int, int]]:
    """Give other ways to run a case: what to ask for, and what it begins and may end with."""
    if case.partition is None and not case.streamed and guarding():
        saved = "" if case.graph.mapped else "graph.save('graph.bfg') and bf.read('graph.bfg')"
        if saved:
            yield saved, *case._replace(streamed=True).span()
    changes = {}
    if case.memory is not MINIMAL:
        changes["memory='minimal'"] = case._replace(memory=MINIMAL)
    if not case.relabel:
        changes["relabel=True"] = case._replace(relabel=True)
    for told, other in changes.items():
        yield told, *other.span()
    case = case._replace(memory=MINIMAL, relabel=True)
    if len(changes) > 1:
        yield ", ".join(changes), *case.span()
    name = None if case.partition is None else case.partition.name
    by = name if name in PARTITIONERS else None
    asks = f", partitioner={by!r}" if by is not None else ""
    devices = 1 if case.partition is None else case.partition.count
    while devices <= MOST_DEVICES // 2:
        devices *= 2
        if case.graph.targets.nbytes // devices > most:
            continue
        partition = split(case.graph, devices, by)
        try:
            least, all_of_it = case._replace(partition=partition).span()
        except OptionError:  # the program has no meaning on several devices
            return
        yield ", ".join([f"devices={devices}{asks}", *changes]), least, all_of_it

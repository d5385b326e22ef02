"""What every run on several devices has, whether they meet or not: arguments, parts and fields.

Fields are workspace of the devices; `field_io` says how their threads fill them before the loop,
and copy the values of own vertices into the answer after it. Fields with an element per edge, or
of a length of their own, are put together here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from broadfront.backends.contract import Job
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.field_io import FieldIO
from broadfront.backends.cpu.part_fields import field_io_of, part_fields
from broadfront.execution.columns import Columns, columns_read, refuse_columns
from broadfront.execution.edge_fields import EdgeFields
from broadfront.execution.fields import Start, answer_arrays, checked_start, frontier_of
from broadfront.execution.parameters import values_of
from broadfront.execution.plan import Plan
from broadfront.execution.program import Program
from broadfront.execution.refusals import needs_ids
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition

Array = NDArray[Any]


class PartFields(NamedTuple):
    """The fields of all devices, what is done to them, and the answer they are put together in."""

    program: Program
    arrays: list[dict[str, Array]]
    field_io: list[FieldIO]
    answer: dict[str, Array]
    edges: EdgeFields

    def collected(self) -> dict[str, Array]:
        """Return the answer, with what threads do not bring home."""
        self.edges.gather(self.arrays, self.answer)
        for name, whole in self.answer.items():
            if self.program.fields[name].length is not None:
                whole[:] = self.arrays[0][name]
        return self.answer


class SplitRun(NamedTuple):
    """The arguments of a run on the parts of a graph, checked."""

    program: Program
    """Its dtypes settled."""
    partition: Partition
    relabel: bool
    numbers: Sequence[float]
    begins: Start
    queue: Array
    columns: Columns
    names: tuple[str, ...]

    def parts(self, looks_back: bool) -> Sequence[Part]:
        """Return what each device gets of the graph."""
        return self.partition.parts(relabel=self.relabel, looks_back=looks_back)

    def fields(
        self, parts: Sequence[Part], spaces: Sequence[Workspace], plan: Plan, looks_back: bool
    ) -> PartFields:
        """Return the fields of all devices, in their workspaces."""
        program, partition = self.program, self.partition
        arrays = part_fields(program, parts, spaces, plan.copies)
        answer = answer_arrays(program, partition.graph)
        edges = EdgeFields(program, partition, self.relabel, looks_back)
        edges.begin(arrays, self.begins)
        field_io = field_io_of(program, partition, parts, arrays, plan.adding, self.begins, answer)
        return PartFields(program, arrays, field_io, answer, edges)


def split_run(job: Job, partition: Partition) -> SplitRun:
    """Check the arguments of a run on the parts of a graph.

    Without a word on `relabel`, parts keep the ids of the graph where the program uses numbers of
    vertices as values.
    """
    graph, program = partition.graph, job.program
    settled = program.on(graph.targets.dtype)
    relabel = not needs_ids(settled) if job.relabel is None else job.relabel
    numbers = values_of(program, job.parameters)
    begins = checked_start(settled, job.init, graph)
    queue = frontier_of(graph, job.frontier)
    columns = columns_read(program, graph)
    refuse_columns(program, graph, many=True)
    names = program.state_names_with(columns.names)
    return SplitRun(settled, partition, relabel, numbers, begins, queue, columns, names)

"""The arrays of a program's fields on several devices.

Every device has arrays for its own vertices and, where the program asks neighbours, for its copies
of others; they are workspace, and the answer is put together from what the owners hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.field_io import FieldIO, FieldIOBuilder
from broadfront.execution.fields import Places, Start
from broadfront.execution.program import Program
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition

Array = NDArray[Any]


def part_fields(
    program: Program, parts: Sequence[Part], spaces: Sequence[Workspace], copied: Collection[str]
) -> list[dict[str, Array]]:
    """Return arrays for the fields of all devices, a dictionary each; their content is undefined.

    Those in `copied` have room for copies of other devices' vertices, too.
    """
    return [
        _kept_arrays(program, part, space, copied)
        for part, space in zip(parts, spaces, strict=True)
    ]


def _kept_arrays(
    program: Program, part: Part, space: Workspace, copied: Collection[str]
) -> dict[str, Array]:
    arrays = {}
    met: Counter[str] = Counter()
    for name, kind in program.fields.items():
        own = part.relabelled and name not in copied
        length = kind.places(part.owned if own else part.positions, part.num_arcs)
        dtype, label = kind.storage, str(kind.storage)
        arrays[name] = space.kept_array(f"{label} field {met[label]}", length, dtype)[:length]
        met[label] += 1
    return arrays


def field_io_of(
    program: Program,
    partition: Partition,
    parts: Sequence[Part],
    arrays: Sequence[Mapping[str, Array]],
    adding: Collection[str],
    start: Start,
    answer: Mapping[str, Array],
) -> list[FieldIO]:
    """Return what every device does to its fields before and after its loop.

    Copies of a field in `adding` begin empty, for what is added to them goes to their owners.
    """
    field_io = []
    for part, fields in zip(parts, arrays, strict=True):
        builder = FieldIOBuilder()
        for name, array in fields.items():
            kind, given = program.fields[name], start.get(name)
            if kind.per == "edge":  # see `broadfront.execution.edge_fields`
                continue
            if not isinstance(given, np.ndarray):
                own = array[: part.owned] if name in adding and part.ghosts is None else array
                builder.fill(own, kind.filling)
                _set_places(builder, own, partition, part, parts, given, kind.length is None)
            elif kind.length is not None or part.ids is None:
                array[:] = given
            else:
                array[:] = given[part.ids[: len(array)]]
            if name in adding:
                _empty_copies(builder, array, part, kind.held(kind.neutral))
        per_vertex = {name: whole for name, whole in answer.items()
                      if program.fields[name].per_vertex}  # fmt: skip
        field_io.append(builder.close(part, fields, per_vertex))
    return field_io


def _set_places(
    builder: FieldIOBuilder,
    array: Array,
    partition: Partition,
    part: Part,
    parts: Sequence[Part],
    given: Places | None,
    per_vertex: bool,
) -> None:
    """Have single values set: of vertices at their owners and, if they are there, at copies."""
    if given is None:
        return
    places, values = given
    if per_vertex and part.ids is not None:
        places = partition.positions(places, part, parts)
        here = (places >= 0) & (places < len(array))
        places, values = places[here], values[here]
    builder.set_places(array, places, values)


def _empty_copies(builder: FieldIOBuilder, array: Array, part: Part, empty: Any) -> None:
    if part.ghosts is None:
        builder.fill(array[part.owned :], empty)
    else:
        builder.set_places(array, part.ghosts, np.full(len(part.ghosts), empty, array.dtype))

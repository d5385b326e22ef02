"""The arrays of a program's fields: fresh ones on one device, kept ones on several.

On one device the arrays are the answer, so they are new. On several every device has arrays for its
own vertices and, where the program asks neighbours, for its copies of others; they are workspace,
and the answer is put together from what the owners hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront import threads as thread_settings
from broadfront.backends.cpu.device.workspace import Workspace
from broadfront.backends.cpu.luggage import Luggage, Packing
from broadfront.errors import OptionError
from broadfront.execution.program import Program
from broadfront.given import positions
from broadfront.graph.csr import Graph
from broadfront.pages import answer_array
from broadfront.partition.part import Part
from broadfront.partition.partition import Partition
from broadfront.records import held

Array = NDArray[Any]
Unfilled = list[tuple[Array, Any]]
"""Arrays, and what each is to be filled with."""

FILLED_AT_ONCE = 1 << 18


class Places(NamedTuple):
    """Single places of an array, and what is set there."""

    places: NDArray[np.int64]
    values: Array


Start = Mapping[str, Array | Places]
"""What fields begin with that are not only filled, in their dtypes, every place one of theirs."""


def checked_start(program: Program, start: Mapping[str, Any], graph: Graph) -> Start:
    """Return what the fields of a program, its dtypes settled, begin with on a graph.

    Fields that are not there, places that they have not, and values that they cannot hold are
    refused.
    """
    checked: dict[str, Array | Places] = {}
    for name, given in start.items():
        if name not in program.fields:
            raise OptionError(f"init has no field {name!r}; there are {', '.join(program.fields)}")
        field, what = program.fields[name], f"init[{name!r}]"
        length = field.places(graph.num_vertices, graph.num_arcs)
        dtype = field.storage
        if isinstance(given, np.ndarray):
            elements = held(given, dtype, what)
            if elements.shape != (length,):
                shape = (length,) if field.width is None else (length, field.width)
                raise OptionError(f"{what} has shape {given.shape}, not {shape}")
            checked[name] = elements
        elif given is not None:
            pairs = pairs_of(given, what)
            values = held(list(pairs.values()), dtype, what)
            if values.shape != (len(pairs),):
                raise OptionError(f"{what} needs one element for each position")
            checked[name] = Places(positions(list(pairs), length, what), values)
    return checked


def pairs_of(given: Any, what: str) -> dict[Any, Any]:
    """Return pairs of position and value."""
    try:
        return dict(given)
    except (TypeError, ValueError):
        raise OptionError(
            f"{what} is {given!r:.60}: expected an array, or pairs of position and value"
        ) from None


def fresh_fields(program: Program, graph: Graph, start: Start, threads: int) -> dict[str, Array]:
    """Return new arrays for the fields of a program, its dtypes settled, on one device."""
    arrays = {}
    unfilled: Unfilled = []
    for name, field in program.fields.items():
        given = start.get(name)
        if isinstance(given, np.ndarray):
            arrays[name] = np.array(given, order="C")
            continue
        length = field.places(graph.num_vertices, graph.num_arcs)
        arrays[name] = answer_array(length, field.storage)
        unfilled.append((arrays[name], field.held(field.fill)))
    fill(unfilled, threads)
    for name, given in start.items():
        if isinstance(given, Places):
            arrays[name][given.places] = given.values
    return arrays


def fill(unfilled: Unfilled, threads: int) -> None:
    """Fill arrays, large ones by all threads: touching fresh pages is what takes time."""
    pieces = [
        (array[first : first + FILLED_AT_ONCE], value)
        for array, value in unfilled
        for first in range(0, len(array), FILLED_AT_ONCE)
    ]

    def fill_piece(piece: int) -> None:
        array, value = pieces[piece]
        array.fill(value)

    large = sum(len(array) for array, _ in unfilled) > 2 * FILLED_AT_ONCE
    with thread_settings.limit(threads if large else 1):
        thread_settings.run(fill_piece, len(pieces))


# ---------------------------------------------------------------------- several devices


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


def packed(
    program: Program,
    partition: Partition,
    parts: Sequence[Part],
    arrays: Sequence[Mapping[str, Array]],
    adding: Collection[str],
    start: Start,
    answer: Mapping[str, Array],
) -> list[Luggage]:
    """Return what every device does to its fields before and after its loop.

    Copies of a field in `adding` begin empty, for what is added to them goes to their owners.
    """
    luggage = []
    for part, fields in zip(parts, arrays, strict=True):
        packing = Packing()
        for name, array in fields.items():
            kind, given = program.fields[name], start.get(name)
            if kind.per == "edge":  # see `broadfront.execution.edge_fields`
                continue
            if not isinstance(given, np.ndarray):
                own = array[: part.owned] if name in adding and part.ghosts is None else array
                packing.fill(own, kind.held(kind.fill))
                _set_places(packing, own, partition, part, parts, given, kind.length is None)
            elif kind.length is not None or part.ids is None:
                array[:] = given
            else:
                array[:] = given[part.ids[: len(array)]]
            if name in adding:
                _empty_copies(packing, array, part, kind.held(kind.neutral))
        per_vertex = {name: whole for name, whole in answer.items()
                      if program.fields[name].per_vertex}  # fmt: skip
        luggage.append(packing.close(part, fields, per_vertex))
    return luggage


def _set_places(
    packing: Packing,
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
    packing.set_places(array, places, values)


def _empty_copies(packing: Packing, array: Array, part: Part, empty: Any) -> None:
    if part.ghosts is None:
        packing.fill(array[part.owned :], empty)
    else:
        packing.set_places(array, part.ghosts, np.full(len(part.ghosts), empty, array.dtype))


def answer_arrays(program: Program, graph: Graph) -> dict[str, Array]:
    """Return new arrays for an answer."""
    size, arcs = graph.num_vertices, graph.num_arcs
    return {name: answer_array(kind.places(size, arcs), kind.storage)
            for name, kind in program.fields.items()}  # fmt: skip


def answered(program: Program, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays of a program's fields, its dtypes settled, as users declare them."""
    return {name: program.fields[name].answered(array) for name, array in arrays.items()}

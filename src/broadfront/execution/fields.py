"""What the fields of a program begin with, and the arrays that a user gets.

Where one memory holds the whole graph the arrays that a program works on are the answer, so they
are new. Parts of a graph have arrays of their own, which is the matter of a back end.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront import threads as thread_settings
from broadfront.errors import OptionError
from broadfront.execution.ends import increasing
from broadfront.execution.program import Program
from broadfront.given import positions, vertices
from broadfront.graph.csr import Graph
from broadfront.operators.field import Field
from broadfront.operators.monoid import Monoid
from broadfront.pages import answer_array
from broadfront.records import held

Array = NDArray[Any]
Unfilled = list[tuple[Array, Any]]
"""Arrays, and what each is to be filled with."""

FILLED_AT_ONCE = 1 << 18
SOME = 4
"""So many elements of a start are tried out, where they meet by a monoid."""


class Places(NamedTuple):
    """Single places of an array, and what is set there."""

    places: NDArray[np.int64]
    values: Array


Start = Mapping[str, Array | Places]
"""What fields begin with that are not only filled, in their dtypes, every place one of theirs."""


def frontier_of(graph: Graph, starting: ArrayLike) -> NDArray[np.int64]:
    """Return the positions to start from, each once; refuse what is not a vertex."""
    found = vertices(starting, graph.num_vertices, "the frontier")
    if len(found) < 2 or (found[1:] > found[:-1]).all():
        return found
    return increasing(found, graph.num_vertices)


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


def refuse_lawless(program: Program, start: Mapping[str, Any], graph: Graph) -> None:
    """Refuse a program with a monoid that breaks a law for what its field begins with."""
    for name, field in program.on(graph.targets.dtype).fields.items():
        if isinstance(field.combine, Monoid):
            given = {name: start[name]} if name in start else {}
            begins = checked_start(program.on(graph.targets.dtype), given, graph)
            _keep_laws(field.combine, _some_of(field, begins.get(name)))


def _some_of(field: Field, start: Array | Places | None) -> tuple[Any, ...]:
    """Return a few elements, as Python has them, with which a field begins."""
    given = start.values if isinstance(start, Places) else start
    some = [field.held(field.fill).tolist()]
    if given is not None:
        some += given[:: max(1, len(given) // SOME)][:SOME].tolist()
    return tuple(dict.fromkeys(some))


@lru_cache(maxsize=256)
def _keep_laws(monoid: Monoid, elements: tuple[Any, ...]) -> None:
    """Refuse a monoid that breaks a law for some elements."""
    monoid.check(elements)


def pairs_of(given: Any, what: str) -> dict[Any, Any]:
    """Return pairs of position and value."""
    if type(given) is dict:
        return given
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
        unfilled.append((arrays[name], field.filling))
    fill(unfilled, threads)
    for name, given in start.items():
        if isinstance(given, Places):
            arrays[name][given.places] = given.values
    return arrays


def fill(unfilled: Unfilled, threads: int) -> None:
    """Fill arrays, large ones by all threads: touching fresh pages is what takes time."""
    if sum(len(array) for array, _ in unfilled) <= 2 * FILLED_AT_ONCE:
        for array, value in unfilled:
            array.fill(value)
        return
    pieces = [
        (array[first : first + FILLED_AT_ONCE], value)
        for array, value in unfilled
        for first in range(0, len(array), FILLED_AT_ONCE)
    ]

    def fill_piece(piece: int) -> None:
        array, value = pieces[piece]
        array.fill(value)

    with thread_settings.limit(threads):
        thread_settings.run(fill_piece, len(pieces))


def answer_arrays(program: Program, graph: Graph) -> dict[str, Array]:
    """Return new arrays for an answer."""
    size, arcs = graph.num_vertices, graph.num_arcs
    return {name: answer_array(kind.places(size, arcs), kind.storage)
            for name, kind in program.fields.items()}  # fmt: skip


def answered(program: Program, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays of a program's fields, its dtypes settled, as users declare them."""
    return {name: program.fields[name].answered(array) for name, array in arrays.items()}

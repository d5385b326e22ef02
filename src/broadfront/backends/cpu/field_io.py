"""How a device fills its fields before the loop, and copies its results into the answer after it.

Tables say which arrays and places, by address and item size, so that it is one piece of code for
all fields. The threads of the device work through them inside the compiled loop, without going back
to Python. Elements of several numbers are filled and set while the tables are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.backends.cpu.operators.frontier import finish, prepare, share
from broadfront.kernel import inner
from broadfront.partition.part import Part
from broadfront.pointers import at

Array = NDArray[Any]

ADDRESS, LENGTH, ITEM, PATTERN = range(4)
TO = LENGTH
"""Columns of the tables; a field that is brought home has a goal instead of a length."""


class FieldIO(NamedTuple):
    """The tables of one device, each with its number of rows."""

    fills: Array
    """Where an array is, how long, the size of an item, and the bits of what it is filled with."""
    fill_count: int
    places: Array
    """Where a single value is, 1, its size, and its bits."""
    place_count: int
    returns: Array
    """Where values of own vertices are, where they go, and their size."""
    return_count: int
    ids: Array
    """The ids of own vertices in the graph."""
    relabelled: bool
    octet: Array
    pair: Array
    half: Array
    word: Array


class FieldIOBuilder:
    """The tables of a device while they are made."""

    def __init__(self) -> None:
        self._fills: list[tuple[int, int, int, int]] = []
        self._places: list[Array] = []

    def fill(self, array: Array, value: Any) -> None:
        """Have an array filled with a value; arrays that are filled must not overlap."""
        if array.dtype.names is not None:
            array[...] = value
        elif len(array):
            bits = _bits(np.array([value], array.dtype))[0]
            self._fills.append((array.ctypes.data, len(array), array.itemsize, int(bits)))

    def set_places(self, array: Array, places: Array, values: Array) -> None:
        """Have places of an array set, after all has been filled."""
        if array.dtype.names is not None:
            array[places] = values
            return
        table = np.empty((len(places), 4), np.int64)
        table[:, ADDRESS] = array.ctypes.data + places.astype(np.int64) * array.itemsize
        table[:, LENGTH] = 1
        table[:, ITEM] = array.itemsize
        table[:, PATTERN] = _bits(np.ascontiguousarray(values, array.dtype))
        self._places.append(table)

    def close(
        self, part: Part, fields: Mapping[str, Array], answer: Mapping[str, Array]
    ) -> FieldIO:
        """Return the tables; fields with an answer go there in the end."""
        fills = np.array(self._fills, np.int64).reshape(-1, 4)
        places = np.concatenate([np.empty((0, 4), np.int64), *self._places])
        returns = np.array(
            [
                (fields[name].ctypes.data, whole.ctypes.data, whole.itemsize, 0)
                for name, whole in answer.items()
            ],
            np.int64,
        )
        octet, pair, half, word = (np.zeros(1, f"u{size}") for size in (1, 2, 4, 8))
        return FieldIO(
            fills.ravel(), len(fills), places.ravel(), len(places), returns.ravel(), len(returns),
            part.owned_ids, part.relabelled, octet, pair, half, word,
        )  # fmt: skip


def _bits(values: Array) -> Array:
    """Return the bits of values as integers."""
    return values.view(f"u{values.itemsize}").astype(np.uint64).view(np.int64)


@inner
def _fill(table, rows, rank, threads, field_io):
    for number in range(rows):
        row = 4 * number
        address, item, bits = table[row + ADDRESS], table[row + ITEM], table[row + PATTERN]
        first, last = share(table[row + LENGTH], rank, threads)
        if item == 1:
            _fill_with(at(address, field_io.octet), first, last, np.uint8(bits))
        elif item == 2:
            _fill_with(at(address, field_io.pair), first, last, np.uint16(bits))
        elif item == 4:
            _fill_with(at(address, field_io.half), first, last, np.uint32(bits))
        else:
            _fill_with(at(address, field_io.word), first, last, np.uint64(bits))


@inner
def _fill_with(array, first, last, value):
    for place in range(first, last):
        array[place] = value


@inner
def _take(values, whole, field_io, first, last):
    ids = field_io.ids
    if field_io.relabelled:
        for place in range(first, last):
            whole[ids[place]] = values[place]
    else:
        for place in range(first, last):
            whole[ids[place]] = values[ids[place]]


@inner
def _take_words(values, whole, field_io, first, last, words):
    for place in range(first, last):
        vertex = np.int64(field_io.ids[place])
        here = place if field_io.relabelled else vertex
        for word in range(words):
            whole[vertex * words + word] = values[here * words + word]


@inner
def scatter_initial(rank, threads, control, graph, state, in_state, work, front, turn):
    """Fill fields and set single places; the first section of a loop."""
    field_io = work.mail.field_io
    prepare(control, rank, turn)
    _fill(field_io.fills, field_io.fill_count, rank, threads, field_io)
    turn = finish(control, rank, threads, turn)
    if turn < 0:
        return turn
    prepare(control, rank, turn)
    if rank == 0:
        _fill(field_io.places, field_io.place_count, np.int64(0), np.int64(1), field_io)
    return finish(control, rank, threads, turn)


@inner
def gather_results(rank, threads, control, graph, state, in_state, work, front, turn):
    """Copy the values of own vertices into the answer; the last section of a loop."""
    field_io = work.mail.field_io
    first, last = share(graph.owned, rank, threads)
    for number in range(field_io.return_count):
        row = 4 * number
        values, whole = field_io.returns[row + ADDRESS], field_io.returns[row + TO]
        item = field_io.returns[row + ITEM]
        if item == 1:
            _take(at(values, field_io.octet), at(whole, field_io.octet), field_io, first, last)
        elif item == 2:
            _take(at(values, field_io.pair), at(whole, field_io.pair), field_io, first, last)
        elif item == 4:
            _take(at(values, field_io.half), at(whole, field_io.half), field_io, first, last)
        elif item == 8:
            _take(at(values, field_io.word), at(whole, field_io.word), field_io, first, last)
        else:
            _take_words(
                at(values, field_io.word),
                at(whole, field_io.word),
                field_io,
                first,
                last,
                item >> 3,
            )
    return turn

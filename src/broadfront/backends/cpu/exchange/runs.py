"""A run of bytes: what goes from one device to another as one message, with all that is in it.

A run begins with a head: how many entries it has, its form, and one value that all entries may
have. Columns follow, each from a multiple of 8 bytes on. Who receives a run looks nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broadfront.kernel import inlined, inner
from broadfront.pointers import at

HEAD = 32
"""Bytes of the head of a run."""
COUNT, FORM, CONSTANT = range(3)
"""Words of it: entries, form, and a value."""
LARGEST = HEAD - 8 * CONSTANT
"""Bytes of a value that a head has room for; wider ones are never left out."""


@inlined
def padded(nbytes):
    """Return a number of bytes that the next column may begin after."""
    return (nbytes + 7) & ~7


@inlined
def head_of(run, mail):
    """Return the words of a run's head."""
    return at(run, mail.boxes)


@inlined
def constant_of(run, values):
    """Return where a run has the value that all its entries may have, of the kind of `values`."""
    return at(run + 8 * CONSTANT, values)


@inner
def gathered(column, values, places, start, first, last):
    """Put the values at listed places into a column."""
    for entry in range(first, last):
        column[entry] = values[places[start + entry]]


@inner
def scattered(column, values, places, start, first, last):
    """Put a column into the values at listed places."""
    for entry in range(first, last):
        values[places[start + entry]] = column[entry]


def bytes_of(sizes: Sequence[int]) -> Callable[..., Any]:
    """Return the function from a number of entries to the bytes of columns of these item sizes."""
    size, *rest = sizes
    if not rest:

        @inner
        def last(count):
            return padded(count * size)

        return last
    others = bytes_of(rest)

    @inner
    def nbytes(count):
        return padded(count * size) + others(count)

    return nbytes

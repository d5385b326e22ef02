"""Weights from fields of text: whole ones exactly, others as the nearest double.

A kernel reads nearly all; what it calls hard (very long numbers, ``inf``, and what is no number at
all) is matched against the one pattern of a number and left to Python's own `float`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.fields import WEIGHT, unquoted
from broadfront.graph.layout import BAD_WEIGHT, Layout, find_fields, refusal
from broadfront.graph.lines import Lines
from broadfront.graph.numbers import HARD, INTEGER, MINUS, PLUS, integer, powers_of_five, real
from broadfront.kernel import kernel

Array = NDArray[Any]

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf(inity)?", re.I)
LARGEST_EXACT = 2**53
"""Below this a double stands for one integer alone."""


def read_weights(lines: Lines, fields: Array, layout: Layout) -> Array:
    """Return the numbers in `fields`, integers where all are whole."""
    weight = np.empty(len(fields))
    kinds = np.empty(len(fields), np.int8)
    _read(lines.data, fields, weight.view(np.uint64), kinds, powers_of_five())
    for row in np.flatnonzero(kinds == HARD).tolist():
        weight[row] = hard_weight(lines, int(fields[row, 0]), int(fields[row, 1]), layout)
    return settled([lines], weight, bool(np.all(kinds == INTEGER)), layout)


def hard_weight(lines: Lines, begin: int, end: int, layout: Layout) -> float:
    """Return the number in a field that the kernel left over, or refuse it."""
    word = lines.data[slice(*unquoted(lines.data, begin, end))].tobytes()
    if word.lower().lstrip(b"+-") == b"nan":
        raise lines.error("the weight is nan", begin)
    if not NUMBER.fullmatch(word):
        raise refusal(lines, BAD_WEIGHT, begin, layout)
    return float(word)


def settled(batch: list[Lines], weight: Array, whole: bool, layout: Layout) -> Array:
    """Return weights as integers where all are `whole`, read once more where doubles round them."""
    largest = max(weight.max(initial=0), -weight.min(initial=0)) if whole else 0
    if whole and largest < LARGEST_EXACT:
        return weight.astype(np.int32 if largest < 2**31 else np.int64)
    if whole or layout.whole:
        exact = [_exact(lines, layout) for lines in batch]
        if all(part is not None for part in exact):
            return np.concatenate(exact)  # type: ignore[arg-type]
    return weight


def _exact(lines: Lines, layout: Layout) -> Array | None:
    """Return the weights of a piece as 64-bit integers; None where one is none, if that may be."""
    fields = find_fields(lines, layout)[:, WEIGHT]
    exact = np.empty(len(fields), np.int64)
    wrong = _read_integers(lines.data, fields, exact)
    if wrong < 0:
        return exact
    if layout.whole:
        position = int(fields[wrong, 0])
        token = lines.token(position)
        raise lines.error(f"the header promises integers, found {token!r}", position)
    return None


@kernel
def weight_at(data, begin, end, table):
    """Return what kind of number a field holds, and its bits as a double."""
    begin, end = unquoted(data, begin, end)
    kind, bits, after = real(data, begin, end, table)
    if kind <= HARD or after != end:
        return HARD, np.uint64(0)
    return kind, bits


@kernel
def _read(data, fields, bits, kinds, table):
    for row in range(len(fields)):
        kinds[row], bits[row] = weight_at(data, fields[row, 0], fields[row, 1], table)


@kernel
def _read_integers(data, fields, values):
    """Read 64-bit integers; return the first row that holds none, or -1."""
    for row in range(len(fields)):
        begin, end = unquoted(data, fields[row, 0], fields[row, 1])
        signed = begin < end and (data[begin] == MINUS or data[begin] == PLUS)
        value, after = integer(data, begin + 1 if signed else begin, end)
        if value < 0 or after != end:
            return row
        values[row] = -value if signed and data[begin] == MINUS else value
    return -1

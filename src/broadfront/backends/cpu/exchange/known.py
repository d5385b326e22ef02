"""From the id of a vertex in the graph to its local position, if the device knows the vertex.

Where vertices are relabelled, positions are found in a table with open addressing, made anew when
it is needed; at least every other place of it is free, so that a search ends soon. Where ids are
kept, they are the positions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from broadfront import atomics
from broadfront.backends.cpu.operators.frontier import finish, prepare, share
from broadfront.kernel import inlined, inner

MIXER = 0x9E3779B97F4A7C15


class Known(NamedTuple):
    """How positions are found, as compiled functions."""

    ready: Callable[..., Any]
    """The section that makes the table."""
    position: Callable[..., Any]
    """``position(name, lists, state)`` is where the vertex with this id is, or -1."""


@inlined
def _slot(name, lists):
    return np.int64((np.uint64(name) * np.uint64(MIXER)) >> np.uint64(64 - lists.table_bits))


@inner
def _fill(rank, threads, control, graph, state, work, front, turn):
    lists = work.lists
    size = np.int64(1) << lists.table_bits
    prepare(control, rank, turn)
    first, last = share(size, rank, threads)
    for slot in range(first, last):
        lists.table[slot] = 0
    turn = finish(control, rank, threads, turn)
    if turn < 0:
        return turn
    prepare(control, rank, turn)
    first, last = share(graph.num_vertices, rank, threads)
    for position in range(first, last):
        slot = _slot(state.ids[position], lists)
        while not atomics.compare_and_swap(lists.table, slot, 0, position + 1):
            slot = (slot + 1) & (size - 1)
    return finish(control, rank, threads, turn)


@inlined
def _in_table(name, lists, state):
    slot = _slot(name, lists)
    held = np.int64(lists.table[slot])
    while held != 0 and np.int64(state.ids[held - 1]) != np.int64(name):
        slot = (slot + 1) & ((np.int64(1) << lists.table_bits) - 1)
        held = np.int64(lists.table[slot])
    return held - 1


@inner
def _no_table(rank, threads, control, graph, state, work, front, turn):
    return turn


@inlined
def _itself(name, lists, state):
    return np.int64(name)


def known(relabelled: bool) -> Known:
    """Return how positions are found in parts that are relabelled, or keep their ids."""
    return Known(_fill, _in_table) if relabelled else Known(_no_table, _itself)

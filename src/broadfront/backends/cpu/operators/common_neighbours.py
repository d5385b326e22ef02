"""The common neighbours of the two ends of every edge, counted by marks.

A vertex marks its whole row in a map of bytes, and adds up the marks along the rows of those of its
neighbours that have a smaller degree (of equal ones, the smaller id): the longer row of an edge is
marked once for all its edges, and the shorter one is read.

Invariant: all marks are zero between rows, also when a run is stopped. A mark is set neither for
the vertex itself nor for the neighbour whose row is read, so self-loops are not met.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from broadfront.backends.cpu.device.control import NO_MORE, claim, keep_pace_in
from broadfront.backends.cpu.operators.frontier import WORK
from broadfront.backends.cpu.operators.orient import first_from
from broadfront.kernel import inner
from broadfront.pointers import shifted

LOOK_EVERY = 1 << 20
"""Entries after which a thread inside a long row looks whether the run is to stop."""


def common_neighbours(functor: Callable[..., Any]) -> Callable[..., Any]:
    """Return what hands `functor` every edge with the number of common neighbours of its ends."""

    @inner
    def tell_edge(one, other, edge, common, graph, state):
        if one < other:
            functor(one, other, edge, common, state)
        else:
            low, high = np.int64(graph.offsets[other]), np.int64(graph.offsets[other + 1])
            functor(other, one, first_from(graph.targets, low, high, one), common, state)

    @inner
    def row(own, begin, end, graph, marks, rank, control, state, turn):
        """Mark the whole row of `own`, and meet the marks along rows that are not longer."""
        offsets, targets = graph.offsets, graph.targets
        met = np.int64(0)
        looked = np.int64(0)
        rest = np.int64(LOOK_EVERY)
        page = np.int64(0)
        for edge in range(begin, end):
            marks[targets[edge]] = 1
        marks[own] = 0
        for edge in range(begin, end):
            other = np.int64(targets[edge])
            first, last = np.int64(offsets[other]), np.int64(offsets[other + 1])
            if other == own or last - first > end - begin:
                continue
            if last - first == end - begin and other > own:
                continue
            marks[other] = 0
            common = np.int64(0)
            for slot in range(first, last):
                common += np.int64(marks[targets[slot]])
            marks[other] = 1
            tell_edge(own, other, edge, common, graph, state)
            met += common
            looked += last - first
            page = keep_pace_in(control, page, last)
            if looked > rest:
                rest = looked + LOOK_EVERY
                if claim(control, WORK + turn % 3, rank, 0) == NO_MORE:
                    break
        for edge in range(begin, end):
            marks[targets[edge]] = 0
        return met, looked

    @inner
    def visit(begin, end, rank, control, graph, lists, state, turn):
        marks = shifted(lists.marks, rank * graph.num_vertices)
        met = np.int64(0)
        looked = np.int64(0)
        for own in range(begin, end):
            first, last = np.int64(graph.offsets[own]), np.int64(graph.offsets[own + 1])
            more, entries = row(own, first, last, graph, marks, rank, control, state, turn)
            met += more
            looked += entries
        return met, looked

    return visit

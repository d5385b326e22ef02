"""The rows of a part's own vertices, cut into pieces of about equal work, and copied.

A row comes sorted by id. Relabelled it must be sorted by local position, which is by group (those
of its own part first) and by id within a group: so a counting sort by group does it, stable and in
one pass; a short row is sorted by insertion.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront.graph.csr import Graph
from broadfront.kernel import inner, kernel
from broadfront.partition.groups import Groups
from broadfront.partition.members import cut

Array = NDArray[Any]

ARCS_PER_PIECE = 1 << 19
SHORT_ROW = 8  # below, inserting is quicker than counting


class Rows:
    """One direction of the rows of a part: outgoing, or those of the transpose."""

    def __init__(self, graph: Graph, mine: Array) -> None:
        self.graph = graph
        self.mine = mine
        self.starts = np.empty(len(mine) + 1, graph.offsets.dtype)
        """Where the row of each of mine begins, of those alone."""
        self.max_degree = int(_measure(mine, graph.offsets, self.starts))
        self.targets = np.empty(0, graph.targets.dtype)
        self.weights: Array | None = None

    def pieces(self) -> list[tuple[int, int]]:
        """Return ranges of rows with about equally many arcs."""
        goals = [begin for begin, _ in cut(int(self.starts[-1]), ARCS_PER_PIECE)]
        cuts = np.searchsorted(self.starts[:-1], goals).tolist()
        return list(itertools.pairwise(sorted({0, *cuts, len(self.mine)})))

    def mark(self, first: int, last: int, seen: Array) -> None:
        """Set `seen` of all neighbours of a range of rows to 1."""
        _mark(self.mine, self.graph.offsets, self.graph.targets, first, last, seen)

    def allocate(self) -> None:
        """Make room for the copy."""
        weights = self.graph.weights
        self.targets = np.empty(int(self.starts[-1]), self.graph.targets.dtype)
        self.weights = None if weights is None else np.empty(len(self.targets), weights.dtype)

    def copy(self, first: int, last: int, groups: Groups, own: int, local: Array | None) -> None:
        """Copy a range of rows, by `local` from ids to local positions where that is given."""
        given = self.graph.offsets, self.graph.targets, _bits(self.graph.weights)
        goal = self.starts, self.targets, _bits(self.weights)
        if local is None:
            _copy(self.mine, *given, *goal, first, last)
        else:
            _relabel(self.mine, *given, *goal, first, last, *groups, own, local)

    def offsets(self, ghosts: int | None) -> Array:
        """Return where rows begin, with empty ones: for so many ghosts, or all others (None)."""
        if ghosts is not None:
            offsets = np.empty(len(self.starts) + ghosts, self.starts.dtype)
            offsets[: len(self.starts)] = self.starts
            offsets[len(self.starts) :] = self.starts[-1]
            return offsets
        offsets = np.empty(self.graph.num_vertices + 1, self.starts.dtype)
        _spread(self.mine, self.starts, offsets)
        return offsets


def _bits(weights: Array | None) -> Array | None:
    """Return weights as plain words: copying needs one kernel per size, not per kind."""
    return None if weights is None else weights.view(f"u{weights.dtype.itemsize}")


@kernel
def _measure(mine, offsets, starts):
    total = 0
    longest = 0
    starts[0] = 0
    for row in range(len(mine)):
        degree = offsets[mine[row] + 1] - offsets[mine[row]]
        longest = max(longest, degree)
        total += degree
        starts[row + 1] = total
    return longest


@kernel
def _spread(mine, starts, offsets):
    row = 0
    for vertex in range(len(offsets)):
        offsets[vertex] = starts[row]
        if row < len(mine) and mine[row] == vertex:
            row += 1


@kernel
def _mark(mine, offsets, targets, first, last, seen):
    # Several threads may mark one vertex: all of them write the same byte.
    for row in range(first, last):
        vertex = mine[row]
        for arc in range(offsets[vertex], offsets[vertex + 1]):
            seen[np.uint64(targets[arc])] = 1


@kernel
def _copy(mine, offsets, targets, weights, starts, goal, goal_weights, first, last):
    for row in range(first, last):
        slot = starts[row]
        for arc in range(offsets[mine[row]], offsets[mine[row] + 1]):
            goal[slot] = targets[arc]
            if weights is not None:
                goal_weights[slot] = weights[arc]
            slot += 1


@kernel
def _relabel(
    mine, offsets, targets, weights, starts, goal, goal_weights, first, last,
    groups, each, count, own, local,
):  # fmt: skip
    every = count * each
    slots = np.zeros(every, np.int64)
    for row in range(first, last):
        begin = offsets[mine[row]]
        end = offsets[mine[row] + 1]
        if end - begin <= SHORT_ROW or (end - begin) * 8 < every:
            _insert(begin, end, targets, weights, starts[row], goal, goal_weights, local)
            continue
        for arc in range(begin, end):
            slots[groups[np.uint64(targets[arc])]] += 1
        slot = np.int64(starts[row])
        for turn in range(every):
            group = _own_first(turn, own, each)
            slot, slots[group] = slot + slots[group], slot
        for arc in range(begin, end):
            target = np.uint64(targets[arc])  # unsigned: no question whether it counts from the end
            slot = slots[groups[target]]
            slots[groups[target]] = slot + 1
            goal[np.uint64(slot)] = local[target]
            if weights is not None:
                goal_weights[slot] = weights[arc]
        for group in range(every):
            slots[group] = 0


@inner
def _own_first(turn, own, each):
    """Return which group is at some turn: those of the own part first, then the others in order."""
    if turn < each:
        return own * each + turn
    return turn - each if turn < (own + 1) * each else turn


@inner
def _insert(begin, end, targets, weights, start, goal, goal_weights, local):
    for arc in range(begin, end):
        position = local[targets[arc]]
        hole = start + (arc - begin)
        while hole > start and goal[hole - 1] > position:
            goal[hole] = goal[hole - 1]
            if weights is not None:
                goal_weights[hole] = goal_weights[hole - 1]
            hole -= 1
        goal[hole] = position
        if weights is not None:
            goal_weights[hole] = weights[arc]

"""Which execution a run on several devices gets when nobody names one, and why.

Asynchronous is quicker where a search takes many iterations with little in each, and where devices
have little to tell each other. The first is a question to the graph: from a few vertices, how many
are reached in `LEVELS` levels? In a road network, a grid or a path not even `BALL`; in graphs that
are shallow, far more. The second is one to the partition: how many of some arcs does it cut?
Bulk-synchronous it is everywhere else, and where a run asks for what only that has.

Invariant: the choice depends on the graph, the partition, the program and the options alone, so it
is the same in every run; the answer is the same either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from broadfront.devices.choose import Device
from broadfront.errors import OptionError
from broadfront.execution.asynchronous.allowed import asynchronous
from broadfront.execution.asynchronous.settings import Async
from broadfront.execution.asynchronous.step import only_step
from broadfront.execution.program import Program
from broadfront.graph.csr import Graph
from broadfront.partition.partition import Partition

Array = NDArray[Any]

SMALL = 1 << 16
"""A graph of fewer arcs is not looked at: it takes as long to begin a run as to run."""
LEVELS, BALL, PROBES = 32, 1 << 12, 3
SAMPLE, MOST_CUT, MOST_WITH_BUCKETS = 1 << 12, 0.02, 0.002
"""Arcs that are looked at, and the share of them that may lie between devices. It is less where the
program declares a priority: the bulk-synchronous loop has buckets then, and meets seldom."""


class Choice(NamedTuple):
    """How to run, None for bulk-synchronous, and why."""

    how: Async | None
    why: str


def choose_execution(
    program: Program,
    partition: Partition,
    devices: Sequence[Device],
    frontier: ArrayLike,
    init: Mapping[str, Any],
    *,
    limited: bool,
) -> Choice:
    """Return how to run a program on the parts of a graph when nobody says.

    `limited` tells whether the run says what memory it may take.
    """
    graph = partition.graph
    against = _against(graph, devices, limited)
    if against is None:
        try:
            asynchronous(program, graph, frontier, init)
        except OptionError:
            against = "the program needs iterations"
    if against is None and not is_deep(graph):
        against = "the graph is shallow"
    if against is None:
        in_order = only_step(program).advance.priority is not None
        if cut_share(partition) > (MOST_WITH_BUCKETS if in_order else MOST_CUT):
            against = "many edges lie between devices"
    if against is not None:
        return Choice(None, against)
    return Choice(Async(), "the graph is deep and few edges lie between devices")


def _against(graph: Graph, devices: Sequence[Device], limited: bool) -> str | None:
    """Return what speaks against it whatever the program and the partition."""
    if len(devices) == 1:
        return "there is one device"
    if limited:
        return "memory is limited"
    if any(device.threads > 1 for device in devices):
        return "devices have several threads"
    return "the graph is small" if graph.num_arcs < SMALL else None


def is_deep(graph: Graph) -> bool:
    """Tell whether searches take many levels; found out once for a graph."""
    found: tuple[bool] = graph.kept("depth", lambda: (_is_deep(graph),))
    return found[0]


def _is_deep(graph: Graph) -> bool:
    """Search from a few vertices spread over the arcs; all must go on for long with little."""
    places = np.linspace(0, graph.num_arcs - 1, PROBES + 2).astype(np.int64)[1:-1]
    starts = np.searchsorted(graph.offsets, places, "right") - 1
    balls = [_ball(graph, int(start)) for start in starts]
    growing = [size for size, went_on in balls if went_on]
    return bool(growing) and max(growing) < BALL


def _ball(graph: Graph, start: int) -> tuple[int, bool]:
    """Return how many vertices are within `LEVELS` levels or, once it is `BALL`, some of them.

    And whether there are more, beyond: a small component tells nothing.
    """
    offsets, targets = graph.offsets, graph.targets
    seen = np.zeros(graph.num_vertices, np.bool_)
    seen[start] = True
    level, size = np.array([start], np.int64), 1
    for _ in range(LEVELS):
        begins = offsets[level].astype(np.int64)
        counts = offsets[level + 1] - begins
        ends = np.cumsum(counts)
        arcs = np.arange(ends[-1]) + np.repeat(begins - (ends - counts), counts)
        there = np.unique(targets[arcs]).astype(np.int64)
        level = there[~seen[there]]
        seen[level] = True
        size += len(level)
        if len(level) == 0 or size >= BALL:
            break
    return size, len(level) > 0


def cut_share(partition: Partition) -> float:
    """Return the share of the arcs, of some of them, that lie between devices."""
    graph, owner = partition.graph, partition.owner
    arcs = np.linspace(0, graph.num_arcs - 1, SAMPLE).astype(np.int64)
    sources = np.searchsorted(graph.offsets, arcs, "right") - 1
    return float(np.count_nonzero(owner[sources] != owner[graph.targets[arcs]])) / SAMPLE

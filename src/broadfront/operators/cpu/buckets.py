"""The memory of buckets, in which vertices wait in the order of a priority.

Each thread has a ring of buckets, each a list of blocks of vertices from the thread's own pool;
`prioritised` says how they are served.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broadfront.devices.control import LINE
from broadfront.devices.workspace import Workspace
from broadfront.graph.csr import Graph

Array = NDArray[Any]

WINDOW = 64
BLOCK = 128
FUSE = 1024
"""A thread goes on alone in a bucket for about so many vertices."""
POOL_SHARE = 4
"""Entries in all pools for every vertex of the graph, beside `POOL_LEAST` blocks per thread."""
POOL_LEAST = 5 * WINDOW
NONE_LEFT = 1 << 60
WIDTH_FACTOR = 4.0
WIDTH_SAMPLES = 1 << 14
FAR = 2.0**52
"""Buckets beyond this are one."""
FREE_TOP, LOST, NEAREST, AWAY = range(4)
"""Words of a thread: its free blocks, whether it lost a vertex, the lowest bucket parked, and how
many copies of other devices' vertices it has gathered."""


class Buckets(NamedTuple):
    """The memory of the buckets of all threads."""

    pool: Array
    link: Array
    head: Array
    fill: Array
    free: Array
    tops: Array
    units: Array
    walked: Array
    blocks: int
    per_width: float


def new_buckets(
    workspace: Workspace, num_vertices: int, threads: int, dtype: Any, width: float, vertex: Any
) -> Buckets:
    """Return the memory for a run with priorities."""
    blocks = POOL_SHARE * num_vertices // BLOCK // threads + POOL_LEAST
    every = threads * blocks
    return Buckets(
        workspace.array("pool", every * BLOCK, vertex),
        workspace.array("link", every, np.int32),
        workspace.array("head", threads * WINDOW * LINE, np.int64),
        workspace.array("fill", threads * WINDOW * LINE, np.int64),
        workspace.array("free", threads * every, np.int32),
        workspace.array("tops", threads * LINE, np.int64),
        workspace.array("units", every * 2, np.int64),
        workspace.array(f"walked {np.dtype(dtype)}", num_vertices, dtype),
        blocks,
        1.0 / width,
    )


def sensible_width(graph: Graph) -> float:
    """Return a bucket width for priorities that are sums of weights.

    Wide buckets waste work, narrow ones meetings; what matters is the weight of a vertex' lightest
    way on, which is about the mean weight over the mean degree.
    """
    mean = 1.0
    if graph.weights is not None and graph.num_arcs:
        every = max(1, graph.num_arcs // WIDTH_SAMPLES)
        mean = float(np.abs(graph.weights[::every]).mean())
    degree = max(1.0, graph.num_arcs / max(1, graph.num_vertices))
    return max(WIDTH_FACTOR * mean / degree, np.finfo(np.float64).tiny)

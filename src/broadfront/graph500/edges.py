"""The input of the benchmark: a list of edges, and the roots to search from.

The list is what the Kronecker generator draws: in any order, with duplicates and self-loops. Each
tuple has a weight, uniform in [0, 1), where shortest paths are asked for. A root is a vertex with
an edge to another vertex.

Invariant: the list and the roots depend on scale, edge factor and seed alone.

References
----------
Graph500 benchmark specification 3.0, sections 3 (generating the edge list) and 5 (sampling roots).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from broadfront import threads
from broadfront.errors import OptionError
from broadfront.given import count as counted
from broadfront.given import flag, positions, whole
from broadfront.graph.build import NOTHING, Columns
from broadfront.graph.generate.kronecker import draw_kron
from broadfront.graph.generate.random import key, word
from broadfront.graph.generate.registry import NewArray
from broadfront.kernel import kernel

Array = NDArray[Any]

EDGES_PER_PIECE = 1 << 20
WEIGHT_BITS = 24
"""As many as float32 holds exactly: no weight is rounded up to 1."""


@dataclass
class EdgeList:
    """Undirected edges in any order, one tuple each; `weight` is float32 or not there."""

    source: Array
    target: Array
    num_vertices: int
    weight: NDArray[np.float32] | None = None
    drawn: bool = field(default=False, repr=False)
    """Whether the ends are known to be vertices."""

    def __post_init__(self) -> None:
        """Refuse ends that are no vertices: kernels look none of them up."""
        self.num_vertices = whole(self.num_vertices, "num_vertices")
        for name in ("source", "target"):
            ends = getattr(self, name)
            if not isinstance(ends, np.ndarray) or ends.dtype not in (np.int32, np.int64):
                raise OptionError(f"{name}={ends!r:.60}: expected an array of int32 or int64")
            if ends.ndim != 1 or len(ends) != len(self.source):
                raise OptionError(f"{name} has shape {ends.shape}, for {self.source.size} tuples")
            if not self.drawn:
                positions(ends, self.num_vertices, name)
        weight = self.weight
        if weight is not None and (weight.dtype != np.float32 or weight.shape != self.source.shape):
            raise OptionError(f"weight={weight!r:.60}: expected a float32 for each tuple")

    def __len__(self) -> int:
        return len(self.source)

    def taken(self) -> Columns:
        """Return the columns, and keep none of them."""
        columns = Columns(self.source, self.target, self.weight)
        self.source, self.target, self.weight = NOTHING, NOTHING, None
        return columns


def draw_edges(
    scale: int,
    edge_factor: int = 16,
    seed: int = 0,
    weighted: bool = False,
    array: NewArray = np.empty,
) -> EdgeList:
    """Draw the edge list of a scale: ``2 ** scale`` vertices, `edge_factor` tuples for each.

    Its arrays are made by ``array(length, dtype)``.

    Examples
    --------
    >>> len(draw_edges(10))
    16384
    """
    weighted = flag(weighted, "weighted")
    scale, edge_factor = whole(scale, "scale"), whole(edge_factor, "edge_factor")
    seed = whole(seed, "seed")
    drawn = draw_kron(scale, edge_factor, seed, array)
    weight = draw_weights(len(drawn.source), seed, array) if weighted else None
    return EdgeList(drawn.source, drawn.target, drawn.num_vertices, weight, drawn=True)


def draw_weights(count: int, seed: int, array: NewArray = np.empty) -> NDArray[np.float32]:
    """Return `count` random numbers in [0, 1)."""
    weights = array(count, np.float32)
    stream = key(seed, "graph500 weights")
    pieces = threads.ranges(count, EDGES_PER_PIECE)
    threads.run(
        lambda piece: _fill_weights(stream, *pieces[piece], weights), len(pieces), "drawing weights"
    )
    return weights


def draw_roots(edges: EdgeList, count: int = 64, seed: int = 0) -> NDArray[np.int64]:
    """Return distinct vertices that have an edge to another; all of them if there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> draw_roots(EdgeList(np.array([0, 1]), np.array([0, 2]), 4)).tolist()
    [2, 1]
    """
    if not isinstance(edges, EdgeList):
        raise OptionError(f"edges={edges!r:.60}: expected an EdgeList")
    count, seed = counted(count, "count"), whole(seed, "seed")
    connected = np.zeros(edges.num_vertices, np.bool_)
    pieces = threads.ranges(len(edges), EDGES_PER_PIECE)
    threads.run(
        lambda piece: _mark_connected(edges.source, edges.target, *pieces[piece], connected),
        len(pieces), "drawing roots",
    )  # fmt: skip
    candidates = np.flatnonzero(connected)
    chance = np.random.default_rng(int(key(seed, "graph500 roots")))
    return chance.choice(candidates, min(count, len(candidates)), replace=False)


@kernel
def _fill_weights(stream, begin, end, weights):
    for edge in range(begin, end):
        drawn = word(stream, edge) >> np.uint64(64 - WEIGHT_BITS)
        weights[edge] = np.float32(drawn) * np.float32(2.0**-WEIGHT_BITS)


@kernel
def _mark_connected(source, target, begin, end, connected):
    for edge in range(begin, end):
        if source[edge] != target[edge]:
            connected[source[edge]] = True
            connected[target[edge]] = True

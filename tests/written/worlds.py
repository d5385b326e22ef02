"""What a drawn program runs on: a small graph, a frontier, what fields begin with, and devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import broadfront as bf

PARTITIONERS = ("range", "random", "static", "biased", "metis")


@dataclass(frozen=True)
class World:
    """A graph as its edges, and a frontier."""

    size: int
    edges: tuple[tuple[int, int, int], ...]
    directed: bool
    frontier: tuple[int, ...]

    def graph(self) -> bf.Graph:
        ends = np.array(self.edges, np.int64).reshape(-1, 3)
        graph = bf.from_edges(
            ends[:, 0], ends[:, 1], weight=ends[:, 2], num_vertices=self.size,
            directed=self.directed,
        )  # fmt: skip
        return graph.with_edge_data(toll=graph.weights % 3).with_vertex_data(
            rank=np.arange(self.size) % 4
        )

    def text(self) -> str:
        return (
            f"ends = np.array({[list(edge) for edge in self.edges]}, np.int64).reshape(-1, 3)\n"
            "graph = bf.from_edges(\n"
            "    ends[:, 0], ends[:, 1], weight=ends[:, 2], "
            f"num_vertices={self.size}, directed={self.directed},\n)\n"
            "graph = graph.with_edge_data(toll=graph.weights % 3).with_vertex_data(\n"
            f"    rank=np.arange({self.size}) % 4\n)\n"
        )


@st.composite
def worlds(draw: st.DrawFn, most: int = 10) -> World:
    """Any small graph: loops, duplicates, islands and lonely vertices come of themselves."""
    size = draw(st.integers(2, most))
    vertex = st.integers(0, size - 1)
    edge = st.tuples(vertex, vertex, st.integers(1, 6))
    edges = draw(st.lists(edge, min_size=size * draw(st.integers(0, 2)), max_size=3 * most))
    frontier = draw(st.sets(vertex, min_size=0 if draw(st.integers(0, 9)) == 9 else 1))
    return World(size, tuple(edges), draw(st.booleans()), tuple(sorted(frontier)))


@st.composite
def places(draw: st.DrawFn) -> dict[str, Any]:
    """Draw several devices, threads for each, and who gets what."""
    return {
        "devices": draw(st.integers(2, 4)),
        "threads": draw(st.integers(1, 2)),
        "partitioner": draw(st.sampled_from(PARTITIONERS)),
    }

"""All primitives on a few odd graphs: what `test_checking` compares with checks and without.

Run as a program it prints the answers; its arguments are names of primitives.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

import broadfront as bf
from broadfront import routing
from zoo import ZOO

GRAPHS = ("one vertex", "no edges", "loops and duplicates", "islands", "star", "tail isolated")
DEVICES = {
    "bfs": (1, 3), "sssp": (1,), "components": (3,), "pagerank": (1,), "betweenness": (1,),
    "triangles": (1,), "routers": (2,),
}  # fmt: skip
"""On how many devices each runs; ``make checked`` has all of them on many."""


def graph_of(name: str) -> bf.Graph:
    """Return an odd graph as an undirected one with weights."""
    animal = ZOO[name]
    count = len(animal.source)
    return bf.from_edges(
        np.array(animal.source, np.int64), np.array(animal.target, np.int64),
        1.0 + np.arange(count) % 5, animal.num_vertices, directed=False,
    )  # fmt: skip


def _bfs(graph: bf.Graph, **options: Any) -> Any:
    return bf.bfs(graph, 0, **options).depth


def _sssp(graph: bf.Graph, **options: Any) -> Any:
    return bf.sssp(graph, 0, **options).distance


def _components(graph: bf.Graph, **options: Any) -> Any:
    return bf.connected_components(graph, **options).component


def _pagerank(graph: bf.Graph, **options: Any) -> Any:
    return bf.pagerank(graph, tol=1e-10, **options).rank


def _betweenness(graph: bf.Graph, **options: Any) -> Any:
    return bf.betweenness(graph, [0], **options).centrality


def _triangles(graph: bf.Graph, **options: Any) -> Any:
    return [bf.triangles(graph, **options).total]


def _routers(graph: bf.Graph, devices: int) -> Any:
    return routing.connected_components(graph, devices)


PRIMITIVES = {
    "bfs": _bfs, "sssp": _sssp, "components": _components, "pagerank": _pagerank,
    "betweenness": _betweenness, "triangles": _triangles,
    "routers": _routers,
}  # fmt: skip


def answers(primitive: str, alone: bool = False) -> list[list[float]]:
    """Return what a primitive says of every graph on its numbers of devices, or on one for each."""
    return [
        np.asarray(PRIMITIVES[primitive](graph_of(name), devices=devices), np.float64).tolist()
        for name in GRAPHS
        for devices in ([1] * len(DEVICES[primitive]) if alone else DEVICES[primitive])
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: answers(name) for name in sys.argv[1:]}))

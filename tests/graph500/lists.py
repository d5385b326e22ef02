"""Edge lists to test with: those of the zoo, of Hypothesis, and small Kronecker ones."""

from __future__ import annotations

import networkx
import numpy as np

import broadfront as bf
from broadfront.graph500 import EdgeList, draw_edges
from zoo import ZOO, Animal

KRON = draw_edges(10, 8, seed=3)


def list_of(animal: Animal) -> EdgeList:
    """Return the edges of an animal, without direction; without weights each has one of its own."""
    ends = np.array(animal.source, np.int32), np.array(animal.target, np.int32)
    weight = np.linspace(0, 1, len(animal.source), endpoint=False)
    if animal.weight is not None:
        weight = np.array(animal.weight)
    return EdgeList(*ends, animal.num_vertices, weight.astype(np.float32))


def copied(edges: EdgeList) -> EdgeList:
    weight = None if edges.weight is None else edges.weight.copy()
    return EdgeList(edges.source.copy(), edges.target.copy(), edges.num_vertices, weight)


def networkx_of(edges: EdgeList) -> networkx.Graph:
    graph = networkx.Graph()
    graph.add_nodes_from(range(edges.num_vertices))
    graph.add_edges_from(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
    return graph


def graph_of(edges: EdgeList) -> bf.Graph:
    return bf.from_edges(
        edges.source, edges.target, edges.weight, edges.num_vertices, directed=False
    )


def depths(edges: EdgeList, root: int) -> list[int]:
    """Return the depths that NetworkX finds, -1 where unreached."""
    found = networkx.single_source_shortest_path_length(networkx_of(edges), root)
    return [found.get(vertex, -1) for vertex in range(edges.num_vertices)]


LISTS = {name: list_of(animal) for name, animal in ZOO.items() if animal.num_vertices}

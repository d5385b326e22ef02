"""Plain serial answers, written without the library and without arrays: what a run must agree with.

A graph here is a list of its arcs ``(source, target, weight)``, undirected edges both ways.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from typing import NamedTuple


class Arcs(NamedTuple):
    """A graph as lists of neighbours with weights, one for each vertex."""

    out: list[list[tuple[int, float]]]
    directed: bool

    @property
    def count(self) -> int:
        return len(self.out)


def arcs(count: int, edges: list[tuple[int, int, float]], directed: bool) -> Arcs:
    """Return a graph; of several edges between two vertices the lightest stays."""
    best: dict[tuple[int, int], float] = {}
    for source, target, weight in edges:
        ways = [(source, target)] if directed else [(source, target), (target, source)]
        for way in ways:
            best[way] = min(weight, best.get(way, math.inf))
    out: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for (source, target), weight in sorted(best.items()):
        out[source].append((target, weight))
    return Arcs(out, directed)


def depths(graph: Arcs, sources: list[int]) -> list[int]:
    """Return how many arcs lead to each vertex from the nearest source, -1 where none do."""
    found = [-1] * graph.count
    waiting = deque(sources)
    for source in sources:
        found[source] = 0
    while waiting:
        vertex = waiting.popleft()
        for neighbor, _ in graph.out[vertex]:
            if found[neighbor] < 0:
                found[neighbor] = found[vertex] + 1
                waiting.append(neighbor)
    return found


def distances(graph: Arcs, sources: list[int]) -> list[float]:
    """Return the length of a shortest path to each vertex, by Dijkstra's algorithm."""
    found = [math.inf] * graph.count
    heap = [(0.0, source) for source in sources]
    for source in sources:
        found[source] = 0.0
    while heap:
        length, vertex = heapq.heappop(heap)
        if length > found[vertex]:
            continue
        for neighbor, weight in graph.out[vertex]:
            if length + weight < found[neighbor]:
                found[neighbor] = length + weight
                heapq.heappush(heap, (length + weight, neighbor))
    return found


def components(graph: Arcs) -> list[int]:
    """Return the smallest vertex of each one's component, directions aside."""
    near: list[set[int]] = [set() for _ in range(graph.count)]
    for vertex, neighbors in enumerate(graph.out):
        for neighbor, _ in neighbors:
            near[vertex].add(neighbor)
            near[neighbor].add(vertex)
    label = [-1] * graph.count
    for first in range(graph.count):
        waiting = [first] if label[first] < 0 else []
        while waiting:
            vertex = waiting.pop()
            if label[vertex] < 0:
                label[vertex] = first
                waiting += near[vertex]
    return label


def ranks(graph: Arcs, damping: float, rounds: int) -> list[float]:
    """Return PageRank after many rounds; who has no arc out gives to all alike."""
    count = graph.count
    rank = [1.0 / max(1, count)] * count
    for _ in range(rounds):
        lost = sum(rank[vertex] for vertex in range(count) if not graph.out[vertex])
        after = [(1.0 - damping + damping * lost) / count] * count
        for vertex, neighbors in enumerate(graph.out):
            for neighbor, _ in neighbors:
                after[neighbor] += damping * rank[vertex] / len(neighbors)
        rank = after
    return rank


def betweenness(graph: Arcs, sources: list[int]) -> list[float]:
    """Return how many shortest paths from the sources lead through each vertex, by shares."""
    total = [0.0] * graph.count
    for source in sources:
        depth = depths(graph, [source])
        order = sorted((v for v in range(graph.count) if depth[v] >= 0), key=depth.__getitem__)
        paths, share = [0] * graph.count, [0.0] * graph.count
        paths[source] = 1
        for vertex in order:
            for neighbor, _ in graph.out[vertex]:
                if depth[neighbor] == depth[vertex] + 1:
                    paths[neighbor] += paths[vertex]
        for vertex in reversed(order):
            for neighbor, _ in graph.out[vertex]:
                if depth[neighbor] == depth[vertex] + 1:
                    share[vertex] += paths[vertex] / paths[neighbor] * (1.0 + share[neighbor])
            if vertex != source:
                total[vertex] += share[vertex]
    return total


def triangles(graph: Arcs) -> int:
    """Return the number of triangles, directions and loops aside."""
    near: list[set[int]] = [set() for _ in range(graph.count)]
    for vertex, neighbors in enumerate(graph.out):
        for neighbor, _ in neighbors:
            if neighbor != vertex:
                near[vertex].add(neighbor)
                near[neighbor].add(vertex)
    return sum(
        len({third for third in near[first] & near[second] if third > second})
        for first in range(graph.count) for second in near[first] if second > first
    )  # fmt: skip

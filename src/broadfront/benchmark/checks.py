"""Is an answer right? All systems are held to Broadfront's serial verifiers.

An answer equal to one that has been verified is right too, so the dear verifiers run once a graph.
Totals of triangles are compared with a verified count at each vertex. Dependencies weighed by
distance, which one library returns, are computed once more, serially.

References
----------
Geisberger, Sanders, Schultes: Better approximation of betweenness centrality (ALENEX 2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from broadfront.algorithms.triangles import triangles
from broadfront.benchmark.cases import Case
from broadfront.benchmark.systems.system import DAMPING, Array, Question
from broadfront.errors import VerificationError
from broadfront.kernel import kernel
from broadfront.verify import (
    verify_betweenness,
    verify_bfs,
    verify_components,
    verify_pagerank,
    verify_sssp,
    verify_triangles,
)

UNREACHED = np.iinfo(np.int64).max
FARTHEST = 1 << 62
CLOSE = 1e-9


class Checker:
    """Checks the answers about one graph, and remembers right ones."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._right: dict[Any, Any] = {}

    def check(self, primitive: str, question: Question, answer: dict[str, Any]) -> None:
        """Raise `VerificationError` if the answer is wrong."""
        getattr(self, f"_{primitive}")(question, answer)

    def _bfs(self, question: Question, answer: dict[str, Any]) -> None:
        graph, parent = self._case.graph, answer.get("parent")
        if parent is not None:
            parent = np.asarray(parent).astype(graph.targets.dtype)
        depth = answer.get("depth")
        if depth is None:
            assert parent is not None
            depth = depths(parent, question.source)
        depth = np.asarray(depth).astype(np.int32)
        key = "bfs", question.source
        if parent is None and key in self._right and np.array_equal(self._right[key], depth):
            return
        verify_bfs(graph, question.source, depth, parent)
        self._right[key] = depth

    def _sssp(self, question: Question, answer: dict[str, Any]) -> None:
        found = np.asarray(answer["distance"])
        reached = (found >= 0) & (found < FARTHEST)
        distance = np.full(len(found), UNREACHED)
        distance[reached] = found[reached]
        key = "sssp", question.source
        if key in self._right and np.array_equal(self._right[key], distance):
            return
        verify_sssp(self._case.weighted, question.source, distance)
        self._right[key] = distance

    def _components(self, question: Question, answer: dict[str, Any]) -> None:
        _, first, group = np.unique(answer["component"], return_index=True, return_inverse=True)
        component = first[group].astype(self._case.graph.targets.dtype)
        if "components" in self._right and np.array_equal(self._right["components"], component):
            return
        verify_components(self._case.graph, component)
        self._right["components"] = component

    def _pagerank(self, question: Question, answer: dict[str, Any]) -> None:
        change = question.change / DAMPING if answer.get("one_before") else question.change
        verify_pagerank(self._case.graph, answer["rank"], DAMPING, change)

    def _betweenness(self, question: Question, answer: dict[str, Any]) -> None:
        if "weighed" in answer:
            self._weighed(question, np.asarray(answer["weighed"]))
            return
        raw = np.asarray(answer["raw"])
        known = self._right.get("betweenness")
        if known is not None and known.shape == raw.shape and np.allclose(known, raw, CLOSE, CLOSE):
            return
        graph, sources = self._case.graph, list(question.sources)
        seen = np.full(graph.num_vertices, float(len(sources)))
        seen[sources] -= 1
        scale = np.divide((graph.num_vertices - 1) / 2, seen, out=0 * seen, where=seen > 0)
        verify_betweenness(graph, raw * scale, sources, normalized=False)
        self._right["betweenness"] = raw

    def _weighed(self, question: Question, found: Array) -> None:
        if "weighed" not in self._right:
            graph = self._case.graph
            total = np.zeros(graph.num_vertices)
            for source in question.sources:
                _add_weighed(graph.offsets, graph.targets, source, total)
            self._right["weighed"] = total
        expected = self._right["weighed"]
        if found.shape != expected.shape or not np.allclose(found, expected, 1e-8, CLOSE):
            raise VerificationError("dependencies weighed by distance", "differ from a serial run")

    def _triangles(self, question: Question, answer: dict[str, Any]) -> None:
        if "triangles" not in self._right:
            counted = triangles(self._case.graph)
            verify_triangles(self._case.graph, counted.total, counted.per_vertex)
            self._right["triangles"] = counted.total
        if answer["total"] != self._right["triangles"]:
            right = self._right["triangles"]
            raise VerificationError("total", f"{answer['total']:,}, expected {right:,}")


def depths(parent: Array, source: int) -> Array:
    """Return how many parents lead to the source; -1 where they do not."""
    depth = np.full(len(parent), -2, np.int32)
    depth[source] = 0
    _climb(parent, depth)
    return depth


@kernel
def _climb(parent, depth):
    for vertex in range(len(parent)):
        top, steps = vertex, 0
        while depth[top] == -2 and 0 <= parent[top] < len(parent) and steps < len(parent):
            top = parent[top]
            steps += 1
        below = depth[top] if depth[top] != -2 and steps < len(parent) else -1
        place = vertex
        while steps > 0:
            depth[place] = below + steps if below >= 0 else -1
            place = parent[place]
            steps -= 1
        if depth[place] == -2:
            depth[place] = -1


@kernel
def _add_weighed(offsets, targets, source, total):
    size = len(total)
    depth = np.full(size, -1, np.int64)
    paths = np.zeros(size)
    share = np.zeros(size)
    order = np.empty(size, np.int64)
    depth[source], paths[source], order[0], known = 0, 1.0, source, 1
    at = 0
    while at < known:
        tail = order[at]
        at += 1
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = targets[arc]
            if depth[head] < 0:
                depth[head] = depth[tail] + 1
                order[known] = head
                known += 1
            if depth[head] == depth[tail] + 1:
                paths[head] += paths[tail]
    for at in range(known - 1, 0, -1):
        tail = order[at]
        for arc in range(offsets[tail], offsets[tail + 1]):
            head = targets[arc]
            if depth[head] == depth[tail] + 1:
                share[tail] += paths[tail] / paths[head] * (1.0 / depth[head] + share[head])
        total[tail] += depth[tail] * share[tail]

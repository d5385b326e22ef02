"""Every program that runs on many devices, as a function of a graph and where it runs.

A loop compiles for the types that it meets, so graphs come in two kinds only: without weights, and
with weights of float64. Then each problem is compiled once for each way to keep ids, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import broadfront as bf
from k_core import K_CORE
from label_propagation import LABEL_PROPAGATION
from reachability import REACHABILITY
from widest_path import WIDEST_PATH
from zoo import Animal

Columns = dict[str, np.ndarray]


class Problem(NamedTuple):
    """A problem: its answer on a graph, and whether it needs weights and a vertex to start from."""

    solve: Callable[..., Columns]
    weighted: bool = False
    from_a_vertex: bool = False
    exact: bool = True

    def graph(self, animal: Animal, **options: object) -> bf.Graph:
        """Return an animal as the problem needs it."""
        return (with_weights if self.weighted else without_weights)(animal).graph(**options)

    def suits(self, graph: bf.Graph) -> bool:
        return graph.num_vertices > 0 or not self.from_a_vertex


def without_weights(animal: Animal) -> Animal:
    return animal._replace(weight=None)


def with_weights(animal: Animal) -> Animal:
    """Return an animal with positive real weights, its own where it has such."""
    given = animal.weight or [1.0 + 0.5 * (place % 7) for place in range(len(animal.source))]
    return animal._replace(weight=[max(0.25, weight) for weight in given])


def same(problem: Problem, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Assert that two answers are the same: bit by bit, or up to rounding."""
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name].dtype == expected[name].dtype
        if problem.exact:
            np.testing.assert_array_equal(found[name], expected[name], name)
        else:
            np.testing.assert_allclose(found[name], expected[name], 1e-9, 1e-12, err_msg=name)


def _bfs(graph: bf.Graph, **where: Any) -> Columns:
    found = bf.bfs(graph, graph.labels[:1], deterministic=True, **where)
    found.verify()
    return found.columns()


def _sssp(graph: bf.Graph, **where: Any) -> Columns:
    found = bf.sssp(graph, graph.labels[:1], **where)
    found.verify()
    return found.columns()


def _shortest_tree(graph: bf.Graph, **where: Any) -> Columns:
    """Find distances and a tree, of which there may be several: `verify` checks it."""
    found = bf.sssp(graph, graph.labels[:1], parents=True, **where)
    found.verify()
    return {"distance": found.distance}


def _components(graph: bf.Graph, **where: Any) -> Columns:
    found = bf.connected_components(graph, method="min_label", **where)
    found.verify()
    return found.columns()


def _pagerank(graph: bf.Graph, **where: Any) -> Columns:
    found = bf.pagerank(graph, **where)
    found.verify()
    return found.columns()


def _betweenness(graph: bf.Graph, **where: Any) -> Columns:
    found = bf.betweenness(graph, graph.labels[:3], **where)
    found.verify()
    return found.columns()


def _weighted_betweenness(graph: bf.Graph, **where: Any) -> Columns:
    found = bf.betweenness(graph, graph.labels[:3], weighted=True, **where)
    found.verify()
    return found.columns()


def _widest_path(graph: bf.Graph, **where: Any) -> Columns:
    start = {"width": {0: np.inf}}
    return dict(bf.run(WIDEST_PATH, graph, frontier=[0], init=start, **where).fields)


def _reachability(graph: bf.Graph, **where: Any) -> Columns:
    sources = np.arange(min(5, graph.num_vertices))
    start = {"bits": {int(source): np.uint64(1 << int(source)) for source in sources}}
    return dict(bf.run(REACHABILITY, graph, frontier=sources, init=start, **where).fields)


def _k_core(graph: bf.Graph, **where: Any) -> Columns:
    few = np.flatnonzero(graph.degrees < 3)
    start = {"left": graph.degrees}
    answer = bf.run(K_CORE, graph, frontier=few, init=start, parameters={"k": 3}, **where)
    return dict(answer.fields)


def _label_propagation(graph: bf.Graph, **where: Any) -> Columns:
    start = {"label": np.arange(graph.num_vertices)}
    rounds = {"most_rounds": 8}
    return dict(bf.run(LABEL_PROPAGATION, graph, init=start, parameters=rounds, **where).fields)


PROBLEMS = {
    "bfs": Problem(_bfs, from_a_vertex=True),
    "components": Problem(_components),
    "pagerank": Problem(_pagerank, exact=False),
    "betweenness": Problem(_betweenness, exact=False),
    "reachability": Problem(_reachability),
    "k-core": Problem(_k_core),
    "label propagation": Problem(_label_propagation),
    "sssp": Problem(_sssp, weighted=True, from_a_vertex=True),
    "shortest tree": Problem(_shortest_tree, weighted=True, from_a_vertex=True),
    "widest path": Problem(_widest_path, weighted=True, from_a_vertex=True),
    "weighted betweenness": Problem(_weighted_betweenness, weighted=True, exact=False),
}
ALIKE = {"label propagation", "reachability", "widest path", "weighted betweenness"}
"""Made of the same operators as others: one way to keep ids is enough, with new ones."""

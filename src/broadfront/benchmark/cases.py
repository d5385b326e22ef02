"""What is asked: a graph by name, its sources, and the tolerance that 20 iterations reach.

Every graph is taken undirected, without self-loops and without names of its own, so that all
systems can have it alike; shortest paths run on integer weights 1..63, the same in both directions.

Invariant: sources depend on the graph and on the seed alone, and none is isolated.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from broadfront.algorithms.pagerank import pagerank
from broadfront.benchmark.systems.system import DAMPING, ITERATIONS, Question
from broadfront.clock import Clock
from broadfront.errors import OptionError
from broadfront.graph.csr import Graph
from broadfront.graph.edges import from_edges
from broadfront.graph.generate import is_spec
from broadfront.graph.generate.weights import random_weights
from broadfront.graph.read import read

DEFAULT_GRAPHS = ("kron:16", "kron:18", "kron:20", "uniform:20", "grid:1000x1000", "rgg:18")
WEIGHTS = (1, 63)
BETWEENNESS_SOURCES = 4
LEAST_CHANGE = 1e-12
ROUNDING = 1 + 1e-6


@dataclass(frozen=True)
class Case:
    """A graph and what is asked of it.

    Attributes
    ----------
    name, family
        The text that names the graph, and its generator; a file is a family of its own.
    graph, weighted
        Without and with weights.
    questions
        One for each repeat; they differ in the source.
    seconds, compile_seconds
        How long it took to read or generate, as given.
    """

    name: str
    family: str
    graph: Graph
    weighted: Graph
    questions: tuple[Question, ...]
    seconds: float
    compile_seconds: float


def load(name: str, repeats: int, seed: int) -> Case:
    """Read or generate a graph, and draw its sources."""
    clock = Clock()
    given = read(name)
    seconds, compiling = clock.seconds, clock.compile_seconds
    graph = plain(given)
    if graph.num_arcs == 0:
        raise OptionError(f"--graphs {name}: a graph without edges has nothing to search")
    random = np.random.default_rng(seed)
    candidates = np.flatnonzero(graph.degrees)
    starts = random.choice(candidates, repeats, replace=repeats > len(candidates)).tolist()
    few = min(BETWEENNESS_SOURCES, len(candidates))
    sources = tuple(sorted(random.choice(candidates, few, replace=False).tolist()))
    change = last_change(graph)
    questions = tuple(Question(start, sources, change) for start in starts)
    generated = not os.path.exists(name) and is_spec(name)
    family = name.partition(":")[0] if generated else name
    return Case(
        name, family, graph, random_weights(graph, *WEIGHTS), questions, seconds, compiling
    )  # fmt: skip


def plain(graph: Graph) -> Graph:
    """Return the undirected simple view, without weights and labels."""
    if graph.directed or graph.num_self_loops:
        return from_edges(
            graph.sources(), graph.targets, num_vertices=graph.num_vertices, directed=False,
            simple=True,
        )  # fmt: skip
    return Graph(graph.offsets, graph.targets, None, directed=False, self_loops=0)


def last_change(graph: Graph) -> float:
    """Return the L1 change of the 20th iteration of PageRank, and a little more."""
    before, after = (
        pagerank(graph, DAMPING, tol=0.0, max_iterations=count).rank
        for count in (ITERATIONS - 1, ITERATIONS)
    )
    return max(LEAST_CHANGE, float(np.abs(after - before).sum()) * ROUNDING)

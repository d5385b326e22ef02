"""A graph under study: taken undirected and simple, its sources, and its splits.

Sources are drawn from the component with most edges, so that all of them reach the same edges, and
edges per second are those of that component over time, as the paper counts them.

Invariant: sources depend on the graph and on the seed alone.
"""

from __future__ import annotations

from functools import cached_property
from statistics import median
from time import perf_counter

import numpy as np

from broadfront.algorithms.components import connected_components
from broadfront.benchmark.cases import BETWEENNESS_SOURCES, WEIGHTS, plain
from broadfront.benchmark.systems.system import ITERATIONS, Question
from broadfront.errors import OptionError
from broadfront.graph.csr import Graph
from broadfront.graph.generate.weights import random_weights
from broadfront.graph.read import read
from broadfront.partition.partition import Partition
from broadfront.partition.split import made
from broadfront.partition.wish import wish
from broadfront.scaling.families import Choice

SPLITTING_SECONDS = 1.0
"""A split that takes no longer is made several times, and its time is the median."""


class Case:
    """A graph and what is asked of it; `questions` differ in the source, one for each repeat."""

    def __init__(self, choice: Choice, repeats: int, seed: int) -> None:
        self.family, self.name = choice.family, choice.title
        self.graph = plain(read(choice.graph))
        if self.graph.num_arcs == 0:
            raise OptionError(f"--graphs {choice.graph}: a graph without edges has nothing to run")
        component = connected_components(self.graph).component
        arcs = np.bincount(component, self.graph.degrees)
        members = np.flatnonzero(component == arcs.argmax())
        self.reached = int(arcs.max()) // 2
        random = np.random.default_rng(seed)
        few = min(BETWEENNESS_SOURCES, len(members))
        sources = tuple(sorted(random.choice(members, few, replace=False).tolist()))
        starts = random.choice(members, repeats, replace=repeats > len(members)).tolist()
        self.questions = tuple(Question(start, sources, 0.0) for start in starts)
        self._repeats = repeats
        self._owners: dict[tuple[str, int], Partition] = {}

    @cached_property
    def weighted(self) -> Graph:
        """The graph with integer weights, the same in both directions."""
        return random_weights(self.graph, *WEIGHTS)

    def form(self, primitive: str) -> Graph:
        """Return the graph that a primitive works on."""
        return self.weighted if primitive == "sssp" else self.graph

    def edges(self, primitive: str) -> int:
        """Return the edges that a run must see at least once, over all its sources and rounds."""
        everything = self.graph.num_edges
        return {
            "components": everything,
            "pagerank": everything * ITERATIONS,
            "betweenness": self.reached * len(self.questions[0].sources),
        }.get(primitive, self.reached)

    def split(self, partitioner: str, count: int, primitive: str) -> Partition:
        """Return a split without parts built; owners are decided once, its seconds are a median."""
        key = partitioner, count
        if key not in self._owners:
            wanted = wish(count)
            began, tries = perf_counter(), [made(self.graph, partitioner, wanted)]
            while len(tries) < self._repeats and perf_counter() - began < SPLITTING_SECONDS:
                tries.append(made(self.graph, partitioner, wanted))
            first = tries[0]
            first.seconds = median(one.seconds for one in tries)
            self._owners[key] = first
        kept = self._owners[key]
        return Partition(self.form(primitive), kept.owner, count, partitioner, kept.seconds)
